"""The inverse of a game's drawing: from the texts of a board back to the numbers of a field.

It exists if one integer field has the board's shape and each number is drawn as a different text.
It is used only if it reproduces the positions of a trial game and they continue as they did there:
a game that remembers more than it draws must fill in its state itself.
"""

import functools
import itertools
import random
from typing import NamedTuple

import numpy as np

from plainzero.games.contract import CHANCE, Game, State

Cells = list[list[str]]

_MOST_VALUES = 64  # numbers tried in a cell, on either side of zero
_TRIAL_PLIES = 60
_TRIAL_POSITIONS = 12


class Drawing(NamedTuple):
    """The field that a board draws, and the number behind each text."""

    field: str
    values: dict[str, int]


@functools.lru_cache(maxsize=64)
def find_drawing(game: Game) -> Drawing | None:
    """The one field that the board draws, if it alone determines the position."""
    first = drawn_cells(game, game.new_state())
    if not first:
        return None
    shape = (len(first), len(first[0]))
    names = [
        name
        for name, field in game.fields().items()
        if field.dtype.kind in "iu" and field.shape in (shape, (shape[0] * shape[1],))
    ]
    # Negative numbers only if the others fail: in Python they may index from the end.
    for lowest in (0, -_MOST_VALUES):
        drawings = [Drawing(name, _probe_values(game, name, lowest)) for name in names]
        drawings = [drawing for drawing in drawings if len(drawing.values) > 1]
        if len(drawings) == 1 and _survives_trial(game, drawings[0]):
            return drawings[0]
    return None


def drawn_cells(game: Game, state: State) -> Cells:
    """The board's texts; empty if the game draws no board."""
    grid = game.view(state)
    return [] if grid is None else grid.cells


def draw_back(game: Game, drawing: Drawing, cells: Cells) -> State:
    """A new state with the numbers behind the texts; the other fields are as `reset` sets them.

    Raises:
        ValueError: for a text without a number.
    """
    state = game.new_state()
    board = state[drawing.field]
    for place, text in enumerate(itertools.chain(*cells)):
        if text not in drawing.values:
            known = ", ".join(map(repr, drawing.values))
            raise ValueError(f"no cell of {game.name} can hold {text!r}; cells hold one of {known}")
        board.flat[place] = drawing.values[text]
    return state


def play_trial(game: Game, seed: int, plies: int) -> tuple[list[State], list[int]]:
    """The positions of a random game, or of its first plies, and what was played in each."""
    chance = random.Random(seed)
    states: list[State] = [game.new_state()]
    actions: list[int] = []
    while not states[-1].is_over and len(actions) < plies:
        actions.append(chance.choice(game.legal(states[-1])))
        states.append(game.copy(states[-1]))
        game.apply(states[-1], actions[-1])
    return states, actions


def _probe_values(game: Game, name: str, lowest: int) -> dict[str, int]:
    """The number behind each text: 0, 1, 2, … and -1, -2, … as long as the game accepts it."""
    limits = np.iinfo(game.fields()[name].dtype)
    upwards = range(min(_MOST_VALUES, limits.max + 1))
    downwards = range(-1, max(lowest, limits.min) - 1, -1)
    values: dict[str, int] = {}
    for numbers in (upwards, downwards):
        for number in numbers:
            text = _probe(game, name, number)
            if text is None or text in values:
                break
            values[text] = number
    return values


def _probe(game: Game, name: str, number: int) -> str | None:
    """How a number in the first cell is drawn; None if a rule or the drawing fails on it."""
    state = game.new_state()
    state[name].flat[0] = number
    try:
        game.legal(state)
        game.observation(state)
        cells = drawn_cells(game, state)
    except Exception:  # whatever a game raises for a number that it never writes
        return None
    return cells[0][0] if cells else None


def _survives_trial(game: Game, drawing: Drawing) -> bool:
    """Whether positions of a random game, inverted, continue as they did in that game."""
    states, actions = play_trial(game, seed=0, plies=_TRIAL_PLIES)
    plies = [ply for ply in range(len(actions)) if states[ply].to_play != CHANCE]
    step = len(plies) // _TRIAL_POSITIONS + 1
    return all(_goes_on_alike(game, drawing, states[i:], actions[i:]) for i in plies[::step])


def _goes_on_alike(game: Game, drawing: Drawing, states: list[State], actions: list[int]) -> bool:
    try:
        state = draw_back(game, drawing, drawn_cells(game, states[0]))
        state.to_play, state.turn = states[0].to_play, states[0].turn
        for before, action in zip(states, actions, strict=False):
            if drawn_cells(game, state) != drawn_cells(game, before):
                return False
            if state.to_play != before.to_play or game.legal(state) != game.legal(before):
                return False
            game.apply(state, action)
    except ValueError:
        return False
    # A single player plays for a score, and the score so far is rarely drawn.
    same_score = game.num_players == 1 or np.array_equal(state.returns, states[-1].returns)
    return bool(same_score and state.is_over == states[-1].is_over)
