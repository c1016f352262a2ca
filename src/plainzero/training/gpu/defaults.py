"""The default settings on a GPU: more of everything. docs/lab-notebook.md has the experiments."""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from plainzero.devices import free_bytes
from plainzero.games.contract import Game
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.tree import edges_per_node
from plainzero.search.tree_memory import bytes_each
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.search_defaults import default_search
from plainzero.training.settings import RunConfig, TrainingConfig, change, default_config

_SIZES: dict[str, Any] = {"blocks": 8, "channels": 64}  # of a residual network
_MOST_GAMES = 8192  # side by side; twice as many gain 8 % with 4x64, see docs/lab-notebook.md


def gpu_config(game: Game, device: str, settings: Sequence[str] = ()) -> RunConfig:
    """The settings of a new run on a GPU, changed by those given; see `new_config`.

    Games are many and start at random, so that they need little further randomness: moves closer
    to the best ones make outcomes closer to the truth.
    """
    base = dataclasses.replace(default_config(game), search=default_search(game, device))
    asked = change(base, settings)
    network = asked.network
    if resolve_network(network, game).kind == "residual":
        sizes = {k: v for k, v in _SIZES.items() if not _is_set(f"network.{k}", settings)}
        network = dataclasses.replace(network, **sizes)
    games = fit_games(game, asked.search, network, free_bytes())
    games = asked.selfplay.games if _is_set("selfplay.games", settings) else games
    fitting = dataclasses.replace(
        base,
        network=network,
        selfplay=SelfPlayConfig(games=games, temperature=0.4),
        training=TrainingConfig(
            generation_positions=32 * games,
            window_start=64 * games,
            batch_size=min(4096, games),
            reuse=3.0,
            average_decay=0.99,
        ),
    )
    return change(fitting, settings)


def _is_set(option: str, settings: Sequence[str]) -> bool:
    return any(setting.partition("=")[0].strip() == option for setting in settings)


def fit_games(game: Game, search: SearchConfig, network: NetworkConfig, free: int) -> int:
    """The number of games side by side that fit into `free` bytes of a GPU: a power of two.

    Half of the memory is for their trees and for evaluating them; the rest for the replay and for
    learning.
    """
    simulations = max(search.simulations, search.visits)
    node_bytes, edge_bytes, game_bytes = bytes_each(game, search)
    tree = (simulations + 1) * (node_bytes + edge_bytes * edges_per_node(game)) + game_bytes
    moves = (game.max_turns + 1) * 4 * (game.num_actions + 2 * game.num_players + 2)
    cells = math.prod(game.observation_shape[1:]) or 1
    computed = 16 * cells * network.channels + 8 * math.prod(game.observation_shape)
    fitting = free // 2 // (tree + moves + computed)
    return int(2 ** max(0, min(_MOST_GAMES, fitting).bit_length() - 1)) if fitting else 1
