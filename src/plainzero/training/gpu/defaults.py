"""The default settings of a run on a GPU, whose memory decides how many games are concurrent."""

import dataclasses
import math
from collections.abc import Sequence

from plainzero.devices import free_bytes
from plainzero.games.contract import Game
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.tree import edges_per_node
from plainzero.search.tree_memory import bytes_each
from plainzero.training.settings import RunConfig, change, default_config

_MOST_GAMES = 8192  # twice as many gain 8 % with 4x64, see docs/lab-notebook.md


def gpu_config(game: Game, device: str, settings: Sequence[str] = ()) -> RunConfig:
    """The settings of a new run on a GPU, changed by those given; see `new_config`."""
    asked = _changed(default_config(game, device, games=1), game, settings)
    if _is_set("selfplay.games", settings):
        games = asked.selfplay.games
    else:
        games = fit_games(game, asked.search, asked.network, free_bytes(), asked.run.gpu_share)
    return _changed(default_config(game, device, games), game, settings)


def _changed(config: RunConfig, game: Game, settings: Sequence[str]) -> RunConfig:
    """The config with the settings; a network of another kind has its own default size."""
    about_kind = [setting for setting in settings if setting.strip().startswith("network.kind")]
    if resolve_network(change(RunConfig(), about_kind).network, game).kind != "residual":
        config = dataclasses.replace(config, network=NetworkConfig())
    return change(config, settings)


def _is_set(option: str, settings: Sequence[str]) -> bool:
    return any(setting.partition("=")[0].strip() == option for setting in settings)


def fit_games(
    game: Game, search: SearchConfig, network: NetworkConfig, free: int, share: float = 1.0
) -> int:
    """The number of games side by side that fit into `free` bytes of a GPU: a power of two.

    Half of the memory is for their trees and for evaluating them; the rest for the replay and for
    learning. `share` scales that number and its maximum.
    """
    simulations = max(search.simulations, search.visits)
    node_bytes, edge_bytes, game_bytes = bytes_each(game, search)
    tree = (simulations + 1) * (node_bytes + edge_bytes * edges_per_node(game)) + game_bytes
    moves = (game.max_turns + 1) * 4 * (game.num_actions + 2 * game.num_players + 2)
    cells = math.prod(game.observation_shape[1:]) or 1
    computed = 16 * cells * network.channels + 8 * math.prod(game.observation_shape)
    fitting = int(share * min(_MOST_GAMES, free // 2 // (tree + moves + computed)))
    return 1 << max(0, fitting.bit_length() - 1)
