"""The heads of a board network: from the body's features to logits and values.

Each head begins with a 1×1 convolution, its `reader`, and a ReLU; `answer` computes the rest.
Backends join the readers of all heads, or compute them in other arithmetic.
"""

from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.games.board_actions import NOWHERE, action_places, board_actions
from plainzero.games.contract import Game

HEAD_CHANNELS = 32
"""Channels that a head's reader has, or those of the body if it has fewer."""

VALUE_WIDTH = 64
"""Units of the value head's hidden layer."""

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)


class BoardHead(nn.Module):
    """A head that reads features [B, C, H, W]."""

    def __init__(self, reader: nn.Conv2d) -> None:
        """Takes its reader, from `make_reader`."""
        super().__init__()
        self.reader = reader

    def forward(self, features: Tensor) -> Tensor:
        """Logits or values before `Network.finish`."""
        return self.answer(functional.relu(self.reader(features)))

    def answer(self, read: Tensor) -> Tensor:
        """The same from the reader's output after its ReLU [B, c, H, W]."""
        raise NotImplementedError


class DenseHead(nn.Sequential):
    """Linear layers that read every cell: their weights are for one board size.

    A sequence, as in files of weights: the reader, ReLU, Flatten, then the layers.
    """

    def __init__(self, reader: nn.Conv2d, cells: int, outputs: int, has_hidden: bool) -> None:
        """Makes the layers, with one hidden layer or none."""
        layers = dense_layers(reader.out_channels * cells, outputs, has_hidden)
        super().__init__(reader, nn.ReLU(), nn.Flatten(), *layers)

    @property
    def reader(self) -> nn.Conv2d:
        """See `BoardHead`."""
        reader = self[0]
        assert isinstance(reader, nn.Conv2d)
        return reader

    def answer(self, read: Tensor) -> Tensor:
        """See `BoardHead`."""
        for layer in list(self)[2:]:
            read = layer(read)
        return read


class BoardPolicy(BoardHead):
    """An action's logit comes from its cell; those beside the board read pooled features.

    No weight depends on the size of the board.
    """

    def __init__(self, reader: nn.Conv2d, game: Game) -> None:
        """Makes the layers for a game whose actions lie on the board."""
        super().__init__(reader)
        actions = board_actions(game)
        assert actions is not None
        places = action_places(actions.reshape(len(actions), -1).T, game.num_actions)
        beside = np.flatnonzero(places == NOWHERE)
        places[beside] = actions.size + np.arange(len(beside))
        width = self.reader.out_channels
        self.kinds = zeroed(nn.Linear(width, len(actions)))
        self.others = zeroed(nn.Linear(2 * width, len(beside))) if len(beside) else None
        self.places: Tensor  # [A] in the kinds of all cells, cell by cell, and then the others
        self.register_buffer("places", torch.from_numpy(places), persistent=False)
        self._is_in_order = np.array_equal(places, np.arange(actions.size + len(beside)))

    def answer(self, read: Tensor) -> Tensor:
        """See `BoardHead`."""
        logits: Tensor = self.kinds(read.permute(0, 2, 3, 1)).flatten(1)
        if self.others is not None:
            logits = torch.cat([logits, self.others(pooled(read))], 1)
        return logits if self._is_in_order else logits.index_select(1, self.places)


class PooledValue(BoardHead):
    """Values from each channel's mean and maximum over the board, as in KataGo."""

    def __init__(self, reader: nn.Conv2d, outputs: int, regions: int = 0) -> None:
        """Makes the layers, for means over so many regions too."""
        super().__init__(reader)
        features = (2 + regions) * self.reader.out_channels
        self.hidden, _, self.last = dense_layers(features, outputs, True)

    def answer(self, read: Tensor) -> Tensor:
        """See `BoardHead`."""
        result: Tensor = self.last(functional.relu(self.hidden(self.pool(read))))
        return result

    def pool(self, read: Tensor) -> Tensor:
        """[B, features] of the board, from the reader's output."""
        return pooled(read)


class RegionValue(PooledValue):
    """The same with each channel's mean over regions of the board.

    Where the worth of a stone depends on its place, as in Othello, the mean over the whole board
    hides it. The regions are the same under all symmetries, and boards of any size have them.
    """

    def __init__(self, reader: nn.Conv2d, outputs: int, rows: int, columns: int) -> None:
        """Makes the layers for a board."""
        super().__init__(reader, outputs, len(_REGIONS))
        self.regions: Tensor  # [H · W, regions] each cell's share of the mean
        self.register_buffer("regions", region_means(rows, columns), persistent=False)

    def pool(self, read: Tensor) -> Tensor:
        """See `PooledValue`."""
        means = read.flatten(2) @ self.regions.to(read.dtype)
        return torch.cat([pooled(read), means.flatten(1)], 1)


_INSIDE = 2  # distance from an edge from which on cells count as alike
_REGIONS = [(near, far) for near in range(_INSIDE + 1) for far in range(near, _INSIDE + 1)]
"""Distances of a cell from the nearest edge and from the nearest edge across it."""


def region_means(rows: int, columns: int) -> Tensor:
    """[H · W, regions] 1 / the region's cells for each of its cells, else 0."""
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    down, across = torch.minimum(row, rows - 1 - row), torch.minimum(column, columns - 1 - column)
    near = torch.minimum(down, across).clamp(max=_INSIDE).flatten()
    far = torch.maximum(down, across).clamp(max=_INSIDE).flatten()
    cells = torch.stack([(near == n) & (far == f) for n, f in _REGIONS], 1).float()
    return cells / cells.sum(0).clamp(min=1)


def make_reader(channels: int, most: int = HEAD_CHANNELS) -> nn.Conv2d:
    """A head's 1×1 convolution of a body's features, to at most so many channels."""
    return nn.Conv2d(channels, min(most, channels), 1)


def last_layers(head: nn.Module) -> list[str]:
    """The names of the layers whose outputs are logits or values."""
    if isinstance(head, BoardPolicy):
        return ["kinds"] if head.others is None else ["kinds", "others"]
    return [list(head._modules)[-1]]  # of a sequence, or `last`


def pooled(x: Tensor) -> Tensor:
    """[B, 2C] the mean and the maximum over the board of each channel of [B, C, H, W]."""
    return torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)


def dense_layers(features: int, outputs: int, has_hidden: bool) -> list[nn.Module]:
    """A hidden layer, if any, and the last layer, which starts at zero."""
    if not has_hidden:
        return [zeroed(nn.Linear(features, outputs))]
    return [nn.Linear(features, VALUE_WIDTH), nn.ReLU(), zeroed(nn.Linear(VALUE_WIDTH, outputs))]


def zeroed(layer: Layer) -> Layer:
    """The layer with weights and bias zero."""
    nn.init.zeros_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer
