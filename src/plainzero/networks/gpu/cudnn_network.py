"""Ways to evaluate a network on a GPU, all with weights that can be replaced where they lie.

* `EagerForm`: PyTorch's own layers; for every network, in bf16 or float32.
* `FusedForm`: residual networks in bf16 by cuDNN's convolutions with bias, sum and ReLU in one.

A form is a function from observations to logits and values, both float32. Nothing in it waits for
the GPU or asks it anything, so a call can be recorded as a graph. `TowerForm` (tower_form.py) can
also be asked in two steps.
"""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.networks.architectures import Network
from plainzero.networks.gpu.cublas_heads import ProductHeads

_CHANNELS_TOGETHER = 8  # cuDNN's convolutions on tensor cores want a multiple of these
_ONE, _PAD = (1, 1), (1, 1)


class Form(Protocol):
    """One way to evaluate a network."""

    name: str
    at_once: int
    """Positions it reads at the same time, if it leaves room for other kernels; else 0."""

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape."""

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] and values [B, 1 or players] of observations [B, *shape]."""


@runtime_checkable
class TwoStepForm(Form, Protocol):
    """A form whose second step takes so little of a GPU that it runs beside others' first."""

    def make_room(self, rows: int) -> Any:
        """What is to be kept of so many observations between the steps."""

    def read(self, planes: Tensor, room: Any) -> None:
        """The first step: from observations [B, *shape] to what is in the room."""

    def answer(self, room: Any, logits: Tensor, values: Tensor) -> None:
        """The second: writes logits [B, A] and values [B, 1 or players]."""


class EagerForm:
    """The network as PyTorch runs it; the last layer of each head always in float32."""

    name, at_once = "eager", 0

    def __init__(self, network: Network, device: torch.device, dtype: torch.dtype) -> None:
        """Copies the network to the device."""
        self._dtype, self._device = dtype, device
        self._body, self._last = self._split(network)

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape."""
        for mine, theirs in zip(
            (self._body, *self._last), _flatten(self._split(network)), strict=True
        ):
            for own, other in zip(mine.parameters(), theirs.parameters(), strict=True):
                own.copy_(other)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        x = planes.to(self._dtype)
        if x.ndim == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        features = self._body.body(x)
        logits = self._last[0](self._body.policy(features).float())
        values = self._last[1](self._body.value(features).float())
        output = self._body.finish(logits, values)
        return output.logits, output.values.reshape(len(planes), -1)

    def _split(self, network: Any) -> tuple[Any, tuple[Any, Any]]:
        """A copy without the last layer of each head, in our type; and these, in float32."""
        copied = copy.deepcopy(network).to(self._device).requires_grad_(False)
        last = copied.policy.pop(-1), copied.value.pop(-1)
        copied.to(dtype=self._dtype, memory_format=torch.channels_last)
        return copied, last


class FusedForm:
    """A residual network in bf16: one call of cuDNN's for each convolution and what follows it.

    Both heads' 1×1 convolutions are one, and so are the layers that read them.
    """

    name, at_once = "cudnn", 0

    def __init__(self, network: Any, device: torch.device) -> None:
        """Makes room for the weights and takes them."""
        self._config = network.config
        self._packed = _pack(network, device)
        self._heads = ProductHeads(network, network.policy[0].out_channels, device)

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape."""
        fresh = _pack(network, self._packed[0].device)
        for mine, theirs in zip(self._packed, fresh, strict=True):
            mine.copy_(theirs)
        self._heads.load(network)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        weights = iter(self._packed)
        stem = next(weights)
        x = self._padded(planes, stem.shape[1])
        x = _convolve(x, stem, next(weights), _PAD)
        for _ in range(self._config.blocks):
            inner = _convolve(x, next(weights), next(weights), _PAD)
            x = torch.cudnn_convolution_add_relu(
                inner, next(weights), x, 1.0, next(weights), _ONE, _PAD, _ONE, 1
            )
        read = _convolve(x, next(weights), next(weights), (0, 0))
        return self._heads(read.permute(0, 2, 3, 1))

    def _padded(self, planes: Tensor, channels: int) -> Tensor:
        """The planes in bf16, channels last, and zeros as further channels."""
        shape, last = (len(planes), channels, *planes.shape[2:]), torch.channels_last
        x = torch.empty(shape, dtype=torch.bfloat16, device=planes.device, memory_format=last)
        x[:, planes.shape[1] :].zero_()
        x[:, : planes.shape[1]].copy_(planes)
        return x


@contextlib.contextmanager
def tuned_convolutions() -> Iterator[None]:
    """Within, cuDNN tries its algorithms for each convolution, once, and keeps the fastest."""
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


def can_be_fused(network: nn.Module, device: torch.device) -> bool:
    """Whether `FusedForm` can evaluate the network there."""
    config: Any = getattr(network, "config", None)
    return device.type == "cuda" and config.kind == "residual" and not config.pooling


def _flatten(parts: tuple[Any, tuple[Any, Any]]) -> tuple[Any, ...]:
    return parts[0], *parts[1]


def _convolve(x: Tensor, weight: Tensor, bias: Tensor, padding: tuple[int, int]) -> Tensor:
    """ReLU(weight ∗ x + bias)."""
    result: Tensor = torch.cudnn_convolution_relu(x, weight, bias, _ONE, padding, _ONE, 1)
    return result


def _pack(network: Any, device: torch.device) -> list[Tensor]:
    """Every weight as `FusedForm` reads them, in its order."""
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
        readers = network.policy[0], network.value[0]
        packed += [
            _to_bf16(torch.cat([reader.weight for reader in readers]), device),
            _to_bf16(torch.cat([reader.bias for reader in readers]), device),
        ]
    return packed


def _to_bf16(weight: Tensor, device: torch.device) -> Tensor:
    last = {4: torch.channels_last}.get(weight.ndim, torch.contiguous_format)
    return weight.detach().to(device, torch.bfloat16).contiguous(memory_format=last)
