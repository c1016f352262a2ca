"""What a check of a game found: one line each, one a kind."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from plainzero.compiler.bind_rules import source_files
from plainzero.games.contract import Game


class Finding(NamedTuple):
    """One thing that is wrong with a game: what kind, and a line that says where and what to do."""

    kind: str
    message: str

    def __str__(self) -> str:
        """The finding in one line."""
        return f"{self.kind}: {self.message}"


class Stop(Exception):
    """Ends the game being checked: what follows would only repeat the finding."""


class Findings:
    """What was found so far in one game, one finding a kind; the first is kept."""

    def __init__(self, game: Game) -> None:
        """Starts without findings."""
        self.game = game
        self._found: dict[str, Finding] = {}

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self._found)

    def __iter__(self) -> Iterator[Finding]:
        """The findings in the order in which they were made."""
        return iter(self._found.values())

    def add(self, kind: str, message: str) -> None:
        """Notes a finding, made into one line."""
        self._found.setdefault(kind, Finding(kind, " ".join(message.split())))

    @contextmanager
    def running(self, method: str, where: str = "") -> Iterator[None]:
        """Runs a game's method: what it raises is a finding with its file and line, and a Stop."""
        try:
            yield
        except Stop:
            raise
        except Exception as error:
            self.add(
                "raises",
                f"{method} raises {type(error).__name__}{where}: {error} "
                f"({self.place(error)}); step through it in a debugger, it is plain Python",
            )
            raise Stop from error

    def place(self, error: Exception) -> str:
        """The innermost line of the game's own files that the error came through."""
        own = {str(path) for path, _ in source_files(self.game, Game)}
        frames = list(traceback.extract_tb(error.__traceback__))
        inner = ([frame for frame in frames if frame.filename in own] or frames)[-1]
        return f"{Path(inner.filename).name}, line {inner.lineno}"
