"""The tree: arrays of records, a row per game, edges for legal moves only.

Nodes and edges are numbered from 0 in the order in which they were made; the root is node 0. A
node's edges stand side by side. Rows are never cleared: a node is written whole when it is made,
its edges once it is evaluated, so memory that was never reached is never touched.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game, has_chance
from plainzero.search.config import MOST_BYTES, SearchConfig, needs_extras, needs_node_extras

ROOT = 0
MOST_VISITS = 2**31 - 2  # visits are 32 bits; a search ends there
UNVISITED = -1  # child of an edge that was never tried
_NODES_PER_SIMULATION = 8  # where chance moves: each of its moves in a row is a node too
ZONE, NEED = 0, 1  # of `templates`
WAITING = -1  # num_edges of a leaf that waits for its evaluation and has no place for edges


_WORD = np.dtype(np.uint64)


class Tree(NamedTuple):
    """What a search knows. B games, N nodes and E edges a game, P players, A actions.

    Beyond the N places for nodes there are `leaves` more, for leaves that a full tree cannot keep,
    and one for rollouts.
    """

    nodes: NDArray[Any]  # [B, N + leaves + 1] see node_dtype
    node_extras: NDArray[Any]  # [B, N + leaves + 1] see node_extra_dtype; often empty
    states: NDArray[Any]  # [B, N + leaves + 1] the game's own records
    edges: NDArray[Any]  # [B, E] see edge_dtype
    extras: NDArray[Any]  # [B, E] see extra_dtype; empty unless an option needs it
    amaf: NDArray[Any]  # [B, N + leaves + 1, P * A] see amaf_dtype; empty without AMAF
    zones: NDArray[Any]  # [B, N + leaves + 1, A / 64] cells by bits; empty without templates
    templates: NDArray[Any]  # [B, P, 2, A, T / 64] T by bits: those whose ZONE, or NEED, has cell A
    roots: NDArray[Any]  # [B] see root_dtype


def node_dtype(game: Game) -> np.dtype[Any]:
    """A position in the tree."""
    return record_dtype(
        parent=np.int32,  # node
        parent_edge=np.int32,
        first_edge=np.int32,
        num_edges=np.int32,  # negative while the node waits for its evaluation
        sum_visits=np.int32,  # S, simulations that went on below
        mover=np.int16,  # who plays here; a copy from the state, which descents then need not touch
        is_ahead=np.int16,  # marks what stays while others are let go
        value_sum=(np.float64, game.num_players),  # own evaluation, then all results below too
    )


def node_extra_dtype() -> np.dtype[Any]:
    """What a node has only under some options."""
    return record_dtype(
        own_value=np.float64,  # own evaluation for the mover
        square_sum=np.float64,  # of the mover's results, own evaluation included
    )


def edge_dtype() -> np.dtype[Any]:
    """A legal move of a node, or an outcome of chance."""
    return record_dtype(
        value_sum=np.float64,  # W, for the mover of the edge's node
        q=np.float64,  # W / n; divided once a backup rather than at every look
        prior=np.float32,  # P, at the root with its noise
        visits=np.int32,  # n
        child=np.int32,  # node or UNVISITED
        action=np.int32,
    )


def extra_dtype() -> np.dtype[Any]:
    """What an edge has only under some options."""
    return record_dtype(
        square_sum=np.float64,  # of the mover's results
        exact=np.float32,  # proven value for the mover
        pending=np.int32,  # leaves below that wait for their evaluation
        is_proven=np.bool_,
    )


def amaf_dtype() -> np.dtype[Any]:
    """What a node knows of a move, by player and action, wherever it was played below."""
    return record_dtype(value_sum=np.float64, visits=np.int32)


def root_dtype(game: Game) -> np.dtype[Any]:
    """What there is once per game."""
    return record_dtype(
        num_nodes=np.int32,
        used_edges=np.int32,
        exact=np.float32,  # proven value for the mover
        is_proven=np.bool_,
        is_cheap=np.bool_,  # whether this search goes without noise and forced playouts
        num_templates=(np.int64, game.num_players),  # learned, even if forgotten by now
        has_clean_prior=np.bool_,  # whether clean_prior is this root's
        clean_prior=(np.float32, edges_per_node(game)),  # the evaluator's, by edge, without noise
    )


def edges_per_node(game: Game) -> int:
    """The most edges that one node can have."""
    return int(max(game.num_actions, game.max_chance_outcomes if has_chance(game) else 1))


class TreeSize(NamedTuple):
    """How large a tree may grow, per game."""

    nodes: int
    edges: int


def plan_tree(game: Game, config: SearchConfig, games: int, kept: int = 0) -> TreeSize:
    """The places for nodes and edges that the budget asks for beside `kept` nodes, in `max_bytes`.

    Raises:
        ValueError: when not even a root and one move fit.
    """
    node_bytes, edge_bytes, game_bytes = bytes_each(game, config)
    room = config.max_bytes // games - game_bytes
    widest = edges_per_node(game)
    # Without a number of simulations to go by, a node counts with the edges of a typical one.
    most = room // (node_bytes + edge_bytes * min(widest, 64))
    grown = config.simulations * (_NODES_PER_SIMULATION if has_chance(game) else 1)
    visited = config.visits * (_NODES_PER_SIMULATION if has_chance(game) else 1)
    budgets = [grown and kept + grown + 1, visited and max(kept, visited) + 1, config.nodes]
    nodes = min(most, 2**31 - 1, *filter(None, budgets))
    edges = min(nodes * widest, (room - nodes * node_bytes) // edge_bytes, 2**31 - 1)
    if nodes < 1 or edges < widest:
        needed = games * (game_bytes + 2 * node_bytes + 2 * widest * edge_bytes)
        raise ValueError(
            f"max_bytes={config.max_bytes} holds no tree of {game.name} for {games} game(s); "
            f"give it at least {needed}"
        )
    return TreeSize(nodes, edges)


def plan_whole_tree(game: Game, config: SearchConfig, games: int) -> TreeSize:
    """The same, for all that the budget can need, in which no leaf is left out.

    Raises:
        ValueError: when that is more than `max_bytes`.
    """
    whole = plan_tree(game, dataclasses.replace(config, max_bytes=MOST_BYTES), games)
    needed = tree_bytes(game, config, games, whole)
    if needed > config.max_bytes:
        raise ValueError(
            f"{games:,} trees of {config.simulations} simulations take {needed:,} bytes, and there "
            f"are {config.max_bytes:,} for them"
        )
    return whole


class Memory(NamedTuple):
    """Where arrays live."""

    empty: Callable[[tuple[int, ...], Any], Any]  # room for an array
    upload: Callable[[NDArray[Any]], Any]  # an array of NumPy's, put there


def make_tree(
    game: Game, config: SearchConfig, games: int, size: TreeSize, memory: Memory | None = None
) -> Tree:
    """An empty tree of that size; the system gives its memory only as it grows."""
    memory = memory or HOST
    length = {"node": (size.nodes + _places_beyond(config),), "edge": (size.edges,), "game": ()}
    arrays = {}
    for name, column in _columns(game, config).items():
        shape = (games, *length[column.per], *column.tail)
        arrays[name] = memory.empty(shape if column.is_used else (0,) * len(shape), column.dtype)
    roots = np.zeros(games, root_dtype(game))
    return Tree(**arrays)._replace(roots=memory.upload(roots))


def _room(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        size = math.prod(shape) * dtype.itemsize
        raise ValueError(
            f"this machine does not give {size:,} bytes to the tree; set a smaller max_bytes"
        ) from None


HOST = Memory(empty=_room, upload=lambda array: array)
"""The memory that the processor works in."""


def enlarge_tree(game: Game, config: SearchConfig, tree: Tree, size: TreeSize) -> Tree:
    """A tree of a larger size with the same contents."""
    larger = make_tree(game, config, len(tree.roots), size)
    used = {"node": tree.roots["num_nodes"].max(), "edge": tree.roots["used_edges"].max()}
    for name, column in _columns(game, config).items():
        old, new = getattr(tree, name), getattr(larger, name)
        if column.is_used and column.per == "game":
            new[:] = old
        elif column.is_used:
            new[:, : used[column.per]] = old[:, : used[column.per]]
    return larger


def tree_bytes(game: Game, config: SearchConfig, games: int, size: TreeSize) -> int:
    """What a tree of that size takes at most."""
    node_bytes, edge_bytes, game_bytes = bytes_each(game, config)
    return games * (size.nodes * node_bytes + size.edges * edge_bytes + game_bytes)


class _Column(NamedTuple):
    dtype: np.dtype[Any]
    per: str  # node, edge or game
    tail: tuple[int, ...] = ()
    is_used: bool = True


@functools.lru_cache(maxsize=64)
def _columns(game: Game, config: SearchConfig) -> dict[str, _Column]:
    """The arrays of a tree; those that no option needs take no room."""
    codes = game.num_players * game.num_actions
    return {
        "nodes": _Column(node_dtype(game), "node"),
        "node_extras": _Column(node_extra_dtype(), "node", (), needs_node_extras(config)),
        "states": _Column(game.dtype, "node"),
        "edges": _Column(edge_dtype(), "edge"),
        "extras": _Column(extra_dtype(), "edge", (), needs_extras(config)),
        "amaf": _Column(amaf_dtype(), "node", (codes,), config.amaf != "off"),
        "zones": _Column(_WORD, "node", (-(-game.num_actions // 64),), config.templates > 0),
        "templates": _Column(
            _WORD,
            "game",
            (game.num_players, 2, game.num_actions, -(-config.templates // 64)),
            config.templates > 0,
        ),
        "roots": _Column(root_dtype(game), "game"),
    }


@functools.lru_cache(maxsize=64)
def bytes_each(game: Game, config: SearchConfig) -> tuple[int, int, int]:
    """The bytes of one node, of one edge, and of what there is once per game."""
    total = {"node": 0, "edge": 0, "game": 0}
    for column in _columns(game, config).values():
        if column.is_used:
            total[column.per] += column.dtype.itemsize * math.prod(column.tail)
    return total["node"], total["edge"], total["game"] + _places_beyond(config) * total["node"]


def _places_beyond(config: SearchConfig) -> int:
    return config.leaves + 1


def node_places(tree: Tree, config: SearchConfig) -> int:
    """N: the nodes that the tree can keep."""
    return int(tree.nodes.shape[1]) - _places_beyond(config)
