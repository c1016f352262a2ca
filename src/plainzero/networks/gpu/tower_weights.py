"""A network's weights as the fused tower reads them; tower.cu describes the order."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from plainzero.networks.gpu.tower_layout import TILE_CHANNELS

VALUE_AT = 32
"""The value head's first channel in the output; the policy head's is 0."""


def pack_weights(network: Any) -> Tensor:
    """Products [4 · stages, 2, 64, 8] in bf16, in the order in which the kernel uses them.

    A product reads 16 input channels of one tap: two chunks of 8, each for 64 output channels.
    """
    stem, *convolutions = (conv.weight.detach() for conv in _convolutions(network))
    heads = _stack_heads([network.policy.reader.weight, network.value.reader.weight])
    unfolded = stem.permute(0, 3, 1, 2).flatten(1, 2)  # [C, neighbour · plane, row above to below]
    layers = [_pack_layer(unfolded, 16)]
    layers += [_pack_layer(weight.flatten(2), TILE_CHANNELS) for weight in (*convolutions, heads)]
    return torch.cat(layers).to(torch.bfloat16)


def pack_biases(network: Any) -> Tensor:
    """[layers, 64 or 128] in float32."""
    biases = [conv.bias.detach() for conv in _convolutions(network)]
    biases.append(_stack_heads([network.policy.reader.bias, network.value.reader.bias]))
    most = _rounded_up(max(len(bias) for bias in biases), TILE_CHANNELS)
    return torch.stack([_filled(bias, 0, most) for bias in biases])


def _convolutions(network: Any) -> list[Any]:
    """The stem and the convolutions of the blocks, in order."""
    if network.config.kind != "residual" or network.config.pooling:
        raise ValueError(
            f"the network is {network.config}; the fused tower computes kind=residual without "
            "pooling: use cuDNN's convolutions"
        )
    stem, _, *blocks = network.body
    return [stem, *[conv for block in blocks for conv in (block.first, block.second)]]


def _pack_layer(weight: Tensor, multiple: int) -> Tensor:
    """[out, in, taps] to products [taps · in/16 · out/64, 2, 64, 8], filled to whole stages.

    Inputs are filled to the multiple, outputs to tiles.
    """
    outputs, inputs, taps = weight.shape
    filled = _filled(weight, 0, _rounded_up(outputs, TILE_CHANNELS))
    filled = _filled(filled, 1, _rounded_up(inputs, multiple))
    parts = filled.reshape(-1, TILE_CHANNELS, filled.shape[1] // 16, 2, 8, taps)
    products = parts.permute(5, 2, 0, 3, 1, 4).flatten(0, 2)
    return _filled(products, 0, _rounded_up(len(products), 4))


def _stack_heads(parts: list[Tensor]) -> Tensor:
    """The policy head's rows from 0 and the value head's from `VALUE_AT`, zeros between."""
    policy, value = (part.detach() for part in parts)
    return torch.cat([_filled(policy, 0, VALUE_AT), _filled(value, 0, TILE_CHANNELS - VALUE_AT)])


def _rounded_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


def _filled(tensor: Tensor, axis: int, size: int) -> Tensor:
    """Zeros appended along an axis."""
    missing = [0, 0] * (tensor.ndim - axis)
    missing[-1] = size - tensor.shape[axis]
    return functional.pad(tensor, missing)
