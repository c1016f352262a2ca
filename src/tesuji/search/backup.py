"""A result on its way from a leaf to the root."""

from typing import Any

from tesuji.compiling import kernel_function
from tesuji.games.contract import CHANCE
from tesuji.search.tree import ROOT


@kernel_function
def backup(tree: Any, options: Any, b: Any, leaf: Any, values: Any, k: Any) -> None:
    """Adds the result values[b, k], one number a player, to every edge and node above `leaf`."""
    place = leaf
    while place != ROOT:
        edge_place = tree.nodes[b, place].parent_edge
        place = tree.nodes[b, place].parent
        edge, node, mover = tree.edges[b, edge_place], tree.nodes[b, place], tree.nodes[b, place].mover
        edge.visits += 1
        node.sum_visits += 1
        for player in range(node.value_sum.shape[0]):
            node.value_sum[player] += values[b, k, player]
        if options.has_extras:
            add_to_extras(tree, options, b, place, edge_place, values, k)
        if mover != CHANCE:
            edge.value_sum += values[b, k, mover]


@kernel_function
def add_to_extras(
    tree: Any, options: Any, b: Any, node: Any, edge: Any, values: Any, k: Any
) -> None:
    """The leaf is on its way no more; squares count where they are wanted."""
    mover = tree.nodes[b, node].mover
    if options.leaves > 1:
        tree.extras[b, edge].pending -= 1
    if mover != CHANCE:
        square = values[b, k, mover] * values[b, k, mover]
        tree.extras[b, edge].square_sum += square
        tree.nodes[b, node].square_sum += square


@kernel_function
def set_own_value(tree: Any, b: Any, place: Any, values: Any, k: Any) -> None:
    """The node's own evaluation is the first of the results that it holds."""
    node = tree.nodes[b, place]
    for player in range(node.value_sum.shape[0]):
        node.value_sum[player] = values[b, k, player]
    node.own_value = values[b, k, tree.nodes[b, place].mover]
    node.square_sum = node.own_value * node.own_value
