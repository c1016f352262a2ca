"""Exact values of the bundled games with chance that can be solved: Pig and sensor-jammer.

A value is the first player's expected return if both play perfectly. For other players and draws:
(1 + value) / 2 is the chance to win, a draw counting half.
"""

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.pig import Pig
from plainzero.games.bundled.sensor_jammer import SensorJammer
from plainzero.games.contract import CHANCE, Game
from plainzero.opponents.agent import require_choices
from plainzero.opponents.pig_values import MOST_POINTS, PigValues
from plainzero.opponents.sensor_jammer_values import SensorJammerValues

TIE = 1e-9
"""Moves whose values differ by less are equally good."""

Lookup = Callable[[Any], float | None]
"""The stored value of a position that is not over; None if it is that of what follows."""


def has_exact_values(game: Game) -> bool:
    """Whether `exact_values` solves the game."""
    return isinstance(game, SensorJammer) or (isinstance(game, Pig) and game.target <= MOST_POINTS)


@functools.lru_cache(maxsize=2)
def exact_values(game: Game) -> "ExactValues":
    """The game solved, which takes some seconds; the last two are cached.

    Raises:
        ValueError: for other games, and for Pig to more points than fit in memory.
    """
    if isinstance(game, SensorJammer):
        return ExactValues(game, SensorJammerValues(game))
    if isinstance(game, Pig) and has_exact_values(game):
        return ExactValues(game, PigValues(game))
    raise ValueError(
        f"there are no exact values of {game.name}; solved are sensor-jammer, and pig to at most "
        f"{MOST_POINTS} points"
    )


class ExactValues:
    """Values of all positions of a game, from a table and the rules."""

    def __init__(self, game: Game, look_up: Lookup) -> None:
        """Of a two-player game, from the values that `look_up` knows."""
        self.game, self._look_up = game, look_up

    def value(self, state: Any) -> float:
        """The first player's expected return, whoever is to play."""
        if state.is_over:
            return float(state.returns[0])
        if state.to_play == CHANCE:
            return sum(p * self.value(self._after(state, a)) for a, p in self.game.chances(state))
        known = self._look_up(state)
        if known is not None:
            return known
        best = float(np.nanmax(self.moves(state)))
        return best if state.to_play == 0 else -best

    def moves(self, state: Any) -> NDArray[np.float64]:
        """[A]: the mover's expected return after each move; NaN for illegal moves."""
        values = np.full(self.game.num_actions, np.nan)
        sign = 1.0 if state.to_play == 0 else -1.0
        for action in self.game.legal(state):
            values[action] = sign * self.value(self._after(state, action))
        return values

    def _after(self, state: Any, action: int) -> Any:
        after = self.game.copy(state)
        self.game.apply(after, action)
        return after


class ExactAgent:
    """Plays a move with the highest exact value; equal moves are chosen at random."""

    name = "perfect"

    def __init__(self, game: Game) -> None:
        """An agent for a game with `has_exact_values`."""
        self.game, self._values = game, exact_values(game)

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """One of the best moves of each position."""
        require_choices(states)
        generator = random.Random(seed)
        return [generator.choice(self._best(state)) for state in states]

    def _best(self, state: Any) -> list[int]:
        values = self._values.moves(state)
        best: list[int] = np.flatnonzero(values > np.nanmax(values) - TIE).tolist()
        return best
