"""The games of a match read back from the file that `--save` wrote."""

import json
from collections.abc import Iterator
from typing import Any

from plainzero.games.formats.saved_games import SavedGame


def read_match_games(text: str) -> Iterator[SavedGame]:
    """The games of JSON lines, one after the other.

    Raises:
        ValueError: when a line is none, with its number.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            actions = [int(action) for action in row["actions"]]
            seats = [str(name) for name in row["seats"]]
            yield SavedGame(str(row["game"]), None, 0, actions, seats, _who_resigned(row))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} is no game of a match") from error


def _who_resigned(row: dict[str, Any]) -> int | None:
    """The player who did; None also for one that lost by a fault, and in files without endings."""
    if row.get("ending") != "resigned":
        return None
    returns = [float(value) for value in row["returns"]]
    return returns.index(min(returns))
