"""What one search needs beside the tree, and what it reports: gone when the search has ended."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tesuji.games.contract import Game
from tesuji.records import record_dtype
from tesuji.search.config import SearchConfig
from tesuji.search.random import make_streams
from tesuji.search.tree import edges_per_node

# Bits of `faults`: what kernels cannot raise.
NO_LEGAL_ACTION = 1
NOT_ENDING = 2
NOT_A_NUMBER = 4

# Bits of `notes`.
TREE_FULL = 1


class Scratch(NamedTuple):
    """Working memory. B games, K leaves a round, P players, A actions, L the longest game."""

    work: NDArray[Any]  # [B] see work_dtype
    streams: NDArray[np.uint64]  # [B] random numbers
    stop: NDArray[np.int32]  # [1] not 0: end the search; another thread may set it
    leaves: NDArray[np.int64]  # [B, K] nodes selected in this round
    leaf_values: NDArray[np.float64]  # [B, K, P]
    rollout_states: NDArray[Any]  # [B] the game's own records
    trail: NDArray[np.int32]  # [B, L] AMAF: player · A + action of each move in a simulation
    trail_before: NDArray[np.int32]  # [B, L] the latest earlier place with the same move, or −1
    last_place: NDArray[np.int32]  # [B, P · A] −1 between uses
    halving: NDArray[np.int64]  # [m + 1, simulations] Gumbel: r(t) for each number of moves
    trace: NDArray[Any]  # [B, simulations] see trace_dtype; empty unless wanted


@functools.lru_cache(maxsize=64)
def work_dtype(game: Game) -> np.dtype[Any]:
    """What a search knows of one game beside its tree."""
    edges = edges_per_node(game)
    return record_dtype(
        simulations=np.int64,  # done so far
        fallbacks=np.int64,  # nodes whose legal moves got no prior at all
        faults=np.int32,
        notes=np.int32,
        num_leaves=np.int64,  # selected in this round
        values=(np.float64, game.num_players),  # one result
        rollout_sum=(np.float64, game.num_players),
        probabilities=(np.float64, edges),  # of chance's outcomes in one position
        weights=(np.float64, edges),  # one number per edge of a node, for various ends
        gumbel=(np.float64, edges),  # g of each root edge
        base_visits=(np.int32, edges),  # visits of each root edge when the search began
        actions=(np.int32, edges),  # legal actions or outcomes of one position
    )


@functools.lru_cache(maxsize=64)
def trace_dtype(game: Game) -> np.dtype[Any]:
    """One simulation."""
    return record_dtype(
        values=(np.float64, game.num_players),
        leaf=np.int32,  # node, or −1 for one that a full tree did not keep
        edge=np.int32,  # the edge that led to it
        kind=np.int32,  # EXPANDED, FINISHED, PROVEN or NOT_KEPT
    )


EXPANDED, FINISHED, PROVEN, NOT_KEPT = range(4)


def make_scratch(game: Game, config: SearchConfig, games: int, seed: int) -> Scratch:
    """Working memory for one search."""
    has_amaf = config.amaf != "off"
    codes = game.num_players * game.num_actions if has_amaf else 0
    moves = game.max_turns + 1 if has_amaf else 0
    scheduled = config.simulations if config.selection == "gumbel" else 0
    traced = config.simulations if config.trace else 0
    return Scratch(
        work=np.zeros(games, work_dtype(game)),
        streams=make_streams(seed, games),
        stop=np.zeros(1, np.int32),
        leaves=np.zeros((games, config.leaves), np.int64),
        leaf_values=np.zeros((games, config.leaves, game.num_players)),
        rollout_states=np.zeros(games, game.dtype),
        trail=np.zeros((games, moves), np.int32),
        trail_before=np.zeros((games, moves), np.int32),
        last_place=np.full((games, codes), -1, np.int32),
        halving=halving_table(config.gumbel_actions, scheduled),
        trace=np.zeros((games, traced), trace_dtype(game)),
    )


def halving_table(actions: int, simulations: int) -> NDArray[np.int64]:
    """Sequential halving's required visits: row m, column t, for m moves at the start."""
    table = np.zeros((actions + 1, simulations), np.int64)
    for moves in range(1, actions + 1):
        table[moves] = _required_visits(moves, simulations)
    return table


def _required_visits(moves: int, simulations: int) -> list[int]:
    if moves == 1:
        return list(range(simulations))
    rounds = (moves - 1).bit_length()  # ⌈log₂ m⌉
    required: list[int] = []
    visits, left = 0, moves
    while len(required) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            required += [visits] * left
            visits += 1
        left = max(2, left // 2)
    return required[:simulations]
