"""Memory for trees: how large they may grow, and how they are allocated, enlarged and copied."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game, has_chance
from plainzero.search.config import MOST_BYTES, SearchConfig, needs_extras, needs_node_extras
from plainzero.search.kernels.tree import (
    ROOT,
    Tree,
    amaf_dtype,
    edge_dtype,
    edges_per_node,
    extra_dtype,
    node_dtype,
    node_extra_dtype,
    root_dtype,
)

_NODES_PER_SIMULATION = 8  # with chance: each of its moves in a row is a node too
_WORD = np.dtype(np.uint64)


class TreeSize(NamedTuple):
    """How large a tree may grow, per game."""

    nodes: int
    edges: int


def plan_tree(game: Game, config: SearchConfig, games: int, kept: int = 0) -> TreeSize:
    """The nodes and edges that the budget needs in addition to `kept` nodes, within `max_bytes`.

    Raises:
        ValueError: if not even a root and one move fit.
    """
    node_bytes, edge_bytes, game_bytes = bytes_each(game, config)
    room = config.max_bytes // games - game_bytes
    widest = edges_per_node(game)
    # Without a number of simulations, a node counts with the edges of a typical one.
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
            f"set it to at least {needed}"
        )
    return TreeSize(nodes, edges)


def plan_whole_tree(game: Game, config: SearchConfig, games: int) -> TreeSize:
    """The most nodes and edges that the budget can need, so that every leaf is kept.

    Raises:
        ValueError: if that is more than `max_bytes`.
    """
    whole = plan_tree(game, dataclasses.replace(config, max_bytes=MOST_BYTES), games)
    needed = tree_bytes(game, config, games, whole)
    if needed > config.max_bytes:
        raise ValueError(
            f"{games:,} trees of {config.simulations} simulations take {needed:,} bytes, and "
            f"max_bytes is {config.max_bytes:,}"
        )
    return whole


class Memory(NamedTuple):
    """Where arrays live."""

    empty: Callable[[tuple[int, ...], Any], Any]  # allocates an array
    upload: Callable[[NDArray[Any]], Any]  # a NumPy array, copied there if needed


def make_tree(
    game: Game, config: SearchConfig, games: int, size: TreeSize, memory: Memory | None = None
) -> Tree:
    """An empty tree of that size; the system provides its memory only as it grows."""
    memory = memory or HOST_MEMORY
    length = {"node": (size.nodes + _places_beyond(config),), "edge": (size.edges,), "game": ()}
    arrays = {}
    for name, column in _columns(game, config).items():
        shape = (games, *length[column.per], *column.tail)
        arrays[name] = memory.empty(shape if column.is_used else (0,) * len(shape), column.dtype)
    roots = np.zeros(games, root_dtype(game))
    return Tree(**arrays)._replace(roots=memory.upload(roots))


def _allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(shape, dtype)
    except MemoryError:
        size = math.prod(shape) * dtype.itemsize
        raise ValueError(
            f"cannot allocate {size:,} bytes for the tree; set a smaller max_bytes"
        ) from None


HOST_MEMORY = Memory(empty=_allocate, upload=lambda array: array)


def enlarge_tree(game: Game, config: SearchConfig, tree: Tree, size: TreeSize) -> Tree:
    """The same tree with room for more nodes and edges."""
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
    """The most memory that a tree of that size takes."""
    node_bytes, edge_bytes, game_bytes = bytes_each(game, config)
    return games * (size.nodes * node_bytes + size.edges * edge_bytes + game_bytes)


class _Column(NamedTuple):
    dtype: np.dtype[Any]
    per: str  # node, edge or game
    tail: tuple[int, ...] = ()
    is_used: bool = True


@functools.lru_cache(maxsize=64)
def _columns(game: Game, config: SearchConfig) -> dict[str, _Column]:
    """The arrays of a tree; those that no option needs are empty."""
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
    """The bytes of one node, of one edge, and of what exists once per game."""
    total = {"node": 0, "edge": 0, "game": 0}
    for column in _columns(game, config).values():
        if column.is_used:
            total[column.per] += column.dtype.itemsize * math.prod(column.tail)
    return total["node"], total["edge"], total["game"] + _places_beyond(config) * total["node"]


def _places_beyond(config: SearchConfig) -> int:
    return config.leaves + 1


def node_places(tree: Tree, config: SearchConfig) -> int:
    """N: how many nodes the tree can keep."""
    return int(tree.nodes.shape[1]) - _places_beyond(config)


def copy_roots(tree: Tree) -> Tree:
    """Copies of the roots and their edges, of all games."""
    widest = int(tree.nodes["num_edges"][:, ROOT].max())
    return Tree(
        nodes=tree.nodes[:, :1].copy(),
        node_extras=tree.node_extras[:, :1].copy(),
        states=tree.states[:, :1].copy(),
        edges=tree.edges[:, :widest].copy(),  # a root's edges come first in its row
        extras=tree.extras[:, :widest].copy(),
        amaf=tree.amaf[:, :1].copy(),
        zones=tree.zones[:, :1],
        templates=tree.templates,
        roots=tree.roots.copy(),
    )
