"""Zones: the cells on which a proof rests, in games whose moves take cells for good.

A win rests on cells that the winner holds, and on empty cells where the winner replies. If the
opponent plays elsewhere, the same replies win; so the refutation of one move refutes every move
outside its zone (Hayward and others, "Solving 7×7 Hex", 2005: the must-play region).
"""

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import (
    KERNEL_JIT_OPTIONS,
    Function,
    compiled_as,
    kernel_function,
)
from plainzero.games.rules import game_of_type
from plainzero.search.kernels.tree import Tree

_BIT = np.uint64(1)


def for_cells(function: Function) -> Function:
    """Marks a kernel function that, for other games, does nothing and is not compiled."""

    def choose(tree: Any, *_: Any) -> Any:
        states: types.Array = tree.types[tree.fields.index("states")]
        if game_of_type(states.dtype).moves_take_cells:
            return function
        return lambda tree, scratch, options, b, place: False

    compiled_as(function, KERNEL_JIT_OPTIONS)(choose)
    return function


@kernel_function
def clear_zone(tree: Tree, b: int, place: int) -> None:
    """Empties the node's zone."""
    for word in range(tree.zones.shape[2]):
        tree.zones[b, place, word] = np.uint64(0)


@kernel_function
def add_cell(zone: NDArray[np.uint64], cell: int) -> None:
    """Adds a cell to the zone."""
    zone[cell // 64] |= _BIT << np.uint64(cell % 64)


@kernel_function
def is_in(zone: NDArray[np.uint64], cell: int) -> bool:
    """Whether the zone contains the cell."""
    return (zone[cell // 64] >> np.uint64(cell % 64)) & _BIT != np.uint64(0)


@kernel_function
def add_zone(tree: Tree, b: int, place: int, zone: NDArray[np.uint64]) -> None:
    """Adds a zone to the node's zone."""
    for word in range(zone.shape[0]):
        tree.zones[b, place, word] |= zone[word]


@kernel_function
def refute(tree: Tree, b: int, place: int, zone: NDArray[np.uint64], proof_length: int) -> int:
    """Marks the node's moves outside the zone as lost; returns how many remain unproven."""
    first = tree.nodes[b, place].first_edge
    for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
        if not tree.extras[b, edge].is_proven and not is_in(zone, tree.edges[b, edge].action):
            mark_edge(tree, b, edge, -1.0, proof_length)
    return count_left(tree, b, place)


@kernel_function
def count_left(tree: Tree, b: int, place: int) -> int:
    """How many of the node's moves are not proven."""
    first, left = tree.nodes[b, place].first_edge, 0
    for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
        if not tree.extras[b, edge].is_proven:
            left += 1
    return left


@kernel_function
def mark_edge(tree: Tree, b: int, edge: int, exact: float, proof_length: int) -> None:
    """Marks the edge as proven."""
    tree.extras[b, edge].is_proven = True
    tree.extras[b, edge].exact = exact
    tree.extras[b, edge].proof_length = proof_length
