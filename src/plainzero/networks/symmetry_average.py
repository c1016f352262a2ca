"""An evaluator that looks at each position in every way the game allows to turn it."""

import numpy as np
from numpy.typing import NDArray
from torch import nn

from plainzero.games.contract import Game
from plainzero.games.symmetries import symmetry_tables
from plainzero.networks.network_evaluators import NetworkEvaluator

Floats = NDArray[np.float32]


class AveragingEvaluator:
    """The mean over a game's symmetries of what another evaluator says; see `NetworkEvaluator`.

    Logits are averaged, not probabilities: what an evaluator says of illegal moves, which it cannot
    know to be illegal, then has no part in the policy over the legal ones. A batch of B positions
    becomes one call with B times as many as there are symmetries, the identity counted.
    """

    def __init__(self, evaluator: NetworkEvaluator, game: Game) -> None:
        """Wraps the evaluator, which must be used by nobody else at the same time."""
        self.engine = evaluator.engine
        self._evaluator = evaluator
        self._planes_index, actions_index = symmetry_tables(game)
        self._back_index = np.argsort(actions_index, axis=1)  # [S, A]

    def load(self, network: nn.Module) -> None:
        """Takes new weights."""
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
    """Over the symmetries [B, S, …]; in float64, where their order makes no difference."""
    mean: NDArray[np.float64] = answers.mean(1, dtype=np.float64)
    return mean.astype(np.float32)
