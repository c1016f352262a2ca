"""The weights of a network's heads as their kernel reads them; heads.cu describes the order."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from plainzero.networks.gpu.heads_layout import TILE_UNITS, HeadsLayout

CHANNELS = 32
"""Channels per head in the features; missing ones are zeros."""


def pack_head_weights(network: Any, layout: HeadsLayout) -> Tensor:
    """The first linear layer of both heads in bf16, the value's first."""
    parts = [
        _pack_groups(network.value[-3].weight, layout.shape.cells, layout.value_tiles),
        _pack_groups(network.policy[-1].weight, layout.shape.cells, layout.policy_tiles),
    ]
    return torch.cat(parts).to(torch.bfloat16)


def pack_head_numbers(network: Any, layout: HeadsLayout) -> Tensor:
    """Everything else in float32: biases, and the value head's last layer."""
    hidden, last, policy = network.value[-3], network.value[-1], network.policy[-1]
    units = TILE_UNITS * layout.value_tiles
    actions = TILE_UNITS * layout.policy_tiles * layout.policy_groups
    parts = [
        _filled(hidden.bias, units),
        _filled(last.weight, units).flatten(),
        _filled(policy.bias, actions),
        last.bias.detach(),
    ]
    return torch.cat(parts)


def _pack_groups(weight: Tensor, cells: int, tiles: int) -> Tensor:
    """[units, channels · cells] as [group, cell, tile, s, g, t, p, h, e], flat.

    Unit 16 · tile + 8h + g of a group, and channel 8t + 4s + 2p + e.
    """
    units, group = len(weight), TILE_UNITS * tiles
    channels = weight.detach().reshape(units, -1, cells)
    missing = CHANNELS - channels.shape[1], -units % group
    filled = functional.pad(channels, (0, 0, 0, missing[0], 0, missing[1]))
    parts = filled.reshape(
        -1, tiles, 2, 8, 4, 2, 2, 2, cells
    )  # group, tile, h, g, t, s, p, e, cell
    return parts.permute(0, 8, 1, 5, 3, 4, 6, 2, 7).flatten()


def _filled(tensor: Tensor, size: int) -> Tensor:
    """Zeros appended along the last axis."""
    return functional.pad(tensor.detach(), (0, size - tensor.shape[-1]))
