"""PyTorch on the CPU, in float32 or in bf16, with channels last."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plainzero.networks.architectures import Network, copy_in

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
        self._network = copy_in(self._dtype, cast(Network, network))

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        with torch.inference_mode(), torch_threads(self._threads):
            batch = torch.from_numpy(planes).to(self._dtype)
            if batch.ndim == 4:
                batch = batch.contiguous(memory_format=torch.channels_last)
            output = self._network(batch)
            return output.logits.numpy(), output.values.numpy()


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
