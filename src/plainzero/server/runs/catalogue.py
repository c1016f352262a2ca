"""All runs by name: reading, starting, stopping and resuming them."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from plainzero.games.contract import Game
from plainzero.games.registry import GameSpec
from plainzero.games.registry import make_game as make_any_game
from plainzero.server.api.schemas.runs import (
    GameList,
    Generation,
    RecordedGame,
    ResumeRun,
    RunDetails,
    RunInfo,
    RunState,
    StartRun,
)
from plainzero.server.runs.names import allowed_name, check_name, free_name, is_used
from plainzero.server.runs.processes import TrainingProcesses, configure_run
from plainzero.server.runs.reader import RunReader
from plainzero.server.runs.run_info import check_has_time, describe_run, describe_settings
from plainzero.server.runs.selfplay_games import RecordedGames
from plainzero.server.runs.trusted_game_files import TrustedGameFiles

if TYPE_CHECKING:
    from plainzero.training.saved_run import SavedRun

_BUSY: tuple[RunState, ...] = ("starting", "running", "stopping")


class UnknownRun(ValueError):
    """There is no run of that name."""


class AlreadyTraining(ValueError):
    """No more runs can be trained at the same time."""


class Runs:
    """The catalogue of runs. Thread-safe.

    Args:
        folders: run folders, or folders that contain some.
        home: where new runs are created; its runs are listed too. It need not exist.
        can_train: whether runs may be started, stopped and resumed.
        make_game: makes a game from its name in a request.
        spec_of: the name of such a game on the command line.
        name_of: the catalogue's name of a game named in a run's config.toml.
        max_trainings: the number of runs that may train at the same time.
        niceness: of training processes, 0 to 19. They still use all cores. On two cores beside
            other work, a 0.40 s search took 0.44 s with niceness 10 (90th percentile 0.56 s), and
            0.48 s with niceness 0 (1.0 s).
        games: named on the command line; runs in `home` load no other game files.

    Raises:
        ValueError: if one of the folders does not exist.
    """

    def __init__(  # noqa: D107
        self,
        folders: list[Path],
        home: Path,
        can_train: bool,
        make_game: Callable[[str], Game],
        spec_of: Callable[[str], str],
        name_of: Callable[[str], str] = lambda spec: make_any_game(spec).name,
        max_trainings: int = 1,
        niceness: int = 10,
        games: Iterable[str] = (),
    ) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise ValueError(f"there is no run folder {folder}; `plainzero train` creates one")
        self._folders = [folder.resolve() for folder in folders]
        self._home = home.resolve()
        self._can_train, self._max_trainings = can_train, max_trainings
        self._make_game, self._spec_of, self._name_of = make_game, spec_of, name_of
        self._lock = threading.RLock()  # of the catalogue, held only briefly
        self._control = threading.Lock()  # held while a run is started or stopped
        self._readers: dict[Path, RunReader] = {}
        self._trainings = TrainingProcesses(niceness)
        self._games = RecordedGames()
        self._trust = TrustedGameFiles(games, self._given_paths)

    # ---- reading --------------------------------------------------------------------------------

    def infos(self) -> list[RunInfo]:
        """All runs: first those of the given folders, then those in `home`."""
        return [self._describe(reader) for reader in self._scan().values()]

    def infos_at_home(self) -> list[RunInfo]:
        """The runs in `home`."""
        readers = self._scan().values()
        return [self._describe(reader) for reader in readers if reader.path.parent == self._home]

    def info(self, run: str) -> RunInfo:
        """The current state of a run."""
        return self._describe(self.reader(run))

    def details(self, run: str) -> RunDetails:
        """A run with all its generations and its settings."""
        reader = self.reader(run)
        return RunDetails(
            info=self._describe(reader),
            generations=reader.generations(),
            settings=describe_settings(reader),
        )

    def since(self, run: str, generation: int) -> list[Generation]:
        """The complete generations of a run after that one."""
        return self.reader(run).since(generation)

    def saved(self, run: str) -> "SavedRun":
        """A run to play against.

        Raises:
            ValueError: if it cannot be opened.
        """
        return self.reader(run).open().saved

    def reader(self, run: str) -> RunReader:
        """The reader of a run's folder.

        Raises:
            UnknownRun: if there is no run of that name.
        """
        readers = self._scan()
        if run not in readers:
            some = ", ".join(list(readers)[:20]) or "none yet"
            raise UnknownRun(f"unknown run {run!r}; available: {some}")
        return readers[run]

    def name_of_folder(self, folder: Path) -> str | None:
        """The name of the run in that folder, if it is one of these."""
        path = folder.resolve()
        return next((name for name, one in self._scan().items() if one.path == path), None)

    def games(self, run: str, generation: int | None, first: int, count: int) -> GameList:
        """Self-play games of a generation, by default the newest."""
        return self._games.browse(self.reader(run), generation, first, count)

    def game(self, run: str, generation: int, index: int) -> RecordedGame:
        """A self-play game."""
        return self._games.show(self.reader(run), generation, index)

    # ---- starting and stopping ------------------------------------------------------------------

    def start(self, request: StartRun) -> RunInfo:
        """Starts a run.

        Raises:
            AlreadyTraining: if another run is training.
            ValueError: if its game, name or settings are invalid.
        """
        self._check_may_train()
        game = self._make_game(request.game)
        config, settings = configure_run(game, request.minutes, request.settings)  # takes seconds
        with self._control:
            self._check_may_train()  # another may have started meanwhile
            path = self._new_path(request.run, game.name)
            spec = str(GameSpec.parse(self._spec_of(request.game)).absolute())
            arguments = [spec, "--run", str(path)]
            arguments += [part for setting in settings for part in ("--set", setting)]
            self._trainings.start(path, arguments, self._name_of(spec), config)
            return self._describe(self._add(path))

    def stop(self, run: str) -> RunInfo:
        """Asks a run to save and stop; asking again changes nothing.

        Raises:
            ValueError: if it is not training, or its process cannot be reached.
        """
        with self._control:
            self._check_can_train()
            reader = self.reader(run)
            if self._describe(reader).state not in _BUSY:
                raise ValueError(f"{run} is not training")
            self._trainings.stop(reader.folder(), run)
            return self._describe(reader)

    def resume(self, run: str, request: ResumeRun) -> RunInfo:
        """Resumes a run.

        Raises:
            AlreadyTraining: if another run is training.
            ValueError: if it is training, is damaged or has reached its limit.
        """
        with self._control:
            reader = self.reader(run)
            if self._describe(reader).state in _BUSY:
                raise ValueError(f"{run} is already training")
            self._check_may_train()
            training = self._trainings.find(reader.path)
            if training is not None and not reader.folder().exists():
                arguments, game, config = training.arguments, training.game, training.config
            else:
                opened = reader.open()
                _check_full_path(run, opened.about["game"])
                check_has_time(reader, opened, request.minutes)
                arguments, game, config = [str(reader.path)], opened.game, None
            if request.minutes is not None:
                arguments = [*arguments, "--minutes", str(request.minutes)]
            self._trainings.start(reader.path, arguments, game, config)
            return self._describe(reader)

    def is_training(self) -> bool:
        """Whether a run started here is training."""
        return self._trainings.is_any_alive()

    def close(self) -> list[Path]:
        """Stops runs started here, and waits for a limited time until they are saved.

        Returns:
            The folders of those that were training.
        """
        return self._trainings.close()

    def describe_trainer(self, run: str) -> str:
        """Which process is training that run, as a clause; empty if this server started it."""
        reader = self.reader(run)
        training = self._trainings.find(reader.path)
        if training is not None and training.is_alive():
            return ""
        holder = reader.folder().holder()
        process = f"another process (PID {holder})" if holder is not None else "another process"
        return f"{run} is being trained by {process}"

    def _check_can_train(self) -> None:
        if not self._can_train:
            raise ValueError("training is disabled on this server")

    def _check_may_train(self) -> None:
        self._check_can_train()
        busy = [info.run for info in self.infos() if info.state in _BUSY]
        if len(busy) < self._max_trainings:
            return
        elsewhere = next(filter(None, map(self.describe_trainer, busy)), "")
        raise AlreadyTraining(
            elsewhere
            or f"{', '.join(busy)} is training, and this server trains {self._max_trainings} at a "
            "time; stop it first"
        )

    def _new_path(self, wanted: str | None, game: str) -> Path:
        """The folder for a new run, in `home`."""
        taken = {reader.name for reader in self._scan().values()}
        if wanted is None:
            return self._home / free_name(
                allowed_name(game), lambda name: self._is_taken(name, taken)
            )
        check_name(wanted)
        if self._is_taken(wanted, taken):
            raise ValueError(f"run {wanted!r} already exists; resume it, or choose another name")
        return self._home / wanted

    def _is_taken(self, name: str, taken: set[str]) -> bool:
        return name in taken or is_used(self._home / name)

    # ---- the catalogue --------------------------------------------------------------------------

    def _scan(self) -> dict[str, RunReader]:
        """The runs by name, after looking at all folders."""
        with self._lock:
            readers = [self._add(path) for path in dict.fromkeys(self._paths())]
            return {reader.name: reader for reader in readers}

    def _paths(self) -> Iterator[Path]:
        yield from self._given_paths()
        yield from _runs_in(self._home)
        yield from (path for path in self._trainings.paths() if path.is_dir())

    def _given_paths(self) -> Iterator[Path]:
        for folder in self._folders:
            if _is_run(folder):
                yield folder
            else:
                yield from _runs_in(folder)

    def _add(self, path: Path) -> RunReader:
        """The reader of a folder, whose name stays the same while the server runs."""
        with self._lock:
            if path not in self._readers:
                taken = {reader.name for reader in self._readers.values()}
                name = free_name(allowed_name(path.name), taken.__contains__)
                self._readers[path] = RunReader(path, name, self._name_of, self._trust.check)
            return self._readers[path]

    def _describe(self, reader: RunReader) -> RunInfo:
        return describe_run(reader, self._trainings, self._can_train)


def _is_run(folder: Path) -> bool:
    return (folder / "config.toml").is_file() or (folder / "state.safetensors").is_file()


def _runs_in(folder: Path) -> list[Path]:
    try:
        return sorted(path.resolve() for path in folder.iterdir() if _is_run(path))
    except OSError:  # it does not exist yet, or cannot be read
        return []


def _check_full_path(run: str, game: str) -> None:
    """Refuses a game by a relative path: in the run's folder, that is another file, not trusted."""
    path = GameSpec.parse(game).path
    if path and not os.path.isabs(path):
        raise ValueError(
            f"the game of {run} is {path}, a relative path; write the full path in "
            f"{run}/config.toml, under [about]"
        )
