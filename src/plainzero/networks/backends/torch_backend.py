"""PyTorch on the CPU, in float32 or in bf16, with channels last.

In bf16 the last layer of each head stays in float32, so that large logits and values near 1 keep
their digits.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Floats = NDArray[np.float32]


class TorchEvaluator:
    """See `NetworkEvaluator`."""

    def __init__(self, network: nn.Module, threads: int, is_bf16: bool) -> None:
        """Copies the network."""
        self.backend = "torch-bf16" if is_bf16 else "torch"
        self._dtype = torch.bfloat16 if is_bf16 else torch.float32
        self._threads = threads
        self.load(network)

    def load(self, network: nn.Module) -> None:
        """Takes a copy of the weights."""
        copied: Any = copy.deepcopy(network).eval().requires_grad_(False)
        original: Any = network
        copied.to(dtype=self._dtype, memory_format=torch.channels_last)
        if self._dtype != torch.float32:
            copied.policy[-1] = _Float32Linear(original.policy[-1])
            copied.value[-1] = _Float32Linear(original.value[-1])
        self._network = copied

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        with torch.inference_mode(), torch_threads(self._threads):
            batch = torch.from_numpy(planes).to(self._dtype)
            if batch.ndim == 4:
                batch = batch.contiguous(memory_format=torch.channels_last)
            output = self._network(batch)
            return output.logits.numpy(), output.values.numpy()


class _Float32Linear(nn.Module):
    """A copy of a layer that computes in float32, whatever the type of its input."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = copy.deepcopy(layer).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layer(x.float())
        return result


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Within, PyTorch uses `threads` threads for calls from this Python thread."""
    before = torch.get_num_threads()
    if before == threads:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
