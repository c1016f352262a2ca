"""The options of a network, and what `auto` stands for."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from plainzero import options as settings
from plainzero.games.contract import Game

Kind = Literal["auto", "mlp", "residual"]
Values = Literal["auto", "mover", "players", "wdl"]


@dataclass(frozen=True)
class NetworkConfig:
    """The options of a network."""

    kind: Kind = "auto"
    """mlp: hidden layers, for flat observations. residual: convolutions, for boards. auto: residual
    for an observation of planes, rows and columns, else mlp."""
    blocks: int = 4
    """Residual blocks of two convolutions each (AlphaGo Zero: 19 or 39, with 256 channels)."""
    channels: int = 48
    """Channels of every convolution of the body."""
    pooling: bool = False
    """Global pooling in the last block and every second one before it (KataGo), added as a bias."""
    layers: int = 2
    """Hidden layers of the mlp."""
    width: int = 128
    """Units of each hidden layer."""
    values: Values = "auto"
    """mover: one value, for the player to move, by tanh. players: one per player, the mover first.
    wdl: probabilities of win, draw and loss, for two players only. auto: mover for one or two
    players, else players."""

    def __post_init__(self) -> None:
        """Refuses invalid values, and options that would have no effect."""
        settings.check_types(self)
        for option, most in _AT_MOST.items():
            value = getattr(self, option)
            if not 1 <= value <= most:
                raise ValueError(f"{option} is {value}; it must be from 1 to {most:,}")
        for option, kind in _COUNTS_WITH.items():
            given = getattr(self, option)
            if self.kind not in ("auto", kind) and given != _default(option):
                raise ValueError(
                    f"{option} is {given}, which has no effect with kind={self.kind}, only with "
                    f"kind={kind}: leave out one of them"
                )


_AT_MOST = {"blocks": 256, "channels": 4096, "layers": 64, "width": 65_536}
_COUNTS_WITH = {
    "blocks": "residual",
    "channels": "residual",
    "pooling": "residual",
    "layers": "mlp",
    "width": "mlp",
}


def resolve_network(config: NetworkConfig, game: Game) -> NetworkConfig:
    """The options with every `auto` resolved for the game.

    Raises:
        ValueError: when the config does not fit the game.
    """
    rank, players = len(game.observation_shape), game.num_players
    if config.kind == "residual" and rank != 3:
        raise ValueError(
            f"kind is residual, which needs an observation of planes, rows and columns; "
            f"{game.name} has the shape {tuple(game.observation_shape)}: use kind=mlp"
        )
    if config.values == "wdl" and players != 2:
        raise ValueError(
            f"values is wdl, which needs two players, and {game.name} has {players}: use "
            f"values={_values_for(players)}"
        )
    if config.values == "mover" and players > 2:
        raise ValueError(
            f"values is mover, which leaves out the other players, and {game.name} has {players} "
            "players: use values=players"
        )
    kind = ("residual" if rank == 3 else "mlp") if config.kind == "auto" else config.kind
    values = _values_for(players) if config.values == "auto" else config.values
    return dataclasses.replace(config, kind=kind, values=values)


def _values_for(players: int) -> Literal["mover", "players"]:
    return "mover" if players <= 2 else "players"


def _default(option: str) -> Any:
    return NetworkConfig.__dataclass_fields__[option].default
