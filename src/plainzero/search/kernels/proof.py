"""Proven values: certain wins, losses and draws are passed up the tree.

Winands, Björnsson and Saito, "Monte-Carlo tree search solver", 2008; for one player, or two whose
returns sum to zero.
"""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.lanes import join_lanes, leaders, leads
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.proof_zones import for_cells, mark_edge
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, Tree
from plainzero.search.kernels.win_templates import hand_zone_up, recognise, start_zone


@kernel_function
def is_proven(tree: Tree, options: Options, b: int, edge: int) -> bool:
    """Whether the edge's value is certain."""
    return options.proven_values and tree.extras[b, edge].is_proven


@kernel_function
def is_proven_loss(tree: Tree, options: Options, b: int, edge: int) -> bool:
    """Whether the edge certainly leads to the worst result for its mover."""
    return is_proven(tree, options, b, edge) and tree.extras[b, edge].exact == -1.0


@kernel_function
def prove(tree: Tree, scratch: Scratch, options: Options, b: int, leaf: int) -> None:
    """Marks what `leaf`, a finished game, proves on its path to the root."""
    node = tree.nodes[b, leaf].parent
    value = float(tree.states[b, leaf].returns[tree.nodes[b, node].mover])
    mark_edge(tree, b, tree.nodes[b, leaf].parent_edge, value, 1)
    raise_floor(tree, b, node, value)
    start_zone(tree, scratch, options, b, leaf)
    hand_zone_up(tree, scratch, options, b, leaf)
    climb(tree, scratch, options, b, node)


@for_cells
def is_recognised(tree: Tree, scratch: Scratch, options: Options, b: int, place: int) -> bool:
    """Whether templates prove a node; if so, marks what follows from it.

    A new node then needs no evaluation: its value is exact.
    """
    found = 0
    if place < tree.roots[b].num_nodes:
        join_lanes()
        if leads() and recognise(tree, scratch, options, b, place):
            use_recognised(tree, scratch, options, b, place)
            found = 1
        found = leaders(found)
        join_lanes()
    return found != 0


@kernel_function
def use_recognised(tree: Tree, scratch: Scratch, options: Options, b: int, place: int) -> None:
    """Marks what follows from a node that templates prove."""
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
def climb(tree: Tree, scratch: Scratch, options: Options, b: int, node: int) -> None:
    """While the node's edges prove it, marks the edge that leads to it and goes to its parent."""
    while is_node_proven(tree, b, node):
        value = best_exact(tree, b, node)
        length = 1 + proof_length(tree, b, node, value)
        if node == ROOT:
            tree.roots[b].is_proven = True
            tree.roots[b].exact = value
            return
        child, node = node, tree.nodes[b, node].parent
        if tree.nodes[b, node].mover != tree.nodes[b, child].mover:
            value = -value
        mark_edge(tree, b, tree.nodes[b, child].parent_edge, value, length)
        raise_floor(tree, b, node, value)
        hand_zone_up(tree, scratch, options, b, child)


@kernel_function
def is_node_proven(tree: Tree, b: int, node: int) -> bool:
    """Whether an edge is a proven win, or all edges are proven."""
    first = tree.nodes[b, node].first_edge
    are_all_proven = True
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if not tree.extras[b, edge].is_proven:
            are_all_proven = False
        elif tree.extras[b, edge].exact == 1.0:
            return True
    return are_all_proven


@kernel_function
def best_exact(tree: Tree, b: int, node: int) -> float:
    """The best proven value among the node's edges."""
    best = -1.0
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if tree.extras[b, edge].is_proven:
            best = max(best, float(tree.extras[b, edge].exact))
    return best


@kernel_function
def proof_length(tree: Tree, b: int, node: int, value: float) -> int:
    """The moves to the end from a node proven with `value`: a winner hurries, others do not."""
    best, first = 0, tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        extra = tree.extras[b, edge]
        if extra.is_proven and extra.exact == value:
            if best == 0 or (extra.proof_length < best) == (value > 0.0):
                best = extra.proof_length
    return best


@kernel_function
def floor_of(tree: Tree, b: int, node: int) -> float:
    """What the node's mover has for certain: the best proven value of its moves."""
    if node == ROOT:
        return float(tree.roots[b].floor)
    return float(tree.extras[b, tree.nodes[b, node].parent_edge].floor)


@kernel_function
def raise_floor(tree: Tree, b: int, node: int, value: float) -> None:
    """Takes note of a move of the node that is proven with `value`."""
    if value > floor_of(tree, b, node):
        if node == ROOT:
            tree.roots[b].floor = value
        else:
            tree.extras[b, tree.nodes[b, node].parent_edge].floor = value
