"""Training in separate processes: starting and stopping them, and how they ended.

SIGTERM asks `plainzero train` to save and exit; sending it again changes nothing. docs/training.md
says what killing a process loses. None outlives this process: see exit_with_parent.py.
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
from plainzero.operating_system import lower_priority, own_group
from plainzero.server.api.schemas.runs import RunState

if TYPE_CHECKING:
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.settings import RunConfig

MAX_WEIGHTS = 100_000_000
"""The largest network for runs started by clients; training needs several times 4 bytes each."""

CLOSING_SECONDS = 30.0
"""How long `close` waits for runs to save."""

_GOOD_CODES = (0, 130, 143, -signal.SIGINT, -signal.SIGTERM)
_TAIL = 8192  # bytes at the end of the log that are searched for its last line


def configure_run(
    game: Game, minutes: float, settings: Iterable[str]
) -> tuple["RunConfig", list[str]]:
    """A new run's config, and the settings from which `plainzero train` makes it.

    Raises:
        ValueError: if a setting is unknown or invalid for the game.
    """
    from plainzero.training.choose_device import device_of_settings, new_config
    from plainzero.training.settings import measure_backend, resolve_run

    chosen = [f"run.minutes={minutes}", *settings]
    device = device_of_settings(chosen, game)
    config = new_config(game, device, chosen)
    if config.run.minutes != minutes:
        raise ValueError(
            f"the settings have run.minutes={config.run.minutes:g}, but minutes is {minutes:g}; "
            "set only one of them"
        )
    _check_size(game, config)
    config = resolve_run(config, game, device)
    if config.run.backend != "auto":
        measure_backend(config, game, device)  # only checks the backend
    return config, chosen


def _check_size(game: Game, config: "RunConfig") -> None:
    """Refuses a network that is too large, without allocating it."""
    import torch

    from plainzero.networks.architectures import Network
    from plainzero.networks.config import resolve_network

    with torch.device("meta"):
        network = Network(game, resolve_network(config.network, game))
    weights = sum(weight.numel() for weight in network.parameters())
    if weights > MAX_WEIGHTS:
        raise ValueError(
            f"the network would have {weights:,} weights; the limit for runs started here is "
            f"{MAX_WEIGHTS:,}: set smaller network.blocks, network.channels or network.width"
        )


@dataclass
class TrainingProcess:
    """A training process started by this server."""

    process: "subprocess.Popen[bytes]"
    log: Path
    log_start: int  # length of the log before the process started
    arguments: list[str]
    game: str
    config: "RunConfig | None"  # of a new run
    is_stopping: bool = False

    def is_alive(self) -> bool:
        """Whether it is still running."""
        if self.process.poll() is None:
            return True
        self.close_pipe()
        return False

    def ask_to_stop(self) -> None:
        """Asks it to save and exit."""
        self.is_stopping = True
        if sys.platform == "win32":  # where terminating would kill it before it saves
            self.close_pipe()
        else:
            self.process.terminate()

    def close_pipe(self) -> None:
        """Closes the pipe to the process, which then exits if it has not yet."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def error(self) -> str:
        """Why it failed; empty if it did not."""
        code = self.process.poll()
        if code is None or code in _GOOD_CODES:
            return ""
        if code < 0:
            return f"the training process was killed by {signal.Signals(-code).name}; resume it"
        return self._last_line() or f"the training process failed with exit code {code}"

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


class TrainingProcesses:
    """Training processes by run folder. Thread-safe."""

    def __init__(self, niceness: int) -> None:
        """No processes yet; each will have that niceness, 0 to 19."""
        self._niceness = niceness
        self._lock = threading.RLock()
        self._by_path: dict[Path, TrainingProcess] = {}
        self._asked: dict[Path, int] = {}  # processes of other parents that were asked to stop
        self._is_closed = False

    def paths(self) -> list[Path]:
        """The folders of all processes started here."""
        with self._lock:
            return list(self._by_path)

    def is_any_alive(self) -> bool:
        """Whether a process started here is running."""
        with self._lock:
            return any(training.process.poll() is None for training in self._by_path.values())

    def find(self, path: Path) -> TrainingProcess | None:
        """The latest process started here for that folder."""
        with self._lock:
            return self._by_path.get(path)

    def start(
        self, path: Path, arguments: list[str], game: str, config: "RunConfig | None"
    ) -> None:
        """Runs `plainzero train` with those arguments.

        Raises:
            ValueError: if the process cannot be started.
        """
        log = path / "train.log"
        program = ["-m", "plainzero.server.runs.exit_with_parent", "train"]
        command = [sys.executable, *program, *arguments]
        with self._lock:
            if self._is_closed:
                raise ValueError("the server is shutting down and starts no more runs")
            try:
                path.mkdir(parents=True, exist_ok=True)
                with open(log, "ab") as file:
                    process = subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE,  # nothing is ever written: see exit_with_parent.py
                        stdout=file,
                        stderr=subprocess.STDOUT,
                        cwd=path,  # elsewhere, a folder might have the name of the game
                        env=_environment(),
                        **own_group(),  # so that Ctrl-C reaches the server only
                    )
                    log_start = file.tell()
            except OSError as error:
                raise ValueError(f"cannot start training: {error.strerror}") from error
            lower_priority(process.pid, self._niceness)
            self._asked.pop(path, None)
            self._by_path[path] = TrainingProcess(process, log, log_start, arguments, game, config)

    def stop(self, folder: "RunFolder", name: str) -> None:
        """Asks the process that trains there to save and exit.

        Raises:
            ValueError: if it cannot be reached.
        """
        with self._lock:
            training = self._by_path.get(folder.path)
            if training is not None and training.is_alive():
                training.ask_to_stop()
                return
            # On Windows, SIGTERM would kill it before it saves.
            holder = folder.holder() if sys.platform != "win32" else None
            if holder is None or holder == os.getpid():
                raise ValueError(
                    f"{name} is in use by a process that this server cannot stop; stop it where it "
                    "was started"
                )
            os.kill(holder, signal.SIGTERM)
            self._asked[folder.path] = holder

    def state(self, folder: "RunFolder") -> tuple[RunState | None, str]:
        """A run's state by its processes, and why it failed; None if only its files can tell."""
        with self._lock:
            training = self._by_path.get(folder.path)
            if training is not None and training.is_alive():
                if training.is_stopping:
                    return "stopping", ""
                has_begun = folder.exists() and folder.last_process() == training.process.pid
                return ("running" if has_begun else "starting"), ""
            if folder.is_locked():
                self._by_path.pop(folder.path, None)  # another process has resumed it
                is_asked = self._asked.get(folder.path) == folder.last_process()
                return ("stopping" if is_asked else "running"), ""
            if training is None:
                return None, ""
            if error := training.error():
                return "failed", error
            return ("finished" if training.process.returncode == 0 else None), ""

    def close(self, seconds: float = CLOSING_SECONDS) -> list[Path]:
        """Asks all processes to stop, waits up to `seconds`, and kills the rest.

        Returns:
            The folders of those that were running.
        """
        with self._lock:
            self._is_closed = True
            trainings = list(self._by_path.values())
            running = [path for path, training in self._by_path.items() if training.is_alive()]
            for training in trainings:
                training.ask_to_stop()
        deadline = time.monotonic() + seconds
        for training in trainings:
            try:
                training.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                training.process.kill()
                training.process.wait()
            training.close_pipe()
        return running


def _environment() -> dict[str, str]:
    """This process's environment for another working folder, with an unbuffered log."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if places := environment.get("PYTHONPATH"):
        absolute = map(os.path.abspath, places.split(os.pathsep))
        environment["PYTHONPATH"] = os.pathsep.join(absolute)
    return environment
