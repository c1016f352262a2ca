"""The options of a network, and what `auto` stands for."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from plainzero import options as settings
from plainzero.games.board_actions import board_actions
from plainzero.games.contract import Game

Kind = Literal["auto", "mlp", "residual"]
Policy = Literal["auto", "dense", "board"]
ValueHead = Literal["auto", "dense", "pooled", "regions"]
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
    policy: Policy = "auto"
    """dense: a linear layer that reads every cell. board: an action's logit comes from its own
    cell, for games whose actions lie on the board. auto: board where possible."""
    value_head: ValueHead = "auto"
    """dense: linear layers that read every cell. pooled: they read the mean and the maximum over
    the board. regions: also the means over corners, edges, the cells beside them, and the rest.
    auto: pooled with policy=board. With pooled or regions and that, weights fit boards of any
    size."""
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


SAVED_BEFORE: dict[str, Any] = {"policy": "dense", "value_head": "dense"}
"""What options mean that are missing in a saved network, which was written before they existed."""


def has_dense_heads(config: NetworkConfig) -> bool:
    """Whether both heads of a network with these resolved options read every cell."""
    return (config.policy, config.value_head) == ("dense", "dense")


def has_board_heads(config: NetworkConfig) -> bool:
    """Whether a network with these resolved options has the heads of `BoardHeads`."""
    return (config.policy, config.value_head) == ("board", "pooled")


def fits_any_size(config: NetworkConfig) -> bool:
    """Whether the weights of a network with these resolved options fit boards of any size."""
    return config.policy == "board" and config.value_head in ("pooled", "regions")


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
    policy, value_head = config.policy, config.value_head
    has_board = policy != "dense" and kind == "residual" and board_actions(game) is not None
    if policy == "board" and not has_board:
        raise ValueError(
            f"policy is board, and the actions of {game.name} do not lie on the board of a "
            "residual network: use policy=dense, or declare board_actions (docs/write-a-game.md)"
        )
    if value_head in ("pooled", "regions") and kind == "mlp":
        raise ValueError(
            f"value_head is {value_head}, which needs kind=residual: use value_head=dense"
        )
    policy = "board" if has_board else "dense"
    if value_head == "auto":
        value_head = "pooled" if has_board else "dense"
    return dataclasses.replace(
        config, kind=kind, values=values, policy=policy, value_head=value_head
    )


def _values_for(players: int) -> Literal["mover", "players"]:
    return "mover" if players <= 2 else "players"


def _default(option: str) -> Any:
    return NetworkConfig.__dataclass_fields__[option].default
