"""ONNX Runtime on the CPU, in float32."""

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from tesuji.games.contract import Game
from tesuji.networks.exporting import onnx_bytes

Floats = NDArray[np.float32]


class OnnxEvaluator:
    """See `NetworkEvaluator`."""

    engine = "onnx"

    def __init__(self, network: nn.Module, game: Game, threads: int) -> None:
        """Exports the network and opens it."""
        self._game, self._threads = game, threads
        self.load(network)

    def load(self, network: nn.Module) -> None:
        """Exports the network anew; a call that is under way goes on with the old one."""
        self._session = open_session(onnx_bytes(network, self._game), self._threads)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        logits, values = self._session.run(None, {"planes": planes})
        return logits, values


def open_session(model: bytes, threads: int) -> Any:
    """A session of ONNX Runtime on the CPU whose threads do not spin while they wait."""
    onnxruntime = importlib.import_module("onnxruntime")  # optional, and without types
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
