"""Reads a run's folder, again only when something has changed, and only what is new.

A training process may write to the folder at any moment, so nothing here changes it.
"""

import bisect
import json
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.server.api.schemas.runs import Generation
from plainzero.server.runs.trusted_game_files import file_of

if TYPE_CHECKING:
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.saved_run import SavedRun

_STAMP_SECONDS = 1.0  # within which two changes of a file may get the same time stamp
_RETRY_SECONDS = 5.0  # before a run that failed to open is tried again

Stamp = tuple[int, int, int]


class Opened(NamedTuple):
    """A run that was opened."""

    saved: "SavedRun"
    game: str  # its name in the catalogue
    about: dict[str, Any]


class RunReader:
    """Reads one run. Thread-safe.

    Args:
        path: of its folder.
        name: in the catalogue, which replaces the path in messages.
        name_of: returns the catalogue's name of a game named in config.toml.
        check_game: raises ValueError if the game of the run in that folder must not be loaded.
    """

    def __init__(  # noqa: D107
        self,
        path: Path,
        name: str,
        name_of: Callable[[str], str],
        check_game: Callable[[Path, Any], None],
    ) -> None:
        self.path, self.name = path, name
        self._name_of, self._check_game = name_of, check_game
        self._lock = threading.RLock()
        self._metrics = MetricsReader(path / "metrics.jsonl")
        self._opened: Opened | ValueError | None = None
        self._opened_stamp: Stamp | None = None
        self._opened_at = 0.0
        self._steps: list[int] = []
        self._steps_stamp: Stamp | None = None

    def open(self) -> Opened:
        """The run.

        Raises:
            ValueError: says why it cannot be opened.
        """
        with self._lock:
            stamp = stamp_of(self.path / "config.toml")
            is_old = time.monotonic() - self._opened_at > _RETRY_SECONDS
            if (
                self._opened is None
                or stamp != self._opened_stamp
                or (is_old and isinstance(self._opened, ValueError))
            ):
                self._opened_stamp, self._opened_at = stamp, time.monotonic()
                self._opened = self._try_to_open()
            if isinstance(self._opened, ValueError):
                raise ValueError(str(self._opened))
            return self._opened

    def _try_to_open(self) -> Opened | ValueError:
        try:
            from plainzero.training.saved_run import SavedRun
        except ModuleNotFoundError as error:
            return ValueError(
                f"{self.name} needs the package {error.name}: pip install 'plainzero[learn]'"
            )
        except ImportError as error:  # PyTorch is too old
            return ValueError(str(error))
        try:
            folder = self.folder()
            config, about = folder.read_config()
            game = self._load_game(about)
            return Opened(SavedRun(folder, config, game), self._name_of(about["game"]), about)
        except ValueError as error:
            return ValueError(self.without_path(error))

    def _load_game(self, about: Any) -> Game:
        """The game named in config.toml, if it may be loaded."""
        spec = about.get("game") if isinstance(about, dict) else None
        if not isinstance(spec, str):
            raise ValueError(f"{self.name}/config.toml names no game under [about]")
        self._check_game(self.path, spec)
        try:
            return make_game(spec)
        except (ValueError, TypeError, OSError) as error:
            folder = os.path.dirname(file_of(spec))
            reason = str(error).replace(folder + os.sep, "") if folder else str(error)
            raise ValueError(
                f"cannot load the game of {self.name}: {reason}; if its file was moved, change "
                f"the path in {self.name}/config.toml, under [about]"
            ) from error

    def folder(self) -> "RunFolder":
        """The run's folder; needs PyTorch."""
        from plainzero.training.run_folder import RunFolder

        return RunFolder(self.path)

    def without_path(self, error: Exception | str) -> str:
        """The message, with the folder's path replaced by the run's name."""
        return str(error).replace(str(self.path), self.name)

    def generations(self) -> list[Generation]:
        """All complete generations, in a new list."""
        with self._lock:
            return list(self._metrics.read())

    def latest(self) -> Generation | None:
        """The last complete generation."""
        with self._lock:
            found = self._metrics.read()
            return found[-1] if found else None

    def since(self, generation: int) -> list[Generation]:
        """The complete generations after that one."""
        with self._lock:
            found = self._metrics.read()
            return found[bisect.bisect_right(found, generation, key=lambda g: g.generation) :]

    def warning(self) -> str:
        """What is wrong with the metrics; empty if nothing is."""
        with self._lock:
            self._metrics.read()
            if not self._metrics.is_damaged:
                return ""
            line = len(self._metrics.found) + 1
            return f"metrics.jsonl is damaged in line {line}; later lines are not shown"

    def steps(self) -> list[int]:
        """The steps with saved weights, in a new list."""
        folder = self.path / "weights"
        with self._lock:
            stamp = stamp_of(folder)
            if stamp is None or stamp != self._steps_stamp:
                names = os.listdir(folder) if stamp is not None else []
                stems = (name.removesuffix(".safetensors") for name in names)
                self._steps = sorted(int(stem) for stem in stems if stem.isdecimal())
                self._steps_stamp = stamp if _is_final(stamp) else None
            return list(self._steps)


class MetricsReader:
    """Follows a growing metrics.jsonl whose last lines may be replaced."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self.found: list[Generation] = []
        self.is_damaged = False
        self._path = path
        self._stamp: Stamp | None = None
        self._last = b""  # the last line read, to see whether it is still there
        self._size = 0  # bytes read, in complete lines

    def read(self) -> list[Generation]:
        """The generations so far, up to a damaged or incomplete line."""
        stamp = stamp_of(self._path)
        if stamp is None:
            self._reset()
        elif stamp != self._stamp:
            self._read_new()
            self._stamp = stamp if _is_final(stamp) else None
        return self.found

    def _reset(self) -> None:
        self.found, self.is_damaged = [], False
        self._stamp, self._last, self._size = None, b"", 0

    def _read_new(self) -> None:
        try:
            with open(self._path, "rb") as file:
                file.seek(self._size - len(self._last))
                if file.read(len(self._last)) != self._last:
                    self._reset()
                    file.seek(0)
                contents = file.read()
        except FileNotFoundError:
            self._reset()
            return
        self.is_damaged = False
        for line in contents[: contents.rfind(b"\n") + 1].splitlines(keepends=True):
            generation = _parse(line)
            if generation is None:
                self.is_damaged = True
                break
            self.found.append(generation)
            self._last = line
            self._size += len(line)


def _parse(line: bytes) -> Generation | None:
    """One line of metrics without values that JSON cannot represent; None if it is damaged."""
    try:
        named = json.loads(line)
        numbers = {
            name: float(value)
            for name, value in named.items()
            if isinstance(value, int | float) and math.isfinite(value)
        }
        generation, step = int(numbers.pop("generation")), int(numbers.pop("step"))
    except (ValueError, KeyError, AttributeError, OverflowError):
        return None
    return Generation(generation=generation, step=step, numbers=numbers)


def stamp_of(path: Path) -> Stamp | None:
    """A value that changes with a file or a folder's entries; None if it does not exist."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _is_final(stamp: Stamp | None) -> bool:
    """Whether every later change gives another stamp."""
    return stamp is not None and time.time() - stamp[0] / 1e9 > _STAMP_SECONDS
