"""Zones: the cells on which a proof rests, in games whose moves take cells for good.

A win rests on cells that the winner holds, and on free ones where he answers. Wherever else his
opponent plays, the same answers win; so the refutation of one move refutes every move outside its
zone (Hayward and others, "Solving 7×7 Hex", 2005: the must-play region).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from plainzero.compiler.cpu_kernels import KERNEL, compiled_as, kernel_function
from plainzero.games.rules import game_of_type

_BIT = np.uint64(1)


def for_cells(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a kernel function that does nothing, and is not compiled, for other games."""

    def choose(tree: Any, *_: Any) -> Any:
        states: types.Array = tree.types[tree.fields.index("states")]
        if game_of_type(states.dtype).moves_take_cells:
            return function
        return lambda tree, scratch, options, b, place: False

    compiled_as(function, KERNEL)(choose)
    return function


@kernel_function
def clear_zone(tree: Any, b: Any, place: Any) -> None:
    """No cells."""
    for word in range(tree.zones.shape[2]):
        tree.zones[b, place, word] = np.uint64(0)


@kernel_function
def add_cell(zone: Any, cell: Any) -> None:
    """The cell is one of the zone."""
    zone[cell // 64] |= _BIT << np.uint64(cell % 64)


@kernel_function
def is_in(zone: Any, cell: Any) -> Any:
    """Whether the cell is one of the zone."""
    return (zone[cell // 64] >> np.uint64(cell % 64)) & _BIT != np.uint64(0)


@kernel_function
def add_zone(tree: Any, b: Any, place: Any, zone: Any) -> None:
    """The node rests on that zone too."""
    for word in range(zone.shape[0]):
        tree.zones[b, place, word] |= zone[word]


@kernel_function
def refute(tree: Any, b: Any, place: Any, zone: Any) -> Any:
    """Marks the node's moves outside the zone as lost; returns how many moves are left."""
    first = tree.nodes[b, place].first_edge
    for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
        if not is_in(zone, tree.edges[b, edge].action):
            mark_edge(tree, b, edge, -1.0)
    return count_left(tree, b, place)


@kernel_function
def count_left(tree: Any, b: Any, place: Any) -> Any:
    """The node's moves that are not proven."""
    first, left = tree.nodes[b, place].first_edge, 0
    for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
        if not tree.extras[b, edge].is_proven:
            left += 1
    return left


@kernel_function
def mark_edge(tree: Any, b: Any, edge: Any, exact: Any) -> None:
    """The edge is proven."""
    tree.extras[b, edge].is_proven = True
    tree.extras[b, edge].exact = exact
