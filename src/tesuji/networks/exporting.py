"""A network as an ONNX file, checked by running it."""

import io
import warnings
from typing import Any

import torch
from torch import Tensor, nn

from tesuji.games.contract import Game

TOLERANCE = 1e-4
"""How far ONNX Runtime's answers may lie from PyTorch's, in units of 1 + the largest of them."""

_OPSET = 17


class ExportError(ValueError):
    """A network whose ONNX file does not say what the network says."""


def onnx_bytes(network: nn.Module, game: Game) -> bytes:
    """The network in ONNX: `planes` [B, *shape] in, `logits` and `values` out, B free."""
    example = torch.zeros((2, *game.observation_shape))
    file: Any = io.BytesIO()  # which the signature leaves out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's own deprecations
        torch.onnx.export(
            _Pair(network).eval(),
            (example,),
            file,
            input_names=["planes"],
            output_names=["logits", "values"],
            dynamic_axes={name: {0: "batch"} for name in ("planes", "logits", "values")},
            opset_version=_OPSET,
            dynamo=False,
        )
    return bytes(file.getvalue())


class _Pair(nn.Module):
    """Logits and values only."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        output: Any = self.network(planes)
        return output.logits, output.values
