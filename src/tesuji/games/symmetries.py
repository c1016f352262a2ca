"""Turns and reflections of a board, for games whose observation has its rows and columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tesuji.games.contract import Symmetry

Turn = Callable[[NDArray[Any]], NDArray[Any]]


def grid_symmetries(actions: ArrayLike) -> list[Symmetry]:
    """Every way to turn a board: seven of a square, three of any other rectangle.

    Args:
        actions: the action at each row and column of the observation, -1 where there is none; each
            action must stand there once.
    """
    grid = np.asarray(actions)
    quarter_turns = (0, 1, 2, 3) if grid.shape[0] == grid.shape[1] else (0, 2)
    turns = [board_turn(k, flip) for flip in (False, True) for k in quarter_turns]
    return [Symmetry(turn, _turned_actions(turn, grid)) for turn in turns[1:]]


def board_turn(quarter_turns: int, flip: bool) -> Turn:
    """The board with left and right exchanged if `flip`, then so many quarter turns to the left."""

    def turn(planes: NDArray[Any]) -> NDArray[Any]:
        return np.rot90(planes[..., ::-1] if flip else planes, quarter_turns, axes=(-2, -1))

    return turn


def _turned_actions(turn: Turn, grid: NDArray[Any]) -> list[int]:
    """What each action becomes: the one that stands where it is turned to."""
    became = dict(zip(turn(grid).flat, grid.flat, strict=True))
    return [int(became[action]) for action in sorted(became) if action >= 0]
