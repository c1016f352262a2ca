"""Heads that follow the board, in one launch on a Hopper GPU, after the fused tower.

board_heads.cu describes the memory layout.
"""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from plainzero.games.board_actions import NOWHERE
from plainzero.networks.gpu.nvrtc import Kernel, check_capability, check_tensor, compile_source
from plainzero.networks.gpu.tower_layout import TILE_CHANNELS
from plainzero.networks.heads import VALUE_WIDTH

KERNEL = "read_board_heads"
SOURCE = Path(__file__).with_name("board_heads.cu")
CHANNELS = 32
"""Channels per head in the features; missing ones are zeros."""


class BoardHeadsShape(NamedTuple):
    """The layers that the heads compute."""

    cells: int
    actions: int
    kinds: int
    others: int  # actions beside the board
    outputs: int  # of the value head's last layer
    is_wdl: bool  # the outputs are logits of win, draw and loss; else every output is a value

    @property
    def values(self) -> int:
        """Values of a position."""
        return 1 if self.is_wdl else self.outputs

    def macros(self) -> dict[str, int]:
        """The sizes as board_heads.cu names them."""
        return {
            "CELLS": self.cells,
            "ACTIONS": self.actions,
            "KINDS": self.kinds,
            "OTHERS": self.others,
            "OUTPUTS": self.outputs,
            "IS_WDL": int(self.is_wdl),
        }


def board_heads_shape(network: Any) -> BoardHeadsShape:
    """The shape of the heads of a network with `policy=board` and `value_head=pooled`."""
    policy = network.policy
    return BoardHeadsShape(
        cells=network.shape[1] * network.shape[2],
        actions=len(policy.places),
        kinds=policy.kinds.out_features,
        others=0 if policy.others is None else policy.others.out_features,
        outputs=network.value.last.out_features,
        is_wdl=network.config.values == "wdl",
    )


class BoardHeads:
    """The compiled heads and their weights on the current CUDA device."""

    def __init__(self, network: Any, binary: bytes | None = None) -> None:
        """Compiles the kernel, unless `compile_board_heads` has, and takes the weights."""
        self.shape = board_heads_shape(network)
        check_capability(torch.cuda.current_device())
        self._kernel = Kernel(binary or compile_board_heads(self.shape), KERNEL)
        self._numbers = pack_numbers(network).cuda()
        self._actions = pack_actions(network).cuda()

    def load(self, network: Any) -> None:
        """Replaces the weights in place, so that graphs captured before use them."""
        self._numbers.copy_(pack_numbers(network))

    def make_buffers(self, batch: int) -> None:
        """Nothing: a board is one warp's work."""

    def __call__(self, features: Tensor, logits: Tensor, values: Tensor, buffers: None) -> None:
        """Launches on the current stream; see `Heads`."""
        shape, batch = self.shape, len(features)
        owner = "the kernel of the board's heads"
        check_tensor(owner, features, (batch, shape.cells, TILE_CHANNELS), torch.bfloat16)
        check_tensor(owner, logits, (batch, shape.actions), torch.float32)
        check_tensor(owner, values, (batch, shape.values), torch.float32)
        pointers = features, self._numbers, self._actions, logits, values
        self._kernel((batch, 1, 1), 32, pointers)


@functools.cache
def compile_board_heads(shape: BoardHeadsShape) -> bytes:
    """Machine code for compute capability 9.0; needs NVRTC, but no GPU.

    Raises:
        RuntimeError: with the compiler's messages.
    """
    return compile_source(SOURCE, shape.macros())


def pack_numbers(network: Any) -> Tensor:
    """All weights and biases in float32, as the kernel reads them."""
    policy, value = network.policy, network.value
    kinds = policy.kinds.weight
    parts = [functional.pad(kinds, (0, CHANNELS - kinds.shape[1])).flatten(), policy.kinds.bias]
    if policy.others is not None:
        parts += [_fill_pooled(policy.others.weight).flatten(), policy.others.bias]
    assert value.hidden.out_features == VALUE_WIDTH
    parts += [_fill_pooled(value.hidden.weight).T.flatten(), value.hidden.bias]
    parts += [value.last.weight.flatten(), value.last.bias]
    return torch.cat([part.detach().float() for part in parts])


def pack_actions(network: Any) -> Tensor:
    """[cells · kinds + others] the action at each place, in int32."""
    places, shape = network.policy.places, board_heads_shape(network)
    actions = torch.full((shape.cells * shape.kinds + shape.others,), NOWHERE, dtype=torch.int32)
    actions[places.cpu()] = torch.arange(len(places), dtype=torch.int32)
    return actions


def _fill_pooled(weight: Tensor) -> Tensor:
    """[units, 2 · channels] with zeros for missing channels, after the means and the maxima."""
    parts = weight.reshape(len(weight), 2, -1)
    return functional.pad(parts, (0, CHANNELS - parts.shape[2])).flatten(1)
