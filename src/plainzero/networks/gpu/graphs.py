"""CUDA graphs of what PyTorch and Numba do on a GPU, and streams for them."""

import functools
from collections.abc import Callable
from typing import Any

import torch

_BEFORE_OTHERS = -1  # priority of a stream; 0 is the lowest


def record(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """A function that replays all that `work` does on the GPU; on a CPU, `work` itself."""
    if device.type != "cuda":
        return work
    graph, stream = torch.cuda.CUDAGraph(), _recording_stream(device)
    torch.cuda.synchronize(device)
    # Relaxed, because Numba may free memory during capture, which is not part of the graph.
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
        work()
    return graph.replay


@functools.cache
def _recording_stream(device: torch.device) -> Any:
    """One stream for all: cuBLAS keeps memory for every stream on which it was recorded."""
    return new_stream(device, _BEFORE_OTHERS)


def new_stream(device: torch.device, priority: int = 0) -> Any:
    """A new stream on the device; a lower number is a higher priority."""
    make_stream: Any = torch.cuda.Stream
    return make_stream(device, priority=priority)
