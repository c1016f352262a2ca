"""A network's weights as the fused tower reads them; the order is told in tower.cu."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tesuji.networks.tower_plan import CHANNELS

VALUE_AT = 32
"""The value head's first channel in the output; the policy head's is 0."""


def pack_weights(network: Any) -> Tensor:
    """Steps [4 · stages, 2, 64, 8] in bf16, in the order in which the kernel uses them.

    A step is 16 input channels of one tap: two chunks of 8, each for all 64 output channels.
    """
    stem, *convolutions = (conv.weight.detach() for conv in _convolutions(network))
    heads = _stack_heads([network.policy[0].weight, network.value[0].weight])
    unfolded = stem.permute(0, 3, 1, 2).flatten(1, 2)  # [64, neighbour · plane, row above to below]
    layers = [_pack_layer(unfolded, -(-unfolded.shape[1] // 16) * 16)]
    layers += [_pack_layer(weight.flatten(2), CHANNELS) for weight in (*convolutions, heads)]
    return torch.cat(layers).to(torch.bfloat16)


def pack_biases(network: Any) -> Tensor:
    """[layers, 64] in float32."""
    biases = [_filled(conv.bias.detach(), 0, CHANNELS) for conv in _convolutions(network)]
    return torch.stack([*biases, _stack_heads([network.policy[0].bias, network.value[0].bias])])


def pack_readers(network: Any) -> tuple[Tensor, Tensor]:
    """Weight [H·W·64, A + V] and bias [A + V] of the first linear layer of both heads together.

    The first A columns are the policy's logits and read the policy's channels only, the others the
    value head's hidden layer before its ReLU.
    """
    readers = [network.policy[-1], network.value[3]]
    channels = [network.policy[0].weight.shape[0], network.value[0].weight.shape[0]]
    weights = []
    for layer, count, before in zip(readers, channels, (0, VALUE_AT), strict=True):
        weight = layer.weight.detach().reshape(len(layer.weight), count, -1).permute(2, 1, 0)
        weights.append(functional.pad(weight, (0, 0, before, CHANNELS - before - count)))
    biases = torch.cat([layer.bias.detach() for layer in readers])
    return torch.cat(weights, 2).flatten(0, 1), biases


def _convolutions(network: Any) -> list[Any]:
    """The stem and the convolutions of the blocks, in order."""
    if network.config.kind != "residual" or network.config.pooling:
        raise ValueError(
            f"the network is {network.config}; the fused tower computes kind=residual without "
            "pooling: use cuDNN's convolutions"
        )
    stem, _, *blocks = network.body
    return [stem, *[conv for block in blocks for conv in (block.first, block.second)]]


def _pack_layer(weight: Tensor, inputs: int) -> Tensor:
    """[out, in, taps] to steps [taps · inputs/16, 2, 64, 8], filled to whole stages."""
    taps = _filled(_filled(weight, 0, CHANNELS), 1, inputs)
    steps = taps.reshape(CHANNELS, -1, 2, 8, taps.shape[2]).permute(4, 1, 2, 0, 3).flatten(0, 1)
    return _filled(steps, 0, -(-len(steps) // 4) * 4)


def _stack_heads(parts: list[Tensor]) -> Tensor:
    """The policy head's rows from 0 and the value head's from `VALUE_AT`, zeros between."""
    policy, value = (part.detach() for part in parts)
    return torch.cat([_filled(policy, 0, VALUE_AT), _filled(value, 0, CHANNELS - VALUE_AT)])


def _filled(tensor: Tensor, axis: int, size: int) -> Tensor:
    """Zeros appended along an axis."""
    missing = [0, 0] * (tensor.ndim - axis)
    missing[-1] = size - tensor.shape[axis]
    return functional.pad(tensor, missing)
