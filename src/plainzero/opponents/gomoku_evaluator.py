"""An evaluator for Gomoku that recognises fives, fours and threes.

Unlike everything else here, it uses human knowledge of the game. It does not search. A stone on an
empty point makes a shape in each of the four lines through it, which depends on the five cells on
either side: a table holds the shape for all 3^10 such surroundings. The shapes at a point determine
what a stone of either player would achieve there; all points together give the prior and the value.
It ignores captures, and points that are forbidden to the opponent.
"""

from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import NO_TAG
from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.contract import Game
from plainzero.opponents.gomoku_evaluator_kernels import (
    WEIGHTS,
    Sight,
    Weights,
    judge_positions,
    make_sight,
)
from plainzero.opponents.gomoku_shapes import make_lines
from plainzero.search.config import SearchConfig


class ThreatsEvaluator:
    """Priors and values of Gomoku positions from threes and fours; an evaluator for `search`.

    Args:
        game: gomoku of any size and rule.
        weights: of shapes and threats in prior and value.

    Raises:
        ValueError: for another game.
    """

    def __init__(self, game: Game, weights: Weights = WEIGHTS) -> None:  # noqa: D107
        if not has_threats(game):
            raise ValueError(
                f"the threats agent plays gomoku only, not {game.name}; "
                "choose another agent, such as uct:1000"
            )
        self.game = game
        self.weights = weights
        self._lines = make_lines(game.size)

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits [B, A] and values [B] of observations [B, *shape]."""
        return self.judge(planes, make_sight(self.game.num_actions))

    def judge(
        self, planes: NDArray[np.float32], sight: Sight
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """As calling the evaluator; `sight` keeps the shapes of the last position."""
        game = self.game
        logits = np.zeros((len(planes), game.num_actions), np.float32)
        values = np.zeros(len(planes), np.float32)
        is_exact = np.full((len(planes), 2), game.is_standard)
        if game.is_renju:
            is_exact[:, 0] = planes[:, 2, 0, 0] > 0
            is_exact[:, 1] = ~is_exact[:, 0]
        position = np.ascontiguousarray(planes, np.float32), is_exact, game.is_renju
        judge_positions(NO_TAG, self._lines, self.weights, sight, *position, logits, values)
        return logits, values


def has_threats(game: Game) -> TypeGuard[Gomoku]:
    """Whether the evaluator works for the game."""
    return isinstance(game, Gomoku)


def make_config(simulations: int) -> SearchConfig:
    """The search options that suit the evaluator.

    Untried moves count slightly less than their parent: when a four must be answered, the two
    hundred other moves would otherwise all look better than a good answer.
    """
    return SearchConfig(simulations=simulations, proven_values=True, fpu="reduction")
