"""Keeping the part of a tree that is still of use: everything else is slid over.

Children come after their parents, and edges in the order of their nodes, so one pass in that order
moves each node and its edges to a place at or before its own.
"""

from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.copy_nodes import copy_edge, copy_node
from plainzero.search.kernels.proof import is_node_proven
from plainzero.search.tree_memory import ROOT, UNVISITED

_SHARE_BETWEEN = 4  # a full tree is tidied again after that part of its nodes in simulations


@kernel_function
def advance(tree: Any, b: Any, action: Any) -> None:
    """Makes the child behind `action` the root of game b; without one, the tree is empty."""
    root, edge = tree.roots[b], find_root_edge(tree, b, action)
    if edge < 0 or tree.edges[b, edge].child == UNVISITED:
        root.num_nodes = 0
        return
    child = tree.edges[b, edge].child
    # Its own edges must prove it: a move that a sibling's refutation refutes has no answer yet.
    is_settled = tree.nodes[b, child].num_edges == 0 or (
        tree.extras.shape[1] > 0 and is_node_proven(tree, b, child)
    )
    root.is_proven = is_settled and tree.extras.shape[1] > 0 and tree.extras[b, edge].is_proven
    if root.is_proven:
        exact = tree.extras[b, edge].exact
        is_same_mover = tree.nodes[b, ROOT].mover == tree.nodes[b, child].mover
        root.exact = exact if is_same_mover else -exact
    root.has_clean_prior = False
    slide(tree, b, child, False)


@kernel_function
def find_root_edge(tree: Any, b: Any, action: Any) -> Any:
    """The root's edge for `action`, or −1."""
    if tree.roots[b].num_nodes > 0:
        first = tree.nodes[b, ROOT].first_edge
        for edge in range(first, first + tree.nodes[b, ROOT].num_edges):
            if tree.edges[b, edge].action == action:
                return edge
    return -1


@kernel_function
def let_go_of_proven(tree: Any, scratch: Any, b: Any) -> None:
    """Frees the room below proven edges, for a full tree that searches for a proof.

    Not often, since it takes as long as to look at every node. A trace names nodes by their places,
    so there it stays as it is.
    """
    work = scratch.work[b]
    pause = tree.nodes.shape[1] // _SHARE_BETWEEN
    if scratch.trace.shape[1] == 0 and work.simulations - work.tidied_at >= pause:
        work.tidied_at = work.simulations
        slide(tree, b, ROOT, True)


@kernel_function
def slide(tree: Any, b: Any, root: Any, forgets_proven: Any) -> None:
    """Moves the nodes below `root` to the front, in order."""
    count, edges = 0, 0
    for node in range(root, tree.roots[b].num_nodes):
        if node == root or tree.nodes[b, node].is_ahead:
            move_node(tree, b, node, count)
            if count != ROOT:
                tree.edges[b, tree.nodes[b, count].parent_edge].child = count
            edges = move_edges(tree, b, count, edges, forgets_proven)
            count += 1
    tree.nodes[b, ROOT].parent = ROOT
    tree.roots[b].num_nodes = count
    tree.roots[b].used_edges = edges


@kernel_function
def move_node(tree: Any, b: Any, node: Any, place: Any) -> None:
    """Copies a node to `place`."""
    copy_node(tree, tree, b, node, place)
    tree.nodes[b, place].is_ahead = False


@kernel_function
def move_edges(tree: Any, b: Any, node: Any, first: Any, forgets_proven: Any) -> Any:
    """Moves a moved node's edges to `first` and on, marks their children; returns the end."""
    old, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    tree.nodes[b, node].first_edge = first
    for index in range(count):
        copy_edge(tree, tree, b, old + index, first + index)
        child = tree.edges[b, first + index].child
        if forgets_proven and tree.extras[b, first + index].is_proven:
            tree.edges[b, first + index].child = UNVISITED
        elif child != UNVISITED:
            tree.nodes[b, child].is_ahead = True
            tree.nodes[b, child].parent = node
            tree.nodes[b, child].parent_edge = first + index
    return first + count
