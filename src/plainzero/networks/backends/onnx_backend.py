"""ONNX Runtime on the CPU, in float32."""

import numpy as np
from numpy.typing import NDArray
from torch import nn

from plainzero.games.contract import Game
from plainzero.networks.export import onnx_bytes, open_session

Floats = NDArray[np.float32]


class OnnxEvaluator:
    """See `NetworkEvaluator`."""

    backend = "onnx"

    def __init__(self, network: nn.Module, game: Game, threads: int) -> None:
        """Exports the network and opens it."""
        self._game, self._threads = game, threads
        self.load(network)

    def load(self, network: nn.Module) -> None:
        """Exports the network anew; a running call keeps the old one."""
        self._session = open_session(onnx_bytes(network, self._game), self._threads)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        logits, values = self._session.run(None, {"planes": planes})
        return logits, values
