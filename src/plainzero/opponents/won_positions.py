"""Files of positions with a known winner, for games in which single moves are too many to solve.

They are CSV: a header `moves,outcome`, then one position per line: the names of the moves that lead
to it, separated by spaces, and W, D or L for the mover's outcome with perfect play.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.hex import Hex
from plainzero.games.contract import Game
from plainzero.opponents.solved_positions import PositionError, play_moves

HEADER = "moves,outcome"
_OUTCOMES = {"W": 1, "D": 0, "L": -1}
_BUNDLED: dict[tuple[type[Game], str], str] = {(Hex, "hex(size=6)"): "hex_6x6_winners.csv"}


class WonPositions(NamedTuple):
    """n positions and their outcomes."""

    states: NDArray[Any]  # [n]
    outcomes: NDArray[np.int8]  # [n] +1, 0, −1 for the mover


def bundled_won_positions(game: Game) -> Path:
    """The bundled file for a game.

    Raises:
        ValueError: if there is none.
    """
    name = _BUNDLED.get((type(game), game.name))
    if name is None:
        raise ValueError(f"there are no bundled positions of {game.name} with known winners")
    return Path(__file__).parent / "data" / name


def read_won_positions(game: Game, path: str | Path) -> WonPositions:
    """The positions in a file.

    Raises:
        PositionError: when the file cannot be read, or a line is invalid.
    """
    try:
        header, *lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise PositionError(f"{path} cannot be read: {error}") from error
    states, outcomes = np.zeros(len(lines), game.dtype), np.zeros(len(lines), np.int8)
    for row, line in enumerate(lines):
        moves, comma, letter = line.rpartition(",")
        if header != HEADER or not comma or letter not in _OUTCOMES:
            raise PositionError(f"{path}, line {row + 2}: {line!r} is not of the form {HEADER}")
        states[row] = play_moves(game, f"{path}, line {row + 2}", moves.split())
        outcomes[row] = _OUTCOMES[letter]
    return WonPositions(states, outcomes)
