"""How the nodes of a traced tree hang together, and sums over all that is below each of them.

Nodes have a *rank* beside their number: their place when the tree is written down branch by branch,
a node before what is below it. What is below a node has the ranks from its own to its own plus its
size, so that the simulations through a node are those that ended at such a rank, and counting them
for all nodes together takes one running sum.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.search.tree_memory import ROOT

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


class Shape(NamedTuple):
    """How N nodes hang together."""

    parent: Ints  # [N] the root is its own
    depth: Ints  # [N]
    rank: Ints  # [N]
    size: Ints  # [N] nodes below, itself included
    children: Ints  # [N − 1] all nodes but the root by parent, then by number
    first_child: Ints  # [N + 1] a node's first place in `children`


def make_shape(parent: Ints) -> Shape:
    """Depths, ranks and sizes from parents, whose numbers are below their children's."""
    count = len(parent)
    depth = _find_depths(parent)
    levels = split_levels(np.arange(1, count), depth)
    size = np.ones(count, np.int32)
    for level in reversed(levels):
        np.add.at(size, parent[level], size[level])
    children = (np.argsort(parent[1:], kind="stable") + 1).astype(np.int32)
    first_child = running_sum(np.bincount(parent[1:], minlength=count))
    sizes_before = running_sum(size[children])
    offset = np.zeros(count, np.int32)  # the sizes of the siblings that come before
    offset[children] = sizes_before[:-1] - sizes_before[first_child[parent[children]]]
    rank = np.zeros(count, np.int32)
    for level in levels:
        rank[level] = rank[parent[level]] + 1 + offset[level]
    return Shape(parent, depth, rank, size, children, first_child)


def split_levels(nodes: NDArray[Any], depth: Ints) -> list[NDArray[Any]]:
    """The nodes of each depth together, from the top down."""
    if len(nodes) == 0:
        return []
    depths = depth[nodes]
    order = np.argsort(depths, kind="stable")
    return np.split(nodes[order], np.flatnonzero(np.diff(depths[order])) + 1)


def running_sum(numbers: NDArray[Any]) -> Ints:
    """[len + 1] the sum of all numbers before each place."""
    return np.concatenate([[0], np.cumsum(numbers)]).astype(np.int32)


def children_of(shape: Shape, node: int) -> Ints:
    """The node's children by number, which is by rank too."""
    return shape.children[shape.first_child[node] : shape.first_child[node + 1]]


def count_through(shape: Shape, end_rank: Ints) -> Ints:
    """[N] how many of the simulations that ended at those ranks went through each node."""
    ended = running_sum(np.bincount(end_rank, minlength=len(shape.rank)))
    through: Ints = ended[shape.rank + shape.size] - ended[shape.rank]
    return through


def sum_through(shape: Shape, end_rank: Ints, values: Floats) -> Floats:
    """[N, P] the sums of what those simulations brought back [T, P] through each node."""
    ends, sums = shape.rank + shape.size, np.empty((len(shape.rank), values.shape[1]))
    for player, column in enumerate(values.T):
        ended = np.bincount(end_rank, column, minlength=len(shape.rank))
        before = np.concatenate([[0.0], np.cumsum(ended)])
        sums[:, player] = before[ends] - before[shape.rank]
    return sums


def _find_depths(parent: Ints) -> Ints:
    """[N] by looking twice as far up each time."""
    depth = np.ones(len(parent), np.int32)
    depth[ROOT] = 0
    above = parent
    while above.any():
        depth += depth[above]
        above = above[above]
    return depth
