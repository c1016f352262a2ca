"""Turns and reflections of a board, for games whose observation has its rows and columns."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plainzero.games.contract import Game, Symmetry

Turn = Callable[[NDArray[Any]], NDArray[Any]]


class SymmetryTables(NamedTuple):
    """A game's symmetries as indices, the identity first: `turned = original[..., index[s]]`."""

    planes_index: NDArray[np.int64]  # [S, prod(observation_shape)], of a flattened observation
    actions_index: NDArray[np.int64]  # [S, A], of a policy or of logits


def grid_symmetries(actions: ArrayLike, unmoved: Sequence[int] = ()) -> list[Symmetry]:
    """Every way to turn a board: seven for a square, three for other rectangles.

    Args:
        actions: the action at each row and column of the observation, -1 for none; each action
            must occur once.
        unmoved: the actions that have no place on the board and stay the same, such as a pass.
    """
    grid = np.asarray(actions)
    quarter_turns = (0, 1, 2, 3) if grid.shape[0] == grid.shape[1] else (0, 2)
    turns = [board_turn(k, flip) for flip in (False, True) for k in quarter_turns]
    return [Symmetry(turn, _turned_actions(turn, grid, unmoved)) for turn in turns[1:]]


def board_turn(quarter_turns: int, flip: bool) -> Turn:
    """Exchanges left and right if `flip`, then makes `quarter_turns` quarter turns to the left."""

    def turn(planes: NDArray[Any]) -> NDArray[Any]:
        return np.rot90(planes[..., ::-1] if flip else planes, quarter_turns, axes=(-2, -1))

    return turn


def _turned_actions(turn: Turn, grid: NDArray[Any], unmoved: Sequence[int]) -> list[int]:
    """What each action becomes: the action of the cell to which its own is turned."""
    became = dict(zip(turn(grid).flat, grid.flat, strict=True)) | {a: a for a in unmoved}
    return [int(became[action]) for action in sorted(became) if action >= 0]


def cells_index(game: Game, tables: SymmetryTables) -> NDArray[np.int64]:
    """[S, rows · columns] the same for numbers of the board's cells.

    Raises:
        ValueError: if a symmetry moves the cells of one plane unlike those of another.
    """
    planes, cells = game.observation_shape[0], math.prod(game.observation_shape[1:])
    index: NDArray[np.int64] = tables.planes_index.reshape(-1, planes, cells) % cells
    if (index != index[:, :1]).any():
        raise ValueError(f"a symmetry of {game.name} does not move whole cells of its board")
    return np.ascontiguousarray(index[:, 0])


def symmetry_tables(game: Game) -> SymmetryTables:
    """Where each number of a turned observation and of a turned policy comes from.

    Raises:
        ValueError: if a symmetry does more than permute the numbers of an observation.
    """
    size = math.prod(game.observation_shape)
    planes, actions = [np.arange(size)], [np.arange(game.num_actions)]
    for symmetry in game.symmetries():
        numbered = np.arange(size).reshape(game.observation_shape)
        turned = np.ascontiguousarray(symmetry.planes(numbered)).astype(np.int64).ravel()
        became = np.asarray(symmetry.actions, np.int64)
        for name, index, count in (("planes", turned, size), ("actions", became, game.num_actions)):
            if not np.array_equal(np.sort(index), np.arange(count)):
                raise ValueError(
                    f"symmetry {len(planes) - 1} of {game.name} does not keep each of its {name} "
                    f"exactly once: run `plainzero check` on the game"
                )
        planes.append(turned)
        actions.append(np.argsort(became))  # became[a] is where a goes; this is where it comes from
    return SymmetryTables(np.stack(planes), np.stack(actions))
