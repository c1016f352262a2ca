"""Backends behind one protocol: observations in, logits and values out.

Each backend agrees with PyTorch in float32 within its tolerance below. An instance serves one
caller at a time; several can run in different threads, because PyTorch and ONNX Runtime release
Python's lock while they compute.
"""

import importlib.util
import time
from typing import Any, Protocol

import llvmlite.binding as llvm
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plainzero.games.contract import Game
from plainzero.networks.sample_positions import random_positions
from plainzero.search.evaluators import HostEvaluator

CPU_BACKENDS = ("torch", "torch-bf16", "torch-int8", "onnx")
"""The backends for a CPU; `available_backends` says which of them run here."""

GPU_BACKENDS = ("gpu-bf16", "gpu-float32")
"""The backends for a GPU."""

MEASURING_SECONDS = 0.5
"""Time in which `choose_backend` measures all backends."""

TOLERANCES = {
    "torch": 1e-4,
    "torch-bf16": 2e-2,
    "torch-int8": 5e-2,
    "onnx": 1e-4,
    "gpu-bf16": 2e-2,  # as networks/gpu/backend.py has it
    "gpu-float32": 1e-3,
}
"""The largest `disagreement` with PyTorch in float32, by backend."""

_BF16_INSTRUCTIONS = ("avx512bf16", "amx-bf16", "bf16")
_INT8_INSTRUCTIONS = ("avx512vnni", "avxvnni", "amx-int8")

Floats = NDArray[np.float32]


class NetworkEvaluator(HostEvaluator, Protocol):
    """A network as self-play and search call it."""

    backend: str

    def __call__(self, planes: Floats, /) -> tuple[Floats, Floats]:
        """Logits [B, A] and values [B] or [B, players] of observations [B, *shape].

        The caller owns the arrays: later calls do not change them.
        """

    def load(self, network: nn.Module) -> None:
        """Replaces the weights by those of a network of the same shape, from the next call on."""


def make_evaluator(
    network: nn.Module, game: Game, backend: str = "auto", batch_size: int = 256, threads: int = 1
) -> NetworkEvaluator:
    """An evaluator with its own copy of the network's weights.

    Args:
        network: from `make_network`.
        game: the game it was made for.
        backend: one of `CPU_BACKENDS` or `GPU_BACKENDS`, or auto for the fastest on the CPU.
        batch_size: the size that `auto` measures; calls may have any size.
        threads: the number of threads that one call uses.

    Raises:
        ValueError: for an unknown backend, or one that cannot run here.
    """
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be 1 or more")
    if backend == "auto":
        backend = choose_backend(network, game, batch_size, threads)
    check_backend(backend, network)
    if backend in GPU_BACKENDS:
        from plainzero.networks.gpu.backend import GpuNetworkEvaluator

        return GpuNetworkEvaluator(network, game, is_bf16=backend == "gpu-bf16", rows=batch_size)
    if backend == "onnx":
        from plainzero.networks.backends.onnx_backend import OnnxEvaluator

        return OnnxEvaluator(network, game, threads)
    if backend == "torch-int8":
        from plainzero.networks.backends.int8_backend import Int8Evaluator

        return Int8Evaluator(network, game, threads)
    from plainzero.networks.backends.torch_backend import TorchEvaluator

    return TorchEvaluator(network, threads, is_bf16=backend == "torch-bf16")


def available_backends(network: nn.Module) -> list[str]:
    """The backends that can run this network here."""
    return [backend for backend in CPU_BACKENDS if not _obstacle(backend, network)]


def choose_backend(network: nn.Module, game: Game, batch_size: int = 256, threads: int = 1) -> str:
    """The backend that evaluates the most positions per second, measured in half a second.

    A backend that differs from PyTorch in float32 by more than its tolerance, on positions of
    random play, is left out.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be 1 or more")
    planes = random_positions(game, batch_size)
    reference = make_evaluator(network, game, "torch", threads=threads)
    expected = reference(planes)
    candidates = [reference]
    for backend in set(available_backends(network)) - {"torch"}:
        evaluator = make_evaluator(network, game, backend, threads=threads)
        if disagreement(evaluator(planes), expected) <= TOLERANCES[backend]:
            candidates.append(evaluator)
    return _fastest(candidates, planes)


def disagreement(answers: tuple[Floats, Floats], expected: tuple[Floats, Floats]) -> float:
    """The larger root mean square of the differences, of logits or of values."""
    pairs = zip(answers, expected, strict=True)
    return max(float(np.sqrt(np.square(given - wanted).mean())) for given, wanted in pairs)


def _fastest(evaluators: list[NetworkEvaluator], planes: Floats) -> str:
    best = {evaluator.backend: float("inf") for evaluator in evaluators}
    end = time.perf_counter() + MEASURING_SECONDS
    while time.perf_counter() < end:
        for evaluator in evaluators:  # in turn, so that a busy moment slows down all of them
            start = time.perf_counter()
            evaluator(planes)
            best[evaluator.backend] = min(best[evaluator.backend], time.perf_counter() - start)
    return min(best, key=lambda backend: best[backend])


def check_backend(backend: str, network: nn.Module) -> None:
    """Refuses an unknown backend, or one that cannot run the network here.

    Raises:
        ValueError: says why, and what to do.
    """
    backends = (*CPU_BACKENDS, *GPU_BACKENDS)
    if backend not in backends:
        raise ValueError(f"unknown backend {backend!r}; choose auto, {', '.join(backends)}")
    if obstacle := _obstacle(backend, network):
        raise ValueError(f"backend {backend} {obstacle}")


def _obstacle(backend: str, network: nn.Module) -> str:
    """Why the backend cannot run the network here, and what to do; empty if it can."""
    config: Any = getattr(network, "config", None)
    if backend in GPU_BACKENDS and not torch.cuda.is_available():
        return "needs an NVIDIA GPU and a PyTorch with CUDA: choose auto"
    if backend == "gpu-bf16" and not has_gpu_bf16():
        return "needs a GPU with bf16 arithmetic: choose gpu-float32"
    if backend == "torch-bf16" and not _has_instructions(_BF16_INSTRUCTIONS):
        return "needs a processor with bf16 instructions: choose auto"
    if backend == "torch-int8" and getattr(config, "kind", "") != "residual":
        return "needs a residual network: choose auto"
    if backend == "torch-int8" and not _has_instructions(_INT8_INSTRUCTIONS):
        return "needs a processor with VNNI instructions: choose auto"
    if backend == "onnx" and not all(map(importlib.util.find_spec, ("onnx", "onnxruntime"))):
        return "is not installed: pip install 'plainzero[onnx]'"
    return ""


def choose_gpu_backend() -> str:
    """The backend for the GPU that PyTorch uses."""
    return "gpu-bf16" if has_gpu_bf16() else "gpu-float32"


def has_gpu_bf16() -> bool:
    """Whether the GPU that PyTorch uses has bf16 arithmetic."""
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 0)


def _has_instructions(names: tuple[str, ...]) -> bool:
    """Whether this processor has one of these instruction sets, named as LLVM names them."""
    return any(llvm.get_host_cpu_features().get(name) for name in names)
