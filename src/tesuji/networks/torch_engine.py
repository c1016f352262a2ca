"""PyTorch on the CPU, in float32 or in bf16 with channels last."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

Floats = NDArray[np.float32]


class TorchEvaluator:
    """See `NetworkEvaluator`."""

    def __init__(self, network: nn.Module, threads: int, is_bf16: bool) -> None:
        """Copies the network."""
        self.engine = "torch-bf16" if is_bf16 else "torch"
        self._dtype = torch.bfloat16 if is_bf16 else torch.float32
        self._threads = threads
        self.load(network)

    def load(self, network: nn.Module) -> None:
        """Takes a copy of the weights."""
        copied: Any = copy.deepcopy(network).eval().requires_grad_(False)
        self._network = copied.to(dtype=self._dtype, memory_format=torch.channels_last)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        with torch.inference_mode(), torch_threads(self._threads):
            batch = torch.from_numpy(planes).to(self._dtype)
            if batch.ndim == 4:
                batch = batch.contiguous(memory_format=torch.channels_last)
            output = self._network(batch)
            return output.logits.float().numpy(), output.values.float().numpy()


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Calls of PyTorch from this Python thread use so many threads; other threads are not told."""
    before = torch.get_num_threads()
    if before == threads:
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
