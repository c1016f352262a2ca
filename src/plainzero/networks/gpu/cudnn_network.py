"""A residual network on a GPU in bf16: cuDNN's convolutions with bias, sum and ReLU in one call."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.networks.config import has_dense_heads
from plainzero.networks.gpu.cublas_heads import CublasHeads
from plainzero.networks.gpu.eager_network import EagerHeads
from plainzero.networks.torch_private import convolve_add_relu, convolve_relu

_CHANNELS_TOGETHER = 8  # cuDNN's convolutions on tensor cores want a multiple of these
_PAD = (1, 1)


class CudnnNetwork:
    """A residual network in bf16: one call of cuDNN per convolution, with its bias, sum and ReLU.

    The 1×1 convolutions of both heads are one, and so are the layers that read them if dense.
    """

    name, at_once = "cudnn", 0

    def __init__(self, network: Any, device: torch.device) -> None:
        """Copies the weights to the device."""
        self._config = network.config
        self._packed = _pack(network, device)
        self._heads: CublasHeads | EagerHeads
        if has_dense_heads(network.config):
            self._heads = CublasHeads(network, network.policy.reader.out_channels, device)
        else:
            self._heads = EagerHeads(network, device)

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
        fresh = _pack(network, self._packed[0].device)
        for mine, theirs in zip(self._packed, fresh, strict=True):
            mine.copy_(theirs)
        self._heads.load(network)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        with tuned_convolutions():  # the first call of each batch size tunes, later ones do not
            return self._evaluate(planes)

    def _evaluate(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        weights = iter(self._packed)
        stem = next(weights)
        x = self._padded(planes, stem.shape[1])
        x = convolve_relu(x, stem, next(weights), _PAD)
        for _ in range(self._config.blocks):
            inner = convolve_relu(x, next(weights), next(weights), _PAD)
            x = convolve_add_relu(inner, next(weights), x, next(weights), _PAD)
        read = convolve_relu(x, next(weights), next(weights), (0, 0))
        return self._heads(read.permute(0, 2, 3, 1))

    def _padded(self, planes: Tensor, channels: int) -> Tensor:
        """The planes in bf16, channels last, with zeros as additional channels."""
        shape, last = (len(planes), channels, *planes.shape[2:]), torch.channels_last
        x = torch.empty(shape, dtype=torch.bfloat16, device=planes.device, memory_format=last)
        x[:, planes.shape[1] :].zero_()
        x[:, : planes.shape[1]].copy_(planes)
        return x


class _Tuning:
    """How many callers want cuDNN's benchmark switched on, and what it was before the first."""

    lock, callers, before = threading.Lock(), 0, False


@contextlib.contextmanager
def tuned_convolutions() -> Iterator[None]:
    """Within, cuDNN tries its algorithms for each convolution, once, and keeps the fastest.

    PyTorch's switch is global: it is on while any thread is within, and then as it was before.
    """
    with _Tuning.lock:
        if _Tuning.callers == 0:
            _Tuning.before = torch.backends.cudnn.benchmark
            torch.backends.cudnn.benchmark = True
        _Tuning.callers += 1
    try:
        yield
    finally:
        with _Tuning.lock:
            _Tuning.callers -= 1
            if _Tuning.callers == 0:
                torch.backends.cudnn.benchmark = _Tuning.before


def can_fuse_convolutions(network: nn.Module, device: torch.device) -> bool:
    """Whether `CudnnNetwork` supports the network on that device."""
    config: Any = getattr(network, "config", None)
    return device.type == "cuda" and config.kind == "residual" and not config.pooling


def _pack(network: Any, device: torch.device) -> list[Tensor]:
    """All weights, in the order in which `CudnnNetwork` reads them."""
    with torch.no_grad():
        stem, blocks = network.body[0], list(network.body)[2:]
        missing = -stem.weight.shape[1] % _CHANNELS_TOGETHER
        packed = [
            _to_bf16(functional.pad(stem.weight, (0, 0, 0, 0, 0, missing)), device),
            _to_bf16(stem.bias, device),
        ]
        for block in blocks:
            for layer in (block.first, block.second):
                packed += [_to_bf16(layer.weight, device), _to_bf16(layer.bias, device)]
        readers = network.policy.reader, network.value.reader
        packed += [
            _to_bf16(torch.cat([reader.weight for reader in readers]), device),
            _to_bf16(torch.cat([reader.bias for reader in readers]), device),
        ]
    return packed


def _to_bf16(weight: Tensor, device: torch.device) -> Tensor:
    last = {4: torch.channels_last}.get(weight.ndim, torch.contiguous_format)
    return weight.detach().to(device, torch.bfloat16).contiguous(memory_format=last)
