"""Working memory for one search, with the seeds of its random streams."""

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.random_streams import HALF, LOW, MULTIPLIER
from plainzero.search.kernels.scratch import Scratch, trace_dtype, trail_dtype, work_dtype
from plainzero.search.kernels.tree import edges_per_node
from plainzero.search.resolve_options import simulation_limit


def make_scratch(game: Game, config: SearchConfig, games: int, seed: int) -> Scratch:
    """Working memory for one search.

    Raises:
        ValueError: if a trace does not fit into `max_bytes`.
    """
    traced_bytes = games * config.simulations * trace_dtype(game).itemsize
    if config.trace and traced_bytes > config.max_bytes:
        raise ValueError(
            f"a trace of {config.simulations:,} simulations takes {traced_bytes:,} bytes, and "
            f"max_bytes is {config.max_bytes:,}; set fewer simulations or a larger max_bytes"
        )
    moves = game.max_turns + 1 if config.amaf != "off" else 0
    traced = config.simulations if config.trace else 0
    work = np.zeros(games, work_dtype(game))
    work["last_place"] = -1
    work["simulation_limit"], work["visit_limit"] = simulation_limit(config), config.visits
    return Scratch(
        work=work,
        streams=make_streams(seed, games),
        leaves=np.zeros((games, config.leaves), np.int64),
        actions=np.zeros((games, config.leaves, edges_per_node(game)), np.int32),
        trail=np.zeros((games, moves), trail_dtype()),
        trace=np.zeros((games, traced), trace_dtype(game)),
        fits=np.zeros((games, 2, -(-config.templates // 64)), np.uint64),
        images=_images(game) if config.templates else np.zeros((0, 0), np.int32),
    )


def _images(game: Game) -> NDArray[np.int32]:
    """[symmetries, A] the image of each action, first under the identity."""
    turned = [symmetry.actions for symmetry in game.symmetries()]
    return np.array([range(game.num_actions), *turned], np.int32)


def make_streams(seed: int, count: int, first: int = 0) -> NDArray[np.uint64]:
    """[count] streams of games `first` … `first + count − 1`: splitmix64 of seed and game."""
    games = np.arange(first, first + count, dtype=np.uint64)
    root = _mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64))
    streams = _mix(root + games * np.uint64(0x9E3779B97F4A7C15))
    low = np.maximum(streams & LOW, np.uint64(1))  # 0 would stay 0
    high = (streams >> HALF) % MULTIPLIER
    states: NDArray[np.uint64] = high << HALF | low
    return states


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of splitmix64; on arrays, which wrap silently while scalars warn."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
