"""The networks: a shared body, a policy head and a value head.

There is no batch norm. Instead, the second convolution of a block and the last layer of each head
start at zero: a new network's blocks pass their input on, its policy is uniform and its value 0.
Playing thus computes the same function as training.
"""

import itertools
import math
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.games.contract import Game
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.networks.torch_private import check_version

check_version(torch.__version__)

Layer = TypeVar("Layer", nn.Linear, nn.Conv2d)

HEAD_CHANNELS = 32
"""Channels that each head of a board network reads, or those of the body if it has fewer."""

VALUE_WIDTH = 64
"""Units of the value head's hidden layer."""


class Output(NamedTuple):
    """A network's output for a batch of positions, from the mover's point of view."""

    logits: Tensor  # [B, A]
    values: Tensor  # [B], or [B, players]: column k is the k-th player after the mover
    outcome_logits: Tensor | None  # [B, 3] win, draw, loss for the mover; None without that head


def make_network(game: Game, config: NetworkConfig, seed: int) -> "Network":
    """A new network for the game; equal seeds give equal weights.

    Raises:
        ValueError: when the config does not fit the game.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Network(game, resolve_network(config, game))


def draw_zeros(network: "Network", seed: int = 1) -> "Network":
    """Draws the weights that start at zero, too, as after some training; returns the network."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim > 1 and not weight.any():
                weight.normal_(0.0, weight[0].numel() ** -0.5, generator=generator)
    return network


class Network(nn.Module):
    """A body and two heads, made from the resolved `config` for observations of `shape`."""

    def __init__(self, game: Game, config: NetworkConfig) -> None:
        """Draws the weights from PyTorch's global generator; see `make_network`."""
        super().__init__()
        self.config = config
        self.shape = shape = tuple(game.observation_shape)
        num_values = {"mover": 1, "players": game.num_players, "wdl": 3}[config.values]
        self.body: nn.Module
        self.policy: nn.Module
        self.value: nn.Module
        if config.kind == "residual":
            self.body = _residual_body(shape[0], config)
            head_channels = min(HEAD_CHANNELS, config.channels)
            features = head_channels * shape[1] * shape[2]
            self.policy = _board_reader(config.channels, head_channels)
            self.value = _board_reader(config.channels, head_channels)
        else:
            self.body = _flat_body(math.prod(shape), config)
            features = config.width
            self.policy, self.value = nn.Sequential(), nn.Sequential()
        self.policy.append(_zeroed(nn.Linear(features, game.num_actions)))
        self.value.extend([nn.Linear(features, VALUE_WIDTH), nn.ReLU()])
        self.value.append(_zeroed(nn.Linear(VALUE_WIDTH, num_values)))

    def forward(self, planes: Tensor) -> Output:
        """The output for observations [B, *shape]."""
        features = self.body(planes)
        return self.finish(self.policy(features), self.value(features))

    def finish(self, logits: Tensor, values: Tensor) -> Output:
        """The output, given those of the last layer of each head."""
        if self.config.values == "wdl":
            chances = torch.softmax(values, 1)
            return Output(logits, chances[:, 0] - chances[:, 2], values)
        values = torch.tanh(values)
        return Output(logits, values[:, 0] if self.config.values == "mover" else values, None)


class Block(nn.Module):
    """Two convolutions, added to the input."""

    def __init__(self, channels: int, pooling: "Pooling | None") -> None:
        """Starts as the identity."""
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.pooling = pooling
        self.second = _zeroed(nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] to the same shape."""
        inner = self.first(x)
        if self.pooling is not None:
            inner = self.pooling(inner)
        inner = functional.relu(inner)
        return functional.relu(x + self.second(inner))


class Pooling(nn.Module):
    """Each channel's mean and maximum over the board, mixed and added as a bias (KataGo)."""

    def __init__(self, channels: int) -> None:
        """Starts by adding nothing."""
        super().__init__()
        self.mix = _zeroed(nn.Linear(2 * channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] to the same shape."""
        active = functional.relu(x)
        bias: Tensor = self.mix(torch.cat([active.mean((2, 3)), active.amax((2, 3))], 1))
        return x + bias[:, :, None, None]


def _residual_body(planes: int, config: NetworkConfig) -> nn.Sequential:
    """A convolution, then the blocks; with pooling, the last block and every second before it."""
    stem = nn.Conv2d(planes, config.channels, 3, padding=1)
    blocks = [
        Block(config.channels, Pooling(config.channels) if config.pooling and i % 2 == 0 else None)
        for i in reversed(range(config.blocks))
    ]
    return nn.Sequential(stem, nn.ReLU(), *blocks)


def _board_reader(channels: int, head_channels: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(channels, head_channels, 1), nn.ReLU(), nn.Flatten())


def _flat_body(features: int, config: NetworkConfig) -> nn.Sequential:
    sizes = [features, *[config.width] * config.layers]
    body = nn.Sequential(nn.Flatten())
    for size, next_size in itertools.pairwise(sizes):
        body.extend([nn.Linear(size, next_size), nn.ReLU()])
    return body


def _zeroed(layer: Layer) -> Layer:
    """The layer with weights and bias zero."""
    nn.init.zeros_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer
