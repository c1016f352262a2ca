"""The runs that the page shows, by name, and what can be done with them."""

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from plainzero.games.contract import Game
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
from plainzero.server.runs.processes import NICENESS, Trainings, plan_training
from plainzero.server.runs.run_info import check_has_time, describe_run, describe_settings
from plainzero.server.runs.selfplay_games import RecordedGames
from plainzero.server.runs.names import allowed_name, check_name, free_name, is_used
from plainzero.server.runs.reader import RunReader
from plainzero.server.runs.allowed_game_files import GameTrust

if TYPE_CHECKING:
    from plainzero.training.saved_run import SavedRun

_BUSY: tuple[RunState, ...] = ("starting", "running", "stopping")


class UnknownRun(ValueError):
    """A name that no run has."""


class Runs:
    """All runs; safe for threads.

    Args:
        folders: runs, or folders that hold some.
        home: where runs are begun; those in it are listed too. It need not exist.
        can_train: whether runs may be started, stopped and resumed.
        make_game: the game of a name that a request gave.
        spec_of: how `plainzero train` is told of the game of such a name.
        name_of: the name of a game as a run's config.toml has it.
        most_trainings: how many runs may be training at once.
        niceness: by how much training lets other processes go first, 0 to 19.
        games: that the command line named; no other file's game is loaded for a run at home.

    Raises:
        ValueError: when one of the folders is not there.
    """

    def __init__(  # noqa: D107
        self,
        folders: list[Path],
        home: Path,
        can_train: bool,
        make_game: Callable[[str], Game],
        spec_of: Callable[[str], str],
        name_of: Callable[[str], str] = lambda spec: make_any_game(spec).name,
        most_trainings: int = 1,
        niceness: int = NICENESS,
        games: Iterable[str] = (),
    ) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise ValueError(f"there is no run folder {folder}; `plainzero train` makes one")
        self._folders = [folder.resolve() for folder in folders]
        self._home = home.resolve()
        self._can_train, self._most_trainings = can_train, most_trainings
        self._make_game, self._spec_of, self._name_of = make_game, spec_of, name_of
        self._lock = threading.RLock()  # of the catalogue, held for a moment only
        self._control = threading.Lock()  # of one who starts or stops something
        self._readers: dict[Path, RunReader] = {}
        self._trainings = Trainings(niceness)
        self._games = RecordedGames()
        self._trust = GameTrust(games, self._given_paths)

    # ---- what there is --------------------------------------------------------------------------

    def infos(self) -> list[RunInfo]:
        """All runs as they are now: those of the folders given first, then those at home."""
        return [self._describe(reader) for reader in self._scan().values()]

    def infos_at_home(self) -> list[RunInfo]:
        """The runs as they are now that lie where this server begins them."""
        readers = self._scan().values()
        return [self._describe(reader) for reader in readers if reader.path.parent == self._home]

    def info(self, run: str) -> RunInfo:
        """A run as it is now."""
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
        """The whole generations of a run after that one."""
        return self.reader(run).since(generation)

    def saved(self, run: str) -> "SavedRun":
        """A run to play with.

        Raises:
            ValueError: when it cannot be read.
        """
        return self.reader(run).open().saved

    def reader(self, run: str) -> RunReader:
        """What reads a run's folder.

        Raises:
            UnknownRun: when no run has that name.
        """
        readers = self._scan()
        if run not in readers:
            some = ", ".join(list(readers)[:20]) or "none yet"
            raise UnknownRun(f"there is no run {run!r}; runs here: {some}")
        return readers[run]

    def games(self, run: str, generation: int | None, first: int, count: int) -> GameList:
        """Self-play games of a generation, of the newest by default."""
        return self._games.browse(self.reader(run), generation, first, count)

    def game(self, run: str, generation: int, index: int) -> RecordedGame:
        """A self-play game."""
        return self._games.show(self.reader(run), generation, index)

    # ---- what can be done -----------------------------------------------------------------------

    def start(self, request: StartRun) -> RunInfo:
        """Begins a run.

        Raises:
            ValueError: when its game, its name or its settings cannot be, or another is training.
        """
        self._check_may_train()
        game = self._make_game(request.game)
        config, settings = plan_training(game, request.minutes, request.settings)  # takes seconds
        with self._control:
            self._check_may_train()  # another may have come first
            path = self._new_path(request.run, game.name)
            spec = _absolute(self._spec_of(request.game))
            arguments = [spec, "--run", str(path)]
            arguments += [part for setting in settings for part in ("--set", setting)]
            self._trainings.start(path, arguments, self._name_of(spec), config)
            return self._describe(self._add(path))

    def stop(self, run: str) -> RunInfo:
        """Asks a run to save and to end; asking again changes nothing.

        Raises:
            ValueError: when it is not training, or cannot be reached.
        """
        with self._control:
            self._check_can_train()
            reader = self.reader(run)
            if self._describe(reader).state not in _BUSY:
                raise ValueError(f"{run} is not training, so there is nothing to stop")
            self._trainings.stop(reader.folder(), run)
            return self._describe(reader)

    def resume(self, run: str, request: ResumeRun) -> RunInfo:
        """Goes on with a run.

        Raises:
            ValueError: when it is training, is damaged or has reached its limit.
        """
        with self._control:
            reader = self.reader(run)
            if self._describe(reader).state in _BUSY:
                raise ValueError(f"{run} is training already; stop it first")
            self._check_may_train()
            training = self._trainings.find(reader.path)
            if training is not None and not reader.folder().exists():
                arguments, game, config = training.arguments, training.game, training.config
            else:
                opened = reader.open()
                check_has_time(reader, opened, request.minutes)
                arguments, game, config = [str(reader.path)], opened.game, None
            if request.minutes is not None:
                arguments = [*arguments, "--minutes", str(request.minutes)]
            self._trainings.start(reader.path, arguments, game, config)
            return self._describe(reader)

    def is_training(self) -> bool:
        """Whether a run that was begun here is learning."""
        return self._trainings.is_any_alive()

    def close(self) -> None:
        """Stops what was begun here, and waits until it is saved, for a bounded time."""
        self._trainings.close()

    def _check_can_train(self) -> None:
        if not self._can_train:
            raise ValueError("this server only shows runs; it was started without training")

    def _check_may_train(self) -> None:
        self._check_can_train()
        busy = [info.run for info in self.infos() if info.state in _BUSY]
        if len(busy) >= self._most_trainings:
            raise ValueError(
                f"{', '.join(busy)} is training, and {self._most_trainings} at a time is the most "
                "here; stop it first"
            )

    def _new_path(self, wanted: str | None, game: str) -> Path:
        """Where a new run goes: a folder in `home`, whatever the name."""
        taken = {reader.name for reader in self._scan().values()}
        if wanted is None:
            return self._home / free_name(
                allowed_name(game), lambda name: self._is_taken(name, taken)
            )
        check_name(wanted)
        if self._is_taken(wanted, taken):
            raise ValueError(f"there is a run {wanted!r} already; resume it, or take another name")
        return self._home / wanted

    def _is_taken(self, name: str, taken: set[str]) -> bool:
        return name in taken or is_used(self._home / name)

    # ---- the catalogue --------------------------------------------------------------------------

    def _scan(self) -> dict[str, RunReader]:
        """The runs by name, as the folders are now."""
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
        """The reader of a folder; it has the same name as long as the server runs."""
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
    except OSError:  # there is no such folder yet, or it cannot be read
        return []


def _absolute(spec: str) -> str:
    """A game's name for another working folder: the file of a user's own game in full."""
    path, colon, name = spec.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if colon else spec
