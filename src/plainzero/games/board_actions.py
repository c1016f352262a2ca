"""Where the actions of a game lie on the board of its observation.

A policy head that follows the board reads an action's logit from the cell that the action belongs
to. A game says which by `Game.board_actions`. For a game that does not, the usual numberings are
tried: one is used if it alone fits the game's symmetries and its first moves.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.check.quick_check import ensure_checked
from plainzero.games.contract import CHANCE, Game

NOWHERE = -1
"""In a grid: no action here. As a place: not on the board."""

Ints = NDArray[np.int64]

_MOST_OTHERS = 1  # actions beside the board in a numbering that is tried: a pass
_TRIED_MOVES = 12


@functools.cache
def board_actions(game: Game) -> Ints | None:
    """[kinds, rows, columns] the action of each kind at each cell, declared or found; else None.

    Raises:
        ValueError: when the game declares what cannot be, or what contradicts its symmetries.
        RuleFault: when the game breaks its contract.
    """
    declared = game.board_actions()
    if declared is None:
        return _find_actions(game)
    actions = np.asarray(declared)
    if fault := _fault(game, actions):
        raise ValueError(f"board_actions of {game.name}: {fault}")
    return actions.astype(np.int64).reshape(-1, *actions.shape[-2:])


def action_places(actions: Ints, num_actions: int) -> Ints:
    """[num_actions] each action's index in the flattened `actions`, NOWHERE if it has none."""
    places = np.full(num_actions, NOWHERE)
    index = np.flatnonzero(actions.ravel() != NOWHERE)
    places[actions.ravel()[index]] = index
    return places


def _fault(game: Game, actions: Any) -> str:
    """What is wrong with a declared grid; empty if nothing is."""
    shape = tuple(game.observation_shape)
    if len(shape) != 3:
        return f"the observation has the shape {shape}, not planes, rows and columns"
    if actions.ndim not in (2, 3) or actions.shape[-2:] != shape[1:]:
        return f"the shape is {actions.shape}; it must be {shape[1:]} or (kinds, *{shape[1:]})"
    if actions.dtype.kind not in "iu":
        return f"the type is {actions.dtype}; actions are whole numbers"
    found, counts = np.unique(actions[actions != NOWHERE], return_counts=True)
    if not len(found):
        return "there is no action on the board; return None instead"
    if found[0] < 0 or found[-1] >= game.num_actions:
        wrong = found[0] if found[0] < 0 else found[-1]
        return f"{wrong} is not an action; actions are 0 to {game.num_actions - 1}, and −1 is none"
    if counts.max() > 1:
        return f"action {found[counts.argmax()]} is at {counts.max()} places; one is allowed"
    for number, (moves, became) in enumerate(_cell_symmetries(game)):
        if not _follows(actions, moves, became):
            return f"an action and its cell become different ones under symmetry {number}"
    return ""


def _find_actions(game: Game) -> Ints | None:
    """The usual numbering that fits the game, if it is certain which."""
    numberings = list(_usual_numberings(game))
    if not numberings:
        return None
    ensure_checked(game)  # before its rules are played
    symmetries, moves = list(_cell_symmetries(game)), _first_moves(game)
    fitting: list[Ints] = []
    for actions in numberings:
        if any(np.array_equal(actions, other) for other in fitting):
            continue  # a board of one row is the same upside down
        if all(_follows(actions, *each) for each in symmetries) and _shows(actions, moves):
            fitting.append(actions)
    # Moves from a cell to a cell fit by either.
    is_certain = len(fitting) == 1 or (
        len(fitting) == 2 and np.array_equal(fitting[1], _swapped(fitting[0]))
    )
    return fitting[0] if is_certain else None


def _usual_numberings(game: Game) -> Iterator[Ints]:
    """Cells row by row from the top or the bottom; all kinds of a cell together, or all cells."""
    if len(game.observation_shape) != 3:
        return
    rows, cols = game.observation_shape[1:]
    kinds, others = divmod(game.num_actions, rows * cols)
    if kinds == 0 or others > _MOST_OTHERS or rows * cols == 1:
        return
    numbers = np.arange(kinds * rows * cols)
    by_kind = numbers.reshape(kinds, rows, cols)
    by_cell = numbers.reshape(rows, cols, kinds).transpose(2, 0, 1)
    for actions in (by_kind, by_cell) if kinds > 1 else (by_kind,):
        yield actions
        yield actions[:, ::-1]


def _swapped(actions: Ints) -> Ints:
    """Kind k of each cell becomes that cell's kind of cell k, if there are as many of both."""
    kinds, cells = len(actions), actions[0].size
    if kinds != cells:
        return actions
    return actions.reshape(kinds, cells).T.reshape(actions.shape)


def _cell_symmetries(game: Game) -> Iterator[tuple[Ints, Ints]]:
    """Of each symmetry: the cell that every cell becomes, and the action that every action does.

    One that does not move whole cells makes them all cell -1, which no action follows.
    """
    shape = tuple(game.observation_shape)
    cells = shape[1] * shape[2]
    for symmetry in game.symmetries():
        numbered = np.broadcast_to(np.arange(cells).reshape(shape[1:]), shape)
        turned = np.asarray(symmetry.planes(numbered.copy())).reshape(shape[0], -1)
        became = np.asarray(symmetry.actions, np.int64)
        if (turned == turned[0]).all() and set(turned[0].tolist()) == set(range(cells)):
            yield np.argsort(turned[0]), became
        else:
            yield np.full(cells, NOWHERE), became


def _follows(actions: Ints, cell_became: Ints, action_became: Ints) -> bool:
    """Whether every action becomes one at the cell that its own becomes; others stay others."""
    places = action_places(actions, len(action_became))
    cells = np.where(places == NOWHERE, NOWHERE, places % len(cell_became))
    expected = np.where(cells == NOWHERE, NOWHERE, cell_became[cells])
    return bool((cells[action_became] == expected).all())


def _first_moves(game: Game) -> dict[int, NDArray[np.float32]]:
    """The observation after each of some first moves, while the game goes on."""
    start, seen = game.new_state(), {}
    legal = [] if start.to_play == CHANCE else game.legal(start)
    for action in legal[:: -(-len(legal) // _TRIED_MOVES) or 1]:
        state = game.copy(start)
        game.apply(state, action)
        if not state.is_over and state.to_play != CHANCE:
            seen[action] = game.observation(state)
    return seen


def _shows(actions: Ints, seen: dict[int, NDArray[np.float32]]) -> bool:
    """Whether observations after two moves always differ at the cells of both."""
    places = action_places(actions, int(actions.max()) + 1)
    moves = {action: places[action] for action in seen if action < len(places)}
    pairs = itertools.pairwise(moves.items())
    is_seen = False
    for (first, place), (second, other) in pairs:
        cells = place % actions[0].size, other % actions[0].size
        if cells[0] != cells[1]:
            differs = (seen[first] != seen[second]).any(0).ravel()
            is_seen = True
            if not differs[list(cells)].all():
                return False
    return is_seen
