"""Perfect play of Pig, by backward induction over the decisions left.

With no decision left the game is drawn. The values with n decisions left follow from those with
n - 1; as n grows they converge to the values without a limit (value iteration; Neller and Presser,
"Optimal Play of the Dice Game Pig", 2004). Layers beyond convergence are all the same.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.pig import Pig

MOST_POINTS = 200
"""The highest target solved: a layer then has 8 million values."""

_CONVERGED = 1e-12  # largest difference between two layers that count as the same
_CACHED_LAYERS = 16

Layer = NDArray[np.float64]
"""[opponent's points, mover's points, mover's points with the turn's total]: the mover's value."""


class PigValues:
    """The first player's value in each position in which a player is to move."""

    def __init__(self, game: Pig) -> None:
        """Solves the game."""
        self._game = game
        self._limit, self._converged = self._induce(game.horizon)
        self._layer = functools.lru_cache(_CACHED_LAYERS)(self._compute)

    def __call__(self, state: Any) -> float:
        """The value of a position that is not over."""
        mover, total = int(state.to_play), int(state.total)
        own, other = int(state.scores[mover]), int(state.scores[1 - mover])
        layer = self._layer(min(self._game.horizon - int(state.decisions), self._converged))
        value = 1.0 if own + total >= self._game.target else float(layer[other, own, own + total])
        return value if mover == 0 else -value

    def _compute(self, left: int) -> Layer:
        """The values with that many decisions left."""
        return self._limit if left == self._converged else self._induce(left)[0]

    def _induce(self, left: int) -> tuple[Layer, int]:
        """The values with `left` decisions left, or after fewer if they have converged."""
        target, die = self._game.target, self._game.die
        layer = np.zeros((target, target, target + die))
        for done in range(left):
            before = layer
            layer = np.ones_like(before)  # whoever has enough points holds, and wins
            layer[:, :, :target] = self._decide(before)
            if np.abs(layer - before).max() < _CONVERGED:
                return layer, done + 1
        return layer, left

    def _decide(self, before: Layer) -> Layer:
        """The better of rolling and holding, with one decision more left than in `before`."""
        target, die = self._game.target, self._game.die
        points = np.arange(target)
        # [points of who has held, points of who then moves with a total of 0]
        passed_on = -before[:, points, points]
        hold = passed_on.T[:, None, :]
        roll = np.repeat(passed_on.T[:, :, None], target, axis=2)  # a one loses the total
        for face in range(2, die + 1):
            roll += before[:, :, face : face + target]
        better: Layer = np.maximum(roll / die, hold)
        return better
