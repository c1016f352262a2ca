"""Training in processes of their own: begun, asked to stop, and what became of them.

A process is asked with SIGTERM, which `plainzero train` answers by saving and ending; asked again, it
goes on doing so. What killing one loses: docs/training.md. None outlives this
process: each hangs on a pipe that ends with it (leashed.py).
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plainzero.games.contract import Game
from plainzero.server.api.schemas.runs import RunState

if TYPE_CHECKING:
    from plainzero.training.settings import RunConfig
    from plainzero.training.run_folder import RunFolder

NICENESS = 10
"""Of training, unless told otherwise; searches that somebody waits for come first.

It has all cores all the same: on two, beside other work, a search of 0.40 s took 0.44 s (nine in
ten were done in 0.56 s); with training in one thread 0.47 s (0.72 s), and not nice, in either
number of threads, 0.48 s (1.0 s).
"""

MOST_WEIGHTS = 100_000_000
"""Of a network that the page may ask for: four times as many bytes, and training needs several."""

CLOSING_SECONDS = 30.0
"""How long `close` waits until what was done is saved."""

_GOOD_CODES = (0, 130, 143, -signal.SIGINT, -signal.SIGTERM)
_TAIL = 8192  # bytes of the log in which to look for the last line


def plan_training(
    game: Game, minutes: float, settings: Iterable[str]
) -> tuple["RunConfig", list[str]]:
    """A new run's config, and the settings that `plainzero train` makes it from.

    Raises:
        ValueError: for settings that there are not, or that make no sense for the game.
    """
    from plainzero.training.settings import measure_engine, resolve_run
    from plainzero.training.gpu.defaults import device_of_settings, new_config

    chosen = [f"run.minutes={minutes}", *settings]
    device = device_of_settings(chosen, game)
    config = new_config(game, device, chosen)
    if config.run.minutes != minutes:
        raise ValueError(
            f"run.minutes is {config.run.minutes:g} among the settings, but the run is to have "
            f"{minutes:g} minutes; give them in one place"
        )
    _check_size(game, config)
    config = resolve_run(config, game, device)
    if config.run.engine != "auto":
        measure_engine(config, game, device)  # only checks the engine
    return config, chosen


def _check_size(game: Game, config: "RunConfig") -> None:
    """Refuses a network that would fill the memory, without making it."""
    import torch

    from plainzero.networks.architectures import Network
    from plainzero.networks.config import resolve_network

    with torch.device("meta"):
        network = Network(game, resolve_network(config.network, game))
    weights = sum(weight.numel() for weight in network.parameters())
    if weights > MOST_WEIGHTS:
        raise ValueError(
            f"the network would have {weights:,} weights; {MOST_WEIGHTS:,} are the most for a run "
            "that is begun on the page: set fewer network.blocks, or network.channels or width"
        )


@dataclass
class Training:
    """A process that this server has started."""

    process: "subprocess.Popen[bytes]"
    log: Path
    log_start: int  # bytes of the log that were there before
    arguments: list[str]
    game: str
    config: "RunConfig | None"  # of a run that it begins
    is_stopping: bool = False

    def is_alive(self) -> bool:
        """Whether it still runs."""
        if self.process.poll() is None:
            return True
        self.drop_leash()
        return False

    def drop_leash(self) -> None:
        """Closes the pipe on which the process hangs, so that it ends if it has not yet."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def fault(self) -> str:
        """Why it ended other than by itself or by being stopped; nothing where it did not."""
        code = self.process.poll()
        if code is None or code in _GOOD_CODES:
            return ""
        if code < 0:
            return f"the training process was ended by {signal.Signals(-code).name}; resume it"
        return self._last_line() or f"the training process ended with exit code {code}"

    def _last_line(self) -> str:
        try:
            with open(self.log, "rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self.log_start, end - _TAIL))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        words = [line.strip() for line in lines if line.strip()]
        return words[-1].removeprefix("plainzero: ") if words else ""


class Trainings:
    """The processes by folder; safe for threads."""

    def __init__(self, niceness: int = NICENESS) -> None:
        """None yet; they will let others go first by so much."""
        self._niceness = niceness
        self._lock = threading.RLock()
        self._by_path: dict[Path, Training] = {}
        self._asked: dict[Path, int] = {}  # processes of others that were asked to stop
        self._is_closed = False

    def paths(self) -> list[Path]:
        """The folders in which a process of ours has worked."""
        with self._lock:
            return list(self._by_path)

    def is_any_alive(self) -> bool:
        """Whether a process of ours is at work."""
        with self._lock:
            return any(training.process.poll() is None for training in self._by_path.values())

    def find(self, path: Path) -> Training | None:
        """The latest process of ours in that folder."""
        with self._lock:
            return self._by_path.get(path)

    def start(
        self, path: Path, arguments: list[str], game: str, config: "RunConfig | None"
    ) -> None:
        """Runs `plainzero train` with those arguments.

        Raises:
            ValueError: when that cannot be done.
        """
        log = path / "train.log"
        command = [sys.executable, "-m", "plainzero.server.runs.exit_with_parent", "train", *arguments]
        with self._lock:
            if self._is_closed:
                raise ValueError("the server is shutting down; nothing is started any more")
            try:
                path.mkdir(parents=True, exist_ok=True)
                with open(log, "ab") as file:
                    process = subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE,  # its leash; nothing is ever written
                        stdout=file,
                        stderr=subprocess.STDOUT,
                        cwd=path,  # elsewhere, a folder may be called like the game
                        env=_environment(),
                        start_new_session=True,  # Ctrl-C in the server's terminal is not for it
                    )
                    log_start = file.tell()
            except OSError as error:
                raise ValueError(f"training cannot be started: {error.strerror}") from error
            _be_nice(process.pid, self._niceness)
            self._asked.pop(path, None)
            self._by_path[path] = Training(process, log, log_start, arguments, game, config)

    def stop(self, folder: "RunFolder", name: str) -> None:
        """Asks the process that trains there to save and to end.

        Raises:
            ValueError: when it cannot be reached.
        """
        with self._lock:
            training = self._by_path.get(folder.path)
            if training is not None and training.is_alive():
                training.is_stopping = True
                training.process.terminate()
                return
            holder = folder.holder()
            if holder is None or holder == os.getpid():
                raise ValueError(
                    f"{name} is in use by a process that cannot be stopped from here; stop it "
                    "where it was started"
                )
            os.kill(holder, signal.SIGTERM)
            self._asked[folder.path] = holder

    def state(self, folder: "RunFolder") -> tuple[RunState | None, str]:
        """What processes say of a run, and why it failed; None where only its files can tell."""
        with self._lock:
            training = self._by_path.get(folder.path)
            if training is not None and training.is_alive():
                if training.is_stopping:
                    return "stopping", ""
                has_begun = folder.exists() and folder.last_process() == training.process.pid
                return ("running" if has_begun else "starting"), ""
            if folder.is_locked():
                self._by_path.pop(folder.path, None)  # somebody else has gone on with it
                is_asked = self._asked.get(folder.path) == folder.last_process()
                return ("stopping" if is_asked else "running"), ""
            if training is None:
                return None, ""
            if fault := training.fault():
                return "failed", fault
            return ("finished" if training.process.returncode == 0 else None), ""

    def close(self, seconds: float = CLOSING_SECONDS) -> None:
        """Asks all to stop, waits so long at most, and kills those that are left."""
        with self._lock:
            self._is_closed = True
            trainings = list(self._by_path.values())
            for training in trainings:
                training.is_stopping = True
                training.process.terminate()
        deadline = time.monotonic() + seconds
        for training in trainings:
            try:
                training.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                training.process.kill()
                training.process.wait()
            training.drop_leash()


def _environment() -> dict[str, str]:
    """Ours, for another working folder; unbuffered, so that the log's last line is the last."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if places := environment.get("PYTHONPATH"):
        absolute = map(os.path.abspath, places.split(os.pathsep))
        environment["PYTHONPATH"] = os.pathsep.join(absolute)
    return environment


def _be_nice(process: int, niceness: int) -> None:
    """Lets others go first; before the process has threads, which inherit it.

    Where the kernel shares time among sessions first, the session has a niceness of its own.
    """
    try:
        inherited = os.getpriority(os.PRIO_PROCESS, process)
        os.setpriority(os.PRIO_PROCESS, process, max(inherited, niceness))
        Path(f"/proc/{process}/autogroup").write_text(str(niceness))
    except OSError:  # it has ended already, the kernel groups nothing, or that is not allowed
        pass
