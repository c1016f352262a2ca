"""A network on a GPU by PyTorch's own layers: for every network, in bf16 or float32."""

import copy
from typing import Any

import torch
from torch import Tensor, nn

from plainzero.networks.architectures import Network


class EagerNetwork:
    """The network as PyTorch runs it; the last layer of each head always in float32."""

    name, at_once = "eager", 0

    def __init__(self, network: Network, device: torch.device, dtype: torch.dtype) -> None:
        """Copies the network to the device."""
        self._dtype, self._device = dtype, device
        self._body, self._last = self._split(network)

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
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


def _flatten(parts: tuple[Any, tuple[Any, Any]]) -> tuple[Any, ...]:
    return parts[0], *parts[1]
