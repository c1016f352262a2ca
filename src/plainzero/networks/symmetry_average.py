"""An evaluator that averages over the symmetries of a game."""

import numpy as np
from numpy.typing import NDArray
from torch import nn

from plainzero.games.contract import Game
from plainzero.games.symmetries import symmetry_tables
from plainzero.networks.network_evaluators import NetworkEvaluator

Floats = NDArray[np.float32]


class AveragingEvaluator:
    """The mean of another evaluator's output over a game's symmetries; see `NetworkEvaluator`.

    Logits are averaged, not probabilities: those of illegal moves, which an evaluator does not know
    to be illegal, then do not affect the policy over the legal ones. B positions and S symmetries,
    including the identity, become one call with B · S positions.
    """

    def __init__(self, evaluator: NetworkEvaluator, game: Game) -> None:
        """Wraps the evaluator, which must have no other caller at the same time."""
        self.backend = evaluator.backend
        self._evaluator = evaluator
        self._planes_index, actions_index = symmetry_tables(game)
        self._back_index = np.argsort(actions_index, axis=1)  # [S, A]

    def load(self, network: nn.Module) -> None:
        """See `NetworkEvaluator`."""
        self._evaluator.load(network)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        batch, count = len(planes), len(self._planes_index)
        turned = planes.reshape(batch, -1)[:, self._planes_index]  # [B, S, prod(shape)]
        logits, values = self._evaluator(turned.reshape(batch * count, *planes.shape[1:]))
        back = self._back_index[None].repeat(batch, 0)
        turned_back = np.take_along_axis(logits.reshape(batch, count, -1), back, 2)
        values = values.reshape(batch, count, *values.shape[1:])
        return _mean(turned_back), _mean(values)


def _mean(answers: Floats) -> Floats:
    """The mean over the symmetries of [B, S, …]; in float64, so that their order has no effect."""
    mean: NDArray[np.float64] = answers.mean(1, dtype=np.float64)
    return mean.astype(np.float32)
