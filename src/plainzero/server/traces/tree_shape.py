"""The shape of a traced tree, and sums over the subtrees of all nodes.

Besides its number, each node has a *rank*: its index in depth-first pre-order. A subtree has the
ranks from its root's rank up to that rank plus its size. The simulations through a node are those
that ended at such a rank, so that one running sum counts them for all nodes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.search.kernels.tree import ROOT

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


class Shape(NamedTuple):
    """The shape of a tree of N nodes."""

    parent: Ints  # [N] the root is its own
    depth: Ints  # [N]
    rank: Ints  # [N]
    size: Ints  # [N] of the subtree, including the node itself
    children: Ints  # [N − 1] all nodes but the root, by parent and then by number
    first_child: Ints  # [N + 1] index of a node's first child in `children`


def make_shape(parent: Ints) -> Shape:
    """The shape of a tree in which parents have smaller numbers than their children."""
    count = len(parent)
    depth = _find_depths(parent)
    levels = split_levels(np.arange(1, count), depth)
    size = np.ones(count, np.int32)
    for level in reversed(levels):
        np.add.at(size, parent[level], size[level])
    children = (np.argsort(parent[1:], kind="stable") + 1).astype(np.int32)
    first_child = running_sum(np.bincount(parent[1:], minlength=count))
    sizes_before = running_sum(size[children])
    offset = np.zeros(count, np.int32)  # the sizes of earlier siblings
    offset[children] = sizes_before[:-1] - sizes_before[first_child[parent[children]]]
    rank = np.zeros(count, np.int32)
    for level in levels:
        rank[level] = rank[parent[level]] + 1 + offset[level]
    return Shape(parent, depth, rank, size, children, first_child)


def split_levels(nodes: NDArray[Any], depth: Ints) -> list[NDArray[Any]]:
    """The nodes grouped by depth, from the top down."""
    if len(nodes) == 0:
        return []
    depths = depth[nodes]
    order = np.argsort(depths, kind="stable")
    return np.split(nodes[order], np.flatnonzero(np.diff(depths[order])) + 1)


def running_sum(numbers: NDArray[Any]) -> Ints:
    """[len + 1] the sum of all numbers before each index."""
    return np.concatenate([[0], np.cumsum(numbers)]).astype(np.int32)


def children_of(shape: Shape, node: int) -> Ints:
    """The node's children, by number and also by rank."""
    return shape.children[shape.first_child[node] : shape.first_child[node + 1]]


def count_through(shape: Shape, end_rank: Ints) -> Ints:
    """[N] the number of simulations through each node, given the ranks at which they ended."""
    ended = running_sum(np.bincount(end_rank, minlength=len(shape.rank)))
    through: Ints = ended[shape.rank + shape.size] - ended[shape.rank]
    return through


def sum_through(shape: Shape, end_rank: Ints, values: Floats) -> Floats:
    """[N, P] the sums of the values [T, P] of the simulations through each node."""
    ends, sums = shape.rank + shape.size, np.empty((len(shape.rank), values.shape[1]))
    for player, column in enumerate(values.T):
        ended = np.bincount(end_rank, column, minlength=len(shape.rank))
        before = np.concatenate([[0.0], np.cumsum(ended)])
        sums[:, player] = before[ends] - before[shape.rank]
    return sums


def sum_results(
    shape: Shape, end_rank: Ints, values: Floats, raised_rank: Ints, raised: Floats
) -> Floats:
    """`sum_through` of results that count as `raised` [T, P] from `raised_rank` to the root."""
    sums, places = sum_through(shape, end_rank, values), np.flatnonzero(raised_rank >= 0)
    return sums + sum_through(shape, raised_rank[places], (raised - values)[places])


def _find_depths(parent: Ints) -> Ints:
    """[N] by pointer doubling."""
    depth = np.ones(len(parent), np.int32)
    depth[ROOT] = 0
    above = parent
    while above.any():
        depth += depth[above]
        above = above[above]
    return depth
