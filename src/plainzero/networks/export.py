"""Networks as ONNX files, verified by running them."""

import copy
import importlib
import importlib.util
import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from plainzero.atomic_files import write_whole
from plainzero.games.contract import Game

TOLERANCE = 1e-4
"""Largest difference of ONNX Runtime from PyTorch, relative to 1 + the largest output."""

_OPSET = 17


class ExportError(ValueError):
    """A network cannot be exported, or its file gives other results."""


def export_onnx(network: nn.Module, game: Game, path: Path | str) -> None:
    """Writes the network as an ONNX file, after comparing ONNX Runtime with PyTorch.

    The model takes `planes` [B, *shape] and returns `logits` [B, A] and `values`, for any B.

    Raises:
        ExportError: when ONNX Runtime is not installed, or differs from PyTorch; no file is
            written then.
        OSError: when the file cannot be written.
    """
    if not all(map(importlib.util.find_spec, ("onnx", "onnxruntime"))):
        raise ExportError("an export needs ONNX Runtime to check it: pip install 'plainzero[onnx]'")
    network = copy.deepcopy(network).eval()
    model = onnx_bytes(network, game)
    check_onnx(network, game, model)
    write_whole(Path(path), model)


def check_onnx(network: nn.Module, game: Game, model: bytes) -> None:
    """Refuses an ONNX model that differs from the network, on batches of several sizes.

    Raises:
        ExportError: says how far apart they are.
    """
    session = open_session(model, threads=1)
    generator = np.random.default_rng(0)
    for batch_size in (1, 2, 33):
        planes = generator.random((batch_size, *game.observation_shape), np.float32)
        with torch.inference_mode():
            output: Any = network(torch.from_numpy(planes))
        answers = session.run(["logits", "values"], {"planes": planes})
        for name, answer in zip(("logits", "values"), answers, strict=True):
            expected = getattr(output, name).numpy()
            difference = np.abs(answer - expected).max() / (1 + np.abs(expected).max())
            if answer.shape != expected.shape or not difference <= TOLERANCE:
                raise ExportError(
                    f"the {name} of the ONNX model differ from PyTorch's by {difference:.2g}; "
                    f"at most {TOLERANCE:g} is allowed, so the file was not written"
                )


def open_session(model: bytes, threads: int) -> Any:
    """A session of ONNX Runtime on the CPU whose threads do not spin while they wait."""
    onnxruntime = importlib.import_module("onnxruntime")  # optional, and without types
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def onnx_bytes(network: nn.Module, game: Game) -> bytes:
    """The network as an ONNX model: `planes` [B, *shape] to `logits` and `values`, for any B."""
    example = torch.zeros((2, *game.observation_shape))
    file: Any = io.BytesIO()  # missing in the signature
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's deprecation warnings
        torch.onnx.export(
            _Pair(copy.deepcopy(network)).eval(),
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
