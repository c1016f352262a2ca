"""Which network a game gets: every option, and what `auto` stands for."""

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
    """Global pooling in the last block and every second before it (KataGo): what the whole board
    looks like, as a bias."""
    layers: int = 2
    """Hidden layers of the mlp."""
    width: int = 128
    """Units in each of them."""
    values: Values = "auto"
    """mover: one value, for the player to move, by tanh. players: one for each, the mover first.
    wdl: chances of a win, a draw and a loss, two players only. auto: mover for one or two players,
    else players."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense, and options that another one would ignore."""
        settings.check_types(self)
        for option, most in _AT_MOST.items():
            value = getattr(self, option)
            if not 1 <= value <= most:
                raise ValueError(f"{option} is {value}; it must be from 1 to {most:,}")
        for option, kind in _COUNTS_WITH.items():
            given = getattr(self, option)
            if self.kind not in ("auto", kind) and given != _default(option):
                raise ValueError(
                    f"{option} is {given}, and counts only with kind={kind}; here kind is "
                    f"{self.kind}: leave out one of them"
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
    """The same options with every `auto` decided for the game.

    Raises:
        ValueError: when the game cannot have such a network.
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
            f"values is mover, which says nothing of the others, and {game.name} has {players} "
            "players: use values=players"
        )
    kind = ("residual" if rank == 3 else "mlp") if config.kind == "auto" else config.kind
    values = _values_for(players) if config.values == "auto" else config.values
    return dataclasses.replace(config, kind=kind, values=values)


def _values_for(players: int) -> Literal["mover", "players"]:
    return "mover" if players <= 2 else "players"


def _default(option: str) -> Any:
    return NetworkConfig.__dataclass_fields__[option].default
