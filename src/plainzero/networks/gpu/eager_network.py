"""A network on a GPU by PyTorch's own layers: for every network, in bf16 or float32."""

from typing import cast

import torch
from torch import Tensor, nn

from plainzero.networks.architectures import Network, answer_heads, copy_in


class EagerNetwork:
    """The network as PyTorch runs it; the last layer of each head always in float32."""

    name, at_once = "eager", 0

    def __init__(self, network: Network, device: torch.device, dtype: torch.dtype) -> None:
        """Copies the network to the device."""
        self._dtype, self._device = dtype, device
        self._network = copy_in(dtype, network, device)

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
        fresh = copy_in(self._dtype, cast(Network, network), self._device)
        for own, other in zip(self._network.parameters(), fresh.parameters(), strict=True):
            own.copy_(other)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        x = planes.to(self._dtype)
        if x.ndim == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        output = self._network(x)
        return output.logits, output.values.reshape(len(planes), -1)


class EagerHeads:
    """The heads after their readers, in bf16, by PyTorch's layers: for heads of any kind."""

    def __init__(self, network: Network, device: torch.device) -> None:
        """Copies the weights to the device."""
        self._heads = copy_in(torch.bfloat16, network, device)
        del self._heads.body

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
        fresh = copy_in(torch.bfloat16, cast(Network, network))
        del fresh.body
        for own, other in zip(self._heads.parameters(), fresh.parameters(), strict=True):
            own.copy_(other)

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of what the readers read [B, H, W, both heads] in bf16."""
        read = features.permute(0, 3, 1, 2)
        output = self._heads.finish(*answer_heads(self._heads, read))
        return output.logits, output.values.reshape(len(features), -1)
