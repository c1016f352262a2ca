"""The problems that a check of a game found: one line each, at most one per kind."""

import dataclasses
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from plainzero.compiler.source_digest import object_dependencies
from plainzero.games.check.watchdog import TookTooLong, WaitedTooLong, Watchdog
from plainzero.games.contract import Game

_PACKAGE = Path(__file__).parents[2]

Severity = Literal["error", "cpu only"]


class Problem(NamedTuple):
    """One thing that is wrong with a game: its kind, and a line with the place and the remedy."""

    kind: str
    message: str
    severity: Severity = "error"  # "cpu only": the game runs on the CPU, and not on a GPU

    def __str__(self) -> str:
        """The problem in one line."""
        return f"{self.kind}: {self.message}"


class Stop(Exception):
    """Ends the part of the check that is running: what follows would only repeat the problem."""


class Problems:
    """The problems found so far in one game; the first of each kind is kept."""

    def __init__(self, game: Game) -> None:
        """Starts without problems."""
        self.game = game
        self.watchdog = Watchdog()
        self._found: dict[str, Problem] = {}

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self._found)

    def __iter__(self) -> Iterator[Problem]:
        """The problems in the order in which they were found."""
        return iter(self._found.values())

    def add(self, kind: str, message: str, severity: Severity = "error") -> None:
        """Notes a problem, made into one line."""
        self._found.setdefault(kind, Problem(kind, " ".join(message.split()), severity))

    @contextmanager
    def running(self, method: str, where: str = "") -> Iterator[None]:
        """Runs a game's method; an error, or a call that never returns, is a problem and a Stop."""
        try:
            with self.watchdog.watching():
                yield
        except Stop:
            raise
        except WaitedTooLong as error:
            self.add(
                "endless",
                f"{method} does not return{where}, after {self.watchdog.waiting_limit:g} seconds "
                f"of waiting ({self.place(error)}); rules must not read input, sleep or wait",
            )
            raise Stop from error
        except TookTooLong as error:
            self.add(
                "endless",
                f"{method} does not return{where}, after {self.watchdog.limit:g} seconds of "
                f"computing ({self.place(error)}); give its loops an end",
            )
            raise Stop from error
        except dataclasses.FrozenInstanceError as error:
            name = str(error).rpartition("field ")[2].strip("'")
            self.add(
                "raises",
                f"{method} changes self.{name}{where}; what changes during a game belongs in "
                f"fields(), as state.{name} ({self.place(error)})",
            )
            raise Stop from error
        except OverflowError as error:
            self.add(
                "overflow",
                f"{method} makes a number that is too large{where}: {error}; "
                f"declare a wider type in fields() ({self.place(error)})",
            )
            raise Stop from error
        except Exception as error:
            self.add(
                "raises",
                f"{method} raises {type(error).__name__}{where}: {error} "
                f"({self.place(error)}); step through it in a debugger, it is plain Python",
            )
            raise Stop from error

    def place(self, error: BaseException) -> str:
        """The innermost line of the game's own files that the error came through.

        A line of the user's comes before one of ours that it called.
        """
        files = (path for path, _ in object_dependencies(self.game, Game))
        own = {str(path) for path in files if path.is_file()}  # dataclasses' methods have no file
        frames = list(traceback.extract_tb(error.__traceback__))
        inside = [frame for frame in frames if frame.filename in own]
        users = [frame for frame in inside if not Path(frame.filename).is_relative_to(_PACKAGE)]
        inner = (users or inside or frames)[-1]
        return f"{Path(inner.filename).name}, line {inner.lineno}"
