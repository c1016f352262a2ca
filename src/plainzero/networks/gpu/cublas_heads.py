"""Both heads of a board's network as one matrix product, by cuBLAS; and what follows it.

Alone on a GPU that is the fastest way for many actions. It leaves no room for kernels beside it,
which the one of heads.cu does.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_COLUMNS_TOGETHER = 8  # 16 bytes: with other rows cuBLAS is 3 times slower


class ProductHeads:
    """The layers after the 1×1 convolutions, with their weights on a GPU."""

    def __init__(self, network: Any, channels: int, device: torch.device) -> None:
        """Takes the weights of a network, of whose heads each has so many channels in features."""
        self._finish, self._channels = network.finish, channels
        self._actions = len(network.policy[-1].weight)
        self._packed = [tensor.to(device, copy=True) for tensor in self._pack(network)]

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape; they stay where they are."""
        for mine, theirs in zip(self._packed, self._pack(network), strict=True):
            mine.copy_(theirs)

    def __call__(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] and values [B, 1 or players] of features [B, cells, both heads] in bf16."""
        first, bias, last, last_bias = self._packed
        both = torch.mm(features.flatten(1), first, out_dtype=torch.float32) + bias
        logits, hidden = both[:, : self._actions], both[:, self._actions :][:, : last.shape[1]]
        output = self._finish(logits, functional.linear(functional.relu(hidden), last, last_bias))
        return output.logits, output.values.reshape(len(features), -1)

    def _pack(self, network: Any) -> list[Tensor]:
        """The first linear layer of both heads as one, and the last one of the values."""
        hidden, last = network.value[-3], network.value[-1]
        bias = torch.cat([network.policy[-1].bias, hidden.bias])
        missing = 0, -len(bias) % _COLUMNS_TOGETHER
        joined = functional.pad(join_heads(network, self._channels).T.contiguous(), missing)
        packed = joined.to(torch.bfloat16), functional.pad(bias, missing), last.weight, last.bias
        return [tensor.detach() for tensor in packed]


def join_heads(network: Any, channels: int) -> Tensor:
    """[A + hidden, cells · 2 · channels] the first linear layer of both heads in one.

    Each head's units see that head's channels alone, of which the network may have fewer.
    """
    own = network.policy[0].out_channels
    both = network.policy[-1], network.value[-3]
    policy, value = (layer.weight.unflatten(1, (own, -1)) for layer in both)
    policy = functional.pad(policy, (0, 0, 0, 2 * channels - own))
    value = functional.pad(value, (0, 0, channels, channels - own))
    return torch.cat([policy, value]).transpose(1, 2).flatten(1)
