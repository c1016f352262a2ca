"""Both heads of a board network as one matrix product, by cuBLAS, and the layers after it.

The fastest way for many actions; unlike heads.cu it leaves no room for concurrent kernels.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.networks.torch_private import multiply_to_float32

_COLUMNS_TOGETHER = 8  # 16 bytes: with other rows cuBLAS is 3 times slower


class CublasHeads:
    """The layers after the 1×1 convolutions, with their weights on a GPU."""

    def __init__(self, network: Any, channels: int, device: torch.device) -> None:
        """Copies the weights; each head of the network has `channels` channels in the features."""
        self._finish, self._channels = network.finish, channels
        self._actions = len(network.policy[-1].weight)
        self._packed = [tensor.to(device, copy=True) for tensor in self._pack(network)]

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
        for mine, theirs in zip(self._packed, self._pack(network), strict=True):
            mine.copy_(theirs)

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] and values [B, 1 or players] of features [B, cells, both heads] in bf16."""
        first, bias, last, last_bias = self._packed
        both = multiply_to_float32(features.flatten(1), first) + bias
        logits, hidden = both[:, : self._actions], both[:, self._actions :][:, : last.shape[1]]
        output = self._finish(logits, functional.linear(functional.relu(hidden), last, last_bias))
        return output.logits, output.values.reshape(len(features), -1)

    def _pack(self, network: Any) -> list[Tensor]:
        """The first linear layer of both heads as one, and the last layer of the value head."""
        hidden, last = network.value[-3], network.value[-1]
        bias = torch.cat([network.policy[-1].bias, hidden.bias])
        missing = 0, -len(bias) % _COLUMNS_TOGETHER
        joined = functional.pad(join_heads(network, self._channels).T.contiguous(), missing)
        packed = joined.to(torch.bfloat16), functional.pad(bias, missing), last.weight, last.bias
        return [tensor.detach() for tensor in packed]


def join_heads(network: Any, channels: int) -> Tensor:
    """[A + hidden, cells · 2 · channels] the first linear layer of both heads in one.

    Each head's units read only that head's channels; the network may have fewer.
    """
    own = network.policy.reader.out_channels
    both = network.policy[-1], network.value[-3]
    policy, value = (layer.weight.unflatten(1, (own, -1)) for layer in both)
    policy = functional.pad(policy, (0, 0, 0, 2 * channels - own))
    value = functional.pad(value, (0, 0, channels, channels - own))
    return torch.cat([policy, value]).transpose(1, 2).flatten(1)
