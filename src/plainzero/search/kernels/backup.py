"""Adds a result to the nodes and edges between a leaf and the root."""

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.tree import ROOT, Tree


@kernel_function
def backup(tree: Tree, options: Options, b: int, leaf: int, values: NDArray[np.float64]) -> None:
    """Adds a result, one number per player, to every edge and node above `leaf`."""
    place = leaf
    while place != ROOT:
        edge_place, place = tree.nodes[b, place].parent_edge, tree.nodes[b, place].parent
        edge, node = tree.edges[b, edge_place], tree.nodes[b, place]
        # Read together, because a GPU waits for memory when the first number is used.
        visits, total, sum_visits, mover = edge.visits, edge.value_sum, node.sum_visits, node.mover
        edge.visits = visits + 1
        node.sum_visits = sum_visits + 1
        for player in range(values.shape[0]):
            node.value_sum[player] += values[player]
        if mover != CHANCE:
            edge.value_sum = total + values[mover]
            edge.q = (total + values[mover]) / (visits + 1)
        if options.has_extras:
            add_to_extras(tree, options, b, place, edge_place, values)


@kernel_function
def add_to_extras(
    tree: Tree, options: Options, b: int, node: int, edge: int, values: NDArray[np.float64]
) -> None:
    """Clears the virtual visit, and adds squares if an option needs them."""
    mover = tree.nodes[b, node].mover
    if options.leaves > 1:
        tree.extras[b, edge].pending -= 1
    if mover != CHANCE:
        square = values[mover] * values[mover]
        tree.extras[b, edge].square_sum += square
        if options.has_node_extras:
            tree.node_extras[b, node].square_sum += square
