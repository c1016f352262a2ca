"""Inference engines behind one protocol: observations in, logits and values out.

Each engine gives what PyTorch gives in float32, within its tolerance below. An instance serves one
caller at a time; several may run in threads of their own, PyTorch and ONNX Runtime let go of
Python's lock while they compute.
"""

import importlib.util
import time
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plainzero.games.contract import Game
from plainzero.networks.sample_positions import random_positions

ENGINES = ("torch", "torch-bf16", "torch-int8", "onnx")
"""Every engine of the CPU; `available_engines` says which of them can run here."""

CUDA_ENGINES = ("cuda-bf16", "cuda-float32")
"""Those of a GPU."""

MEASURING_SECONDS = 0.5
"""How long `choose_engine` measures, all engines together."""

TOLERANCES = {
    "torch": 1e-4,
    "torch-bf16": 2e-2,
    "torch-int8": 5e-2,
    "onnx": 1e-4,
    "cuda-bf16": 2e-2,  # as cuda_engine.py has it
    "cuda-float32": 1e-3,
}
"""The largest `disagreement` with PyTorch in float32, by engine."""

_BF16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "arm_bf16")
_INT8_INSTRUCTIONS = ("avx512_vnni", "avx_vnni", "amx_int8")

Floats = NDArray[np.float32]


class NetworkEvaluator(Protocol):
    """What self-play and search call."""

    engine: str

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits [B, A] and values [B] or [B, players] of observations [B, *shape].

        The arrays are the caller's: later calls do not change them.
        """

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape; the next call uses them."""


def make_evaluator(
    network: nn.Module, game: Game, engine: str = "auto", batch_size: int = 256, threads: int = 1
) -> NetworkEvaluator:
    """An evaluator with its own copy of the network's weights.

    Args:
        network: of `make_network`.
        game: the one it was made for.
        engine: of `ENGINES` or `CUDA_ENGINES`, or auto for the fastest on the CPU.
        batch_size: what `auto` measures with; calls may have any size.
        threads: that one call may use.

    Raises:
        ValueError: for an engine that is none, or that cannot run here.
    """
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be 1 or more")
    if engine == "auto":
        engine = choose_engine(network, game, batch_size, threads)
    check_engine(engine, network)
    if engine in CUDA_ENGINES:
        from plainzero.networks.gpu.backend import CudaEvaluator

        return CudaEvaluator(network, game, is_bf16=engine == "cuda-bf16", rows=batch_size)
    if engine == "onnx":
        from plainzero.networks.backends.onnx_backend import OnnxEvaluator

        return OnnxEvaluator(network, game, threads)
    if engine == "torch-int8":
        from plainzero.networks.backends.int8_backend import Int8Evaluator

        return Int8Evaluator(network, game, threads)
    from plainzero.networks.backends.torch_backend import TorchEvaluator

    return TorchEvaluator(network, threads, is_bf16=engine == "torch-bf16")


def available_engines(network: nn.Module) -> list[str]:
    """The engines that can run this network here."""
    return [engine for engine in ENGINES if not _obstacle(engine, network)]


def choose_engine(network: nn.Module, game: Game, batch_size: int = 256, threads: int = 1) -> str:
    """The engine that evaluates most positions a second, measured for half a second in all.

    One that says something else of positions of random play than PyTorch in float32, beyond its
    tolerance, is not taken.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be 1 or more")
    planes = random_positions(game, batch_size)
    reference = make_evaluator(network, game, "torch", threads=threads)
    expected = reference(planes)
    candidates = [reference]
    for engine in set(available_engines(network)) - {"torch"}:
        evaluator = make_evaluator(network, game, engine, threads=threads)
        if disagreement(evaluator(planes), expected) <= TOLERANCES[engine]:
            candidates.append(evaluator)
    return _fastest(candidates, planes)


def disagreement(answers: tuple[Floats, Floats], expected: tuple[Floats, Floats]) -> float:
    """The larger of the root mean squares of the differences, in logits and in values."""
    pairs = zip(answers, expected, strict=True)
    return max(float(np.sqrt(np.square(given - wanted).mean())) for given, wanted in pairs)


def _fastest(evaluators: list[NetworkEvaluator], planes: Floats) -> str:
    best = {evaluator.engine: float("inf") for evaluator in evaluators}
    end = time.perf_counter() + MEASURING_SECONDS
    while time.perf_counter() < end:
        for evaluator in evaluators:  # in turn, so that a busy moment meets all of them
            start = time.perf_counter()
            evaluator(planes)
            best[evaluator.engine] = min(best[evaluator.engine], time.perf_counter() - start)
    return min(best, key=lambda engine: best[engine])


def check_engine(engine: str, network: nn.Module) -> None:
    """Refuses an engine that is none, or that cannot run the network here.

    Raises:
        ValueError: says why, and what to do.
    """
    engines = (*ENGINES, *CUDA_ENGINES)
    if engine not in engines:
        raise ValueError(f"there is no engine {engine!r}; choose auto, {', '.join(engines)}")
    if obstacle := _obstacle(engine, network):
        raise ValueError(f"engine {engine} {obstacle}")


def _obstacle(engine: str, network: nn.Module) -> str:
    """What keeps the engine from running the network here, and what to do; nothing if it can."""
    config: Any = getattr(network, "config", None)
    if engine in CUDA_ENGINES and not torch.cuda.is_available():
        return "needs an NVIDIA GPU and a PyTorch with CUDA: choose auto"
    if engine == "cuda-bf16" and not has_cuda_bf16():
        return "needs a GPU that multiplies bf16 numbers itself: choose cuda-float32"
    if engine == "torch-bf16" and not _has_instructions(_BF16_INSTRUCTIONS):
        return "needs a processor that multiplies bf16 numbers itself: choose auto"
    if engine == "torch-int8" and getattr(config, "kind", "") != "residual":
        return "needs a residual network: choose auto"
    if engine == "torch-int8" and not _has_instructions(_INT8_INSTRUCTIONS):
        return "needs a processor with VNNI instructions: choose auto"
    if engine == "onnx" and not all(map(importlib.util.find_spec, ("onnx", "onnxruntime"))):
        return "is not installed: pip install 'plainzero[onnx]'"
    return ""


def choose_cuda_engine() -> str:
    """The engine for the GPU that PyTorch works with."""
    return "cuda-bf16" if has_cuda_bf16() else "cuda-float32"


def has_cuda_bf16() -> bool:
    """Whether the GPU that PyTorch works with multiplies bf16 numbers itself."""
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= (8, 0)


def _has_instructions(names: tuple[str, ...]) -> bool:
    """Whether this processor has one of these kinds of instructions."""
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in names)
