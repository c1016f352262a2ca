"""Which game files the server may execute: loading a game from a file runs it as Python.

Otherwise anybody who can write to the runs folder could make the server execute anything. So a file
is loaded only if the command line names it, directly or through a run.
"""

import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from plainzero.games.registry import GameSpec, UnknownGame


class TrustedGameFiles:
    """The game files named on the command line.

    Args:
        games: named directly.
        find_given: returns the current folders of the runs named there.
    """

    def __init__(  # noqa: D107
        self, games: Iterable[str], find_given: Callable[[], Iterable[Path]]
    ) -> None:
        self._files = {file for spec in games if (file := file_of(spec))}
        self._find_given = find_given

    def check(self, run: Path, game: Any) -> None:
        """Refuses the game of a run if the command line does not name its file.

        Raises:
            ValueError: says how to allow it.
        """
        file = file_of(game)
        if not file or file in self._files:
            return
        given = list(self._find_given())
        if run in given or any(file == file_of(_game_of(other)) for other in given):
            return
        title = os.path.basename(GameSpec.parse(game).title)
        raise ValueError(
            f"its game file {title} was not loaded, because it is not trusted; start the server "
            "with --game and that file, or with this run on the command line"
        )


def file_of(game: Any) -> str:
    """The file of a game named in config.toml or on the command line; empty if it has none."""
    try:
        return GameSpec.parse(game).file if isinstance(game, str) else ""
    except UnknownGame:  # nothing is loaded for such a name
        return ""


def _game_of(run: Path) -> Any:
    """The game named in a run's config.toml, which is not loaded."""
    try:
        return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))["about"]["game"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
