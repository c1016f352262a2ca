"""What one search needs beside the tree, and what it reports: gone when the search has ended."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.random_streams import make_streams
from plainzero.search.resolve_options import simulation_limit
from plainzero.search.tree_memory import edges_per_node

# Bits of `faults`: what kernels cannot raise.
NO_LEGAL_ACTION = 1
NOT_ENDING = 2
NOT_A_NUMBER = 4

# Bits of `notes`.
TREE_FULL = 1


class Scratch(NamedTuple):
    """Working memory. B games, K leaves a round, L the longest game, T simulations to trace."""

    work: NDArray[Any]  # [B] see work_dtype
    streams: NDArray[np.uint64]  # [B] random numbers
    leaves: NDArray[np.int64]  # [B, K] nodes selected in this round
    actions: NDArray[np.int32]  # [B, K, A] their legal actions, until they are evaluated
    trail: NDArray[Any]  # [B, L] see trail_dtype; empty without AMAF
    trace: NDArray[Any]  # [B, T] see trace_dtype; empty unless wanted
    fits: NDArray[np.uint64]  # [B, 2, words] see templates.py; empty without templates
    images: NDArray[np.int32]  # [symmetries, A] what each action becomes, the identity first


@functools.lru_cache(maxsize=64)
def work_dtype(game: Game) -> np.dtype[Any]:
    """What a search knows of one game beside its tree."""
    edges = edges_per_node(game)
    return record_dtype(
        simulation_limit=np.int64,  # 0: none
        visit_limit=np.int64,  # of the root, 0: none
        simulations=np.int64,  # done so far
        tidied_at=np.int64,  # simulations done when a full tree was last tidied
        num_leaves=np.int64,  # selected in this round
        fallbacks=np.int64,  # nodes whose legal moves got no prior at all
        faults=np.int32,
        notes=np.int32,
        has_begun=np.bool_,
        stop=np.int32,  # not 0: end the search; another thread may set it
        values=(np.float64, game.num_players),  # one result
        rollout_sum=(np.float64, game.num_players),
        probabilities=(np.float64, edges),  # of chance's outcomes in one position
        weights=(np.float64, edges),  # one number per edge of a node, for various ends
        gumbel=(np.float64, edges),  # g of each root edge
        base_visits=(np.int32, edges),  # visits of each root edge when the search began
        actions=(np.int32, edges),  # legal actions or outcomes of one position
        holders=(np.int8, game.num_actions),  # of each cell, and a zone, for templates
        zone=(np.uint64, -(-game.num_actions // 64)),
        in_zone=(np.int8, game.num_actions),
        is_needed=(np.int8, game.num_actions),
        last_place=(np.int32, game.num_players * game.num_actions),  # AMAF: −1 between uses
    )


def trail_dtype() -> np.dtype[Any]:
    """One move of a simulation, for AMAF."""
    return record_dtype(
        code=np.int32,  # player · A + action
        before=np.int32,  # the latest earlier place of the same move, or −1
    )


@functools.lru_cache(maxsize=64)
def trace_dtype(game: Game) -> np.dtype[Any]:
    """One simulation, for drawing."""
    return record_dtype(
        values=(np.float64, game.num_players),
        leaf=np.int32,  # node, or −1 for one that a full tree did not keep
        edge=np.int32,  # the edge that led to it
        kind=np.int32,  # EXPANDED, FINISHED, PROVEN or NOT_KEPT
    )


EXPANDED, FINISHED, PROVEN, NOT_KEPT = range(4)


def make_scratch(game: Game, config: SearchConfig, games: int, seed: int) -> Scratch:
    """Working memory for one search.

    Raises:
        ValueError: when a trace does not fit into `max_bytes`.
    """
    traced_bytes = games * config.simulations * trace_dtype(game).itemsize
    if config.trace and traced_bytes > config.max_bytes:
        raise ValueError(
            f"a trace of {config.simulations:,} simulations takes {traced_bytes:,} bytes, and "
            f"max_bytes is {config.max_bytes:,}; set fewer simulations or more max_bytes"
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
    """What each action becomes, first as it is, then by each symmetry of the board."""
    turned = [symmetry.actions for symmetry in game.symmetries()]
    return np.array([range(game.num_actions), *turned], np.int32)
