"""Heads that are only trained: they teach the body, and no backend computes them.

They are a module beside the network, so that its weights and those in files stay the same.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from plainzero.games.contract import Game
from plainzero.networks.architectures import Network
from plainzero.networks.head_kinds import HeadKind
from plainzero.networks.heads import (
    BoardHead,
    BoardPolicy,
    DenseHead,
    PooledValue,
    dense_layers,
    make_reader,
    zeroed,
)

CHANNELS = 16
"""Channels that the reader of such a head has, or those of the body if it has fewer."""


class CellsHead(BoardHead):
    """A number for each cell from the features there; no weight depends on the board's size."""

    def __init__(self, reader: nn.Conv2d) -> None:
        """Makes the layer."""
        super().__init__(reader)
        self.last = zeroed(nn.Linear(reader.out_channels, 1))

    def answer(self, read: Tensor) -> Tensor:
        """[B, H · W] before the tanh."""
        numbers: Tensor = self.last(read.permute(0, 2, 3, 1))
        return numbers.flatten(1)


class ExtraHeads(nn.ModuleDict):
    """Heads by the name of what they learn; with those of a board's network, each has a reader."""

    def __init__(self, game: Game, network: Network, kinds: Mapping[str, HeadKind]) -> None:
        """Draws the weights from PyTorch's global generator; see `make_extra_heads`."""
        super().__init__()
        self.kinds = dict(kinds)
        for name, kind in kinds.items():
            is_board = network.config.kind == "residual"
            self[name] = (_board_head if is_board else _flat_head)(game, network, kind)

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        """The answers of all heads, by name."""
        return {name: self.finish(name, head(features)) for name, head in self.items()}

    def answer(self, read: Tensor) -> dict[str, Tensor]:
        """The same from the joined outputs of all readers [B, channels of all, H, W]."""
        heads: list[Any] = [*self.values()]
        parts = torch.split(read, [head.reader.out_channels for head in heads], 1)
        answers = (head.answer(part) for head, part in zip(heads, parts, strict=True))
        return {name: self.finish(name, last) for name, last in zip(self, answers, strict=True)}

    def finish(self, name: str, last: Tensor) -> Tensor:
        """The answer, given the output of a head's last layer."""
        return last.float() if self.kinds[name].answers == "policy" else torch.tanh(last.float())


def make_extra_heads(
    game: Game, network: Network, kinds: Mapping[str, HeadKind], seed: int
) -> ExtraHeads:
    """New heads for a network of the game; equal seeds give equal weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ExtraHeads(game, network, kinds)


def _board_head(game: Game, network: Network, kind: HeadKind) -> nn.Module:
    """A head like those of the network, with a smaller reader."""
    config, cells = network.config, math.prod(network.shape[1:])
    reader = make_reader(config.channels, CHANNELS)
    if kind.answers == "cells":
        return CellsHead(reader)
    if kind.answers == "policy":
        if config.policy == "board":
            return BoardPolicy(reader, game)
        return DenseHead(reader, cells, game.num_actions, has_hidden=False)
    if config.value_head == "pooled":
        return PooledValue(reader, kind.size)
    return DenseHead(reader, cells, kind.size, has_hidden=True)


def _flat_head(game: Game, network: Network, kind: HeadKind) -> nn.Module:
    outputs = {
        "policy": game.num_actions,
        "numbers": kind.size,
        "cells": math.prod(network.shape[1:]),
    }[kind.answers]
    return nn.Sequential(*dense_layers(network.config.width, outputs, kind.answers == "numbers"))
