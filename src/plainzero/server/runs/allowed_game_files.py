"""Which runs may load their game: one in a file is Python, and loading it executes it.

Whoever can write into the folder of runs could otherwise have the server execute anything. So a
file counts only where the command line named it, as a game or through a run.
"""

import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from plainzero.games.registry import is_open_spiel


class GameTrust:
    """Says whose game files are loaded.

    Args:
        games: as the command line named them.
        find_given: the folders of the runs that it named, as they are now.
    """

    def __init__(  # noqa: D107
        self, games: Iterable[str], find_given: Callable[[], Iterable[Path]]
    ) -> None:
        self._files = {file for spec in games if (file := file_of(spec))}
        self._find_given = find_given

    def check(self, run: Path, game: Any) -> None:
        """Refuses the game of a run found in that folder, where nobody asked for its file.

        Raises:
            ValueError: says how to ask for it.
        """
        file = file_of(game)
        if not file or file in self._files:
            return
        given = list(self._find_given())
        if run in given or any(file == file_of(_game_of(other)) for other in given):
            return
        title = os.path.basename(game.partition("(")[0].strip())
        raise ValueError(
            f"its game is in a file, {title}, which is not loaded unasked; start the server with "
            "--game and that file, or name this run on the command line"
        )


def file_of(game: Any) -> str:
    """The file of a game as config.toml or the command line has it; nothing where there is none.

    The bundled games and OpenSpiel's are in no file of the user's.
    """
    title = game.partition("(")[0].strip() if isinstance(game, str) else ""
    path, colon, _ = title.rpartition(":")
    return os.path.realpath(path) if colon and not is_open_spiel(title) else ""


def _game_of(run: Path) -> Any:
    """The game that a run's config.toml names; nothing is loaded."""
    try:
        return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))["about"]["game"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
