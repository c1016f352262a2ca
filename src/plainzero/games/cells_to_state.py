"""A game's drawing turned around: from the texts of a board back to the numbers of a field.

One field of whole numbers has the board's shape, and each number is drawn as a text of its own. The
way back is taken only where it returns the positions of a trial game and they go on as they did
there: a game that remembers more than it draws has to fill in its state itself.
"""

import functools
import itertools
import random
from typing import NamedTuple

import numpy as np

from plainzero.games.contract import CHANCE, Game, State

Cells = list[list[str]]

_MOST_VALUES = 64  # numbers tried in a cell, on each side of zero
_TRIAL_PLIES = 60
_TRIAL_POSITIONS = 12


class Drawing(NamedTuple):
    """The field that a board draws, and the number behind each text."""

    field: str
    values: dict[str, int]


@functools.lru_cache(maxsize=64)
def find_drawing(game: Game) -> Drawing | None:
    """The one field that the board draws, where it alone makes the position."""
    first = drawn_cells(game, game.new_state())
    if not first:
        return None
    shape = (len(first), len(first[0]))
    names = [
        name
        for name, field in game.fields().items()
        if field.dtype.kind in "iu" and field.shape in (shape, (shape[0] * shape[1],))
    ]
    # Numbers below zero only where the others do not do: they may index from the end in Python.
    for lowest in (0, -_MOST_VALUES):
        drawings = [Drawing(name, _probe_values(game, name, lowest)) for name in names]
        drawings = [drawing for drawing in drawings if len(drawing.values) > 1]
        if len(drawings) == 1 and _survives_trial(game, drawings[0]):
            return drawings[0]
    return None


def drawn_cells(game: Game, state: State) -> Cells:
    """The board's texts; none where the game draws no board."""
    grid = game.view(state)
    return [] if grid is None else grid.cells


def draw_back(game: Game, drawing: Drawing, cells: Cells) -> State:
    """A new state with the numbers behind the texts; the other fields are as `reset` sets them.

    Raises:
        ValueError: for a text behind which there is no number.
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
    """The number behind each text: 0, 1, 2, … and -1, -2, … while the game can make sense of it."""
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
    """How a number in the first cell is drawn, None where a rule or the drawing fails on it."""
    state = game.new_state()
    state[name].flat[0] = number
    try:
        game.legal(state)
        game.observation(state)
        cells = drawn_cells(game, state)
    except Exception:  # whatever a game raises about a number that it never writes itself
        return None
    return cells[0][0] if cells else None


def _survives_trial(game: Game, drawing: Drawing) -> bool:
    """Whether positions of a random game, drawn back, go on as they did in that game."""
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
    # Alone one plays for a score, and what was scored before is rarely drawn.
    same_score = game.num_players == 1 or np.array_equal(state.returns, states[-1].returns)
    return bool(same_score and state.is_over == states[-1].is_over)
