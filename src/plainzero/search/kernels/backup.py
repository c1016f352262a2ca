"""Adds a result to the nodes and edges between a leaf and the root."""

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.proof import floor_of
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, Tree


@kernel_function
def backup(
    tree: Tree, scratch: Scratch, options: Options, b: int, leaf: int, values: NDArray[np.float64]
) -> None:
    """Adds a result, one number per player, to every edge and node above `leaf`.

    With `proven_values` the result may be raised on its way, in `values`.
    """
    place, is_raised = leaf, False
    while place != ROOT:
        edge_place, place = tree.nodes[b, place].parent_edge, tree.nodes[b, place].parent
        edge, node = tree.edges[b, edge_place], tree.nodes[b, place]
        # Read together, because a GPU waits for memory when the first number is used.
        visits, total, sum_visits, mover = edge.visits, edge.value_sum, node.sum_visits, node.mover
        edge.visits = visits + 1
        node.sum_visits = sum_visits + 1
        if mover != CHANCE:
            edge.value_sum = total + values[mover]
            edge.q = (total + values[mover]) / (visits + 1)
        if options.has_extras:
            is_raised |= add_to_extras(
                tree, scratch, options, b, place, edge_place, values, is_raised
            )
        for player in range(values.shape[0]):
            node.value_sum[player] += values[player]


@kernel_function
def add_to_extras(
    tree: Tree,
    scratch: Scratch,
    options: Options,
    b: int,
    node: int,
    edge: int,
    values: NDArray[np.float64],
    is_raised: bool,
) -> bool:
    """Clears the virtual visit, and adds squares if an option needs them.

    Returns whether the node raised the result, which may happen once on its way.
    """
    mover, raises = tree.nodes[b, node].mover, False
    if options.leaves > 1:
        tree.extras[b, edge].pending -= 1
    if mover != CHANCE:
        tree.extras[b, edge].square_sum += values[mover] * values[mover]
        if options.proven_values and not is_raised:
            raises = raise_result(tree, scratch, b, node, tree.edges[b, edge].q, values)
        if options.has_node_extras:
            tree.node_extras[b, node].square_sum += values[mover] * values[mover]
    return raises


@kernel_function
def raise_result(
    tree: Tree, scratch: Scratch, b: int, node: int, q: float, values: NDArray[np.float64]
) -> bool:
    """Replaces the result of a move worth `q` by the best proven move's value, if that is larger.

    The node's mover would have played the proven move; the other one was tried to learn about it.
    """
    floor, mover = floor_of(tree, b, node), tree.nodes[b, node].mover
    if q >= floor or values[mover] == floor:
        return False
    simulation = scratch.work[b].simulations - 1
    is_traced = simulation < scratch.trace.shape[1]
    if is_traced:
        scratch.trace[b, simulation].raised_at = node
    for player in range(values.shape[0]):
        values[player] = floor if player == mover else -floor
        if is_traced:
            scratch.trace[b, simulation].raised[player] = values[player]
    return True
