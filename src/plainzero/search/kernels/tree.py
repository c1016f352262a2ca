"""The tree: arrays of records, one row per game, with edges for legal moves only.

Nodes and edges are numbered from 0 in the order of their creation; the root is node 0. The edges of
a node are contiguous. Rows are never cleared: a node is written in full when it is created, its
edges when it is evaluated, so memory that was never reached is never touched.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game, has_chance

ROOT = 0
MOST_VISITS = 2**31 - 2  # visits have 32 bits; a search stops there
WORST_RESULT = -1.0  # for a player; the best is its negative
UNVISITED = -1  # child of an edge that was never tried
ZONE, NEED = 0, 1  # indices into `win_templates`
WAITING = -1  # num_edges of a leaf that waits for its evaluation and has no room for edges


class Tree(NamedTuple):
    """What a search knows. B games, N nodes and E edges per game, P players, A actions.

    After the N nodes there are `leaves` more places, for leaves that a full tree cannot keep, and
    one for rollouts.
    """

    nodes: NDArray[Any]  # [B, N + leaves + 1] see node_dtype
    node_extras: NDArray[Any]  # [B, N + leaves + 1] see node_extra_dtype; often empty
    states: NDArray[Any]  # [B, N + leaves + 1] the game's own records
    edges: NDArray[Any]  # [B, E] see edge_dtype
    extras: NDArray[Any]  # [B, E] see extra_dtype; empty unless an option needs it
    amaf: NDArray[Any]  # [B, N + leaves + 1, P * A] see amaf_dtype; empty without AMAF
    zones: NDArray[Any]  # [B, N + leaves + 1, A / 64] bits: cells; empty without templates
    templates: NDArray[Any]  # [B, P, 2, A, T / 64] bits: templates with cell A in ZONE or NEED
    roots: NDArray[Any]  # [B] see root_dtype


def node_dtype(game: Game) -> np.dtype[Any]:
    """A position in the tree."""
    return record_dtype(
        parent=np.int32,  # node
        parent_edge=np.int32,
        first_edge=np.int32,
        num_edges=np.int32,  # negative while the node waits for its evaluation
        sum_visits=np.int32,  # S, simulations that continued below
        mover=np.int16,  # who plays here; copied from the state, so that descents need not read it
        is_ahead=np.int16,  # marks nodes to keep while others are discarded
        value_sum=(np.float64, game.num_players),  # own evaluation plus all results below
    )


def node_extra_dtype() -> np.dtype[Any]:
    """What a node has with some options only."""
    return record_dtype(
        own_value=np.float64,  # own evaluation for the mover
        square_sum=np.float64,  # of the mover's results, own evaluation included
    )


def edge_dtype() -> np.dtype[Any]:
    """A legal move of a node, or an outcome of chance."""
    return record_dtype(
        value_sum=np.float64,  # W, for the mover of the edge's node
        q=np.float64,  # W / n; divided once per backup rather than at every read
        prior=np.float32,  # P; at the root with noise
        visits=np.int32,  # n
        child=np.int32,  # node or UNVISITED
        action=np.int32,
    )


def extra_dtype() -> np.dtype[Any]:
    """What an edge has with some options only."""
    return record_dtype(
        square_sum=np.float64,  # of the mover's results
        exact=np.float32,  # proven value for the mover
        floor=np.float32,  # best proven value of the child's moves, for the child's mover
        pending=np.int32,  # leaves below it that wait for their evaluation
        proof_length=np.int16,  # moves from here to the end of the proof, this one included
        is_proven=np.bool_,
    )


def amaf_dtype() -> np.dtype[Any]:
    """A node's statistics of a move, by player and action, wherever it was played below."""
    return record_dtype(value_sum=np.float64, visits=np.int32)


def root_dtype(game: Game) -> np.dtype[Any]:
    """What exists once per game."""
    return record_dtype(
        num_nodes=np.int32,
        used_edges=np.int32,
        exact=np.float32,  # proven value for the mover
        floor=np.float32,  # best proven value of its moves, for the mover
        is_proven=np.bool_,
        is_cheap=np.bool_,  # whether this search does without noise and forced playouts
        num_templates=(np.int64, game.num_players),  # learned so far, discarded ones included
        has_clean_prior=np.bool_,  # whether clean_prior belongs to this root
        clean_prior=(
            np.float32,
            edges_per_node(game),
        ),  # the evaluator's priors, by edge
    )


def edges_per_node(game: Game) -> int:
    """The most edges that one node can have."""
    return int(max(game.num_actions, game.max_chance_outcomes if has_chance(game) else 1))
