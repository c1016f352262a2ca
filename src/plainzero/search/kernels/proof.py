"""Proven values: wins, losses and draws that are certain travel up the tree.

Winands, Björnsson and Saito, "Monte-Carlo tree search solver", 2008; for one player, or two whose
returns sum to zero.
"""

from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.gpu.warp_lanes import join_lanes, leaders, leads
from plainzero.search.kernels.proof_zones import for_cells, mark_edge
from plainzero.search.kernels.win_templates import hand_zone_up, recognise, start_zone
from plainzero.search.tree_memory import ROOT


@kernel_function
def is_proven(tree: Any, options: Any, b: Any, edge: Any) -> Any:
    """Whether the edge's value is certain."""
    return options.proven_values and tree.extras[b, edge].is_proven


@kernel_function
def is_proven_loss(tree: Any, options: Any, b: Any, edge: Any) -> Any:
    """Whether the edge is known to lead to the worst result for its mover."""
    return is_proven(tree, options, b, edge) and tree.extras[b, edge].exact == -1.0


@kernel_function
def prove(tree: Any, scratch: Any, options: Any, b: Any, leaf: Any) -> None:
    """Marks what follows from `leaf`, a finished game, along its path to the root."""
    node = tree.nodes[b, leaf].parent
    value = float(tree.states[b, leaf].returns[tree.nodes[b, node].mover])
    mark_edge(tree, b, tree.nodes[b, leaf].parent_edge, value)
    start_zone(tree, scratch, options, b, leaf)
    hand_zone_up(tree, scratch, options, b, leaf)
    climb(tree, scratch, options, b, node)


@for_cells
def is_recognised(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> Any:
    """Whether templates prove a node, with all that follows.

    A new one then waits for no evaluation: its value is exact.
    """
    found = 0
    if place < tree.roots[b].num_nodes:
        join_lanes()
        if leads() and recognise(tree, scratch, options, b, place):
            settle_recognised(tree, scratch, options, b, place)
            found = 1
        found = leaders(found)
        join_lanes()
    return found != 0


@kernel_function
def settle_recognised(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> None:
    """What follows from a node that templates prove."""
    node = tree.nodes[b, place]
    if node.num_edges < 0:
        node.num_edges = -node.num_edges
        exact = best_exact(tree, b, place)
        for player in range(node.value_sum.shape[0]):
            node.value_sum[player] = exact if player == node.mover else -exact
        if options.has_node_extras:
            tree.node_extras[b, place].own_value = exact
            tree.node_extras[b, place].square_sum = 1.0
    climb(tree, scratch, options, b, place)


@kernel_function
def climb(tree: Any, scratch: Any, options: Any, b: Any, node: Any) -> None:
    """Marks what follows from the node's edges, if they prove it, on the way to the root."""
    while is_node_proven(tree, b, node):
        value = best_exact(tree, b, node)
        if node == ROOT:
            tree.roots[b].is_proven = True
            tree.roots[b].exact = value
            return
        child, node = node, tree.nodes[b, node].parent
        if tree.nodes[b, node].mover != tree.nodes[b, child].mover:
            value = -value
        mark_edge(tree, b, tree.nodes[b, child].parent_edge, value)
        hand_zone_up(tree, scratch, options, b, child)


@kernel_function
def is_node_proven(tree: Any, b: Any, node: Any) -> Any:
    """Whether an edge certainly wins, or all are certain."""
    first = tree.nodes[b, node].first_edge
    are_all_proven = True
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if not tree.extras[b, edge].is_proven:
            are_all_proven = False
        elif tree.extras[b, edge].exact == 1.0:
            return True
    return are_all_proven


@kernel_function
def best_exact(tree: Any, b: Any, node: Any) -> Any:
    """The best proven value among the node's edges."""
    best = -1.0
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if tree.extras[b, edge].is_proven:
            best = max(best, float(tree.extras[b, edge].exact))
    return best
