"""The networks: a shared body, a policy head and a value head.

There is no batch norm. Instead, the second convolution of a block and the last layer of each head
start at zero: a new network's blocks pass their input on, its policy is uniform and its value 0.
Playing thus computes the same function as training.
"""

import copy
import itertools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.games.contract import Game
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.networks.heads import (
    BoardPolicy,
    DenseHead,
    PooledValue,
    RegionValue,
    dense_layers,
    last_layers,
    make_reader,
    pooled,
    zeroed,
)
from plainzero.networks.torch_private import check_version

check_version(torch.__version__)


Drawn = TypeVar("Drawn", bound=nn.Module)


class Output(NamedTuple):
    """A network's output for a batch of positions, from the mover's point of view."""

    logits: Tensor  # [B, A]
    values: Tensor  # [B], or [B, players]: column k is the k-th player after the mover
    outcome_logits: Tensor | None  # [B, 3] win, draw, loss for the mover; None without that head
    extras: Mapping[str, Tensor] = MappingProxyType({})
    """Answers of heads that are only trained, by name; see extra_heads.py."""


def make_network(game: Game, config: NetworkConfig, seed: int) -> "Network":
    """A new network for the game; equal seeds give equal weights.

    Raises:
        ValueError: when the config does not fit the game.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Network(game, resolve_network(config, game))


def draw_zeros(network: Drawn, seed: int = 1) -> Drawn:
    """Draws the weights that start at zero, too, as after some training; returns the network."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim > 1 and not weight.any():
                weight.normal_(0.0, weight[0].numel() ** -0.5, generator=generator)
    return network


def copy_in(dtype: torch.dtype, network: "Network", device: torch.device | str = "cpu") -> Any:
    """A frozen copy in `dtype`, channels last; the last layers of the heads stay in float32.

    Large logits and values near 1 thus keep their digits.
    """
    copied: Any = copy.deepcopy(network).eval().requires_grad_(False)
    copied.to(device=device, dtype=dtype, memory_format=torch.channels_last)
    if dtype != torch.float32:
        for head, original in ((copied.policy, network.policy), (copied.value, network.value)):
            for name in last_layers(original):
                setattr(head, name, _InFloat32(original.get_submodule(name), device))
    return copied


def answer_heads(network: Any, read: Tensor) -> tuple[Tensor, Tensor]:
    """What `Network.finish` takes, from both readers' outputs [B, both heads' channels, H, W]."""
    own = network.policy.reader.out_channels
    return network.policy.answer(read[:, :own]), network.value.answer(read[:, own:])


class _InFloat32(nn.Module):
    """A copy of a layer that computes in float32, whatever the type of its input."""

    def __init__(self, layer: nn.Module, device: torch.device | str) -> None:
        super().__init__()
        self.layer = copy.deepcopy(layer).to(device).requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layer(x.float())
        return result


class Network(nn.Module):
    """A body and two heads, made from the resolved `config` for observations of `shape`."""

    policy: DenseHead | BoardPolicy | nn.Sequential
    value: DenseHead | PooledValue | nn.Sequential

    def __init__(self, game: Game, config: NetworkConfig) -> None:
        """Draws the weights from PyTorch's global generator; see `make_network`."""
        super().__init__()
        self.config = config
        self.shape = shape = tuple(game.observation_shape)
        num_values = {"mover": 1, "players": game.num_players, "wdl": 3}[config.values]
        if config.kind == "residual":
            self.body = _residual_body(shape[0], config)
            cells = shape[1] * shape[2]
            readers = make_reader(config.channels), make_reader(config.channels)
            if config.policy == "board":
                self.policy = BoardPolicy(readers[0], game)
            else:
                self.policy = DenseHead(readers[0], cells, game.num_actions, has_hidden=False)
            if config.value_head == "pooled":
                self.value = PooledValue(readers[1], num_values)
            elif config.value_head == "regions":
                self.value = RegionValue(readers[1], num_values, shape[1], shape[2])
            else:
                self.value = DenseHead(readers[1], cells, num_values, has_hidden=True)
        else:
            self.body, width = _flat_body(math.prod(shape), config), config.width
            self.policy = nn.Sequential(*dense_layers(width, game.num_actions, has_hidden=False))
            self.value = nn.Sequential(*dense_layers(width, num_values, has_hidden=True))

    def forward(self, planes: Tensor) -> Output:
        """The output for observations [B, *shape]."""
        return self.answer(self.body(planes))

    def answer(self, features: Tensor) -> Output:
        """The output for what the body makes of observations."""
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
        self.second = zeroed(nn.Conv2d(channels, channels, 3, padding=1))

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
        self.mix = zeroed(nn.Linear(2 * channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        """[B, C, H, W] to the same shape."""
        active = functional.relu(x)
        bias: Tensor = self.mix(pooled(active))
        return x + bias[:, :, None, None]


def _residual_body(planes: int, config: NetworkConfig) -> nn.Sequential:
    """A convolution, then the blocks; with pooling, the last block and every second before it."""
    stem = nn.Conv2d(planes, config.channels, 3, padding=1)
    blocks = [
        Block(config.channels, Pooling(config.channels) if config.pooling and i % 2 == 0 else None)
        for i in reversed(range(config.blocks))
    ]
    return nn.Sequential(stem, nn.ReLU(), *blocks)


def _flat_body(features: int, config: NetworkConfig) -> nn.Sequential:
    sizes = [features, *[config.width] * config.layers]
    body = nn.Sequential(nn.Flatten())
    for size, next_size in itertools.pairwise(sizes):
        body.extend([nn.Linear(size, next_size), nn.ReLU()])
    return body
