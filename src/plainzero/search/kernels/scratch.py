"""What one search needs besides the tree, and what it reports; lives as long as the search."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.search.kernels.tree import edges_per_node

# Bits of `faults`: errors, which kernels cannot raise.
NO_LEGAL_ACTION = 1
NOT_ENDING = 2
NOT_A_NUMBER = 4

# Bits of `notes`.
TREE_FULL = 1


class Scratch(NamedTuple):
    """Working memory. B games, K leaves per round, L the longest game, T traced simulations."""

    work: NDArray[Any]  # [B] see work_dtype
    streams: NDArray[np.uint64]  # [B] random numbers
    leaves: NDArray[np.int64]  # [B, K] nodes selected in this round
    actions: NDArray[np.int32]  # [B, K, A] their legal actions, until they are evaluated
    trail: NDArray[Any]  # [B, L] see trail_dtype; empty without AMAF
    trace: NDArray[Any]  # [B, T] see trace_dtype; empty unless requested
    fits: NDArray[np.uint64]  # [B, 2, words] see win_templates.py; empty without templates
    images: NDArray[np.int32]  # [symmetries, A] image of each action, first under the identity


@functools.lru_cache(maxsize=64)
def work_dtype(game: Game) -> np.dtype[Any]:
    """What a search knows of one game besides its tree."""
    edges = edges_per_node(game)
    return record_dtype(
        simulation_limit=np.int64,  # 0: none
        visit_limit=np.int64,  # of the root, 0: none
        simulations=np.int64,  # done so far
        tidied_at=np.int64,  # simulations done when proven parts were last discarded
        num_leaves=np.int64,  # selected in this round
        fallbacks=np.int64,  # nodes whose legal moves all got prior 0
        faults=np.int32,
        notes=np.int32,
        has_begun=np.bool_,
        stop=np.int32,  # not 0: stop the search; another thread may set it
        values=(np.float64, game.num_players),  # one result
        rollout_sum=(np.float64, game.num_players),
        probabilities=(np.float64, edges),  # of chance's outcomes in one position
        weights=(np.float64, edges),  # one number per edge of a node, for various purposes
        gumbel=(np.float64, edges),  # g of each root edge
        base_visits=(np.int32, edges),  # visits of each root edge when the search began
        actions=(np.int32, edges),  # legal actions or outcomes of one position
        holders=(np.int8, game.num_actions),  # of each cell; for templates, as the three below
        zone=(np.uint64, -(-game.num_actions // 64)),
        in_zone=(np.int8, game.num_actions),
        is_needed=(np.int8, game.num_actions),
        last_place=(np.int32, game.num_players * game.num_actions),  # AMAF: −1 between uses
    )


def trail_dtype() -> np.dtype[Any]:
    """One move of a simulation, for AMAF."""
    return record_dtype(
        code=np.int32,  # player · A + action
        before=np.int32,  # the latest earlier occurrence of the same move, or −1
    )


@functools.lru_cache(maxsize=64)
def trace_dtype(game: Game) -> np.dtype[Any]:
    """One simulation, for drawing."""
    return record_dtype(
        values=(np.float64, game.num_players),
        raised=(np.float64, game.num_players),  # the result from `raised_at` to the root
        raised_at=np.int32,  # the node that raised the result, or −1
        leaf=np.int32,  # node, or −1 if a full tree did not keep it
        edge=np.int32,  # the edge that led to it
        kind=np.int32,  # EXPANDED, FINISHED, PROVEN or NOT_KEPT
    )


EXPANDED, FINISHED, PROVEN, NOT_KEPT = range(4)
