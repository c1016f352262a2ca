"""Keeps the useful part of a tree by moving it to the front of its arrays.

Children come after their parents, and edges are in the order of their nodes, so one pass moves each
node and its edges to the same place or an earlier one.
"""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.copy_nodes import copy_edge, copy_node
from plainzero.search.kernels.proof import is_node_proven
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, UNVISITED, WORST_RESULT, Tree

_SHARE_BETWEEN = 4  # a full tree is compacted again after nodes / 4 simulations


@kernel_function
def advance(tree: Tree, b: int, action: int) -> None:
    """Makes the child behind `action` the root of game b; without a child, the tree is emptied."""
    root, edge = tree.roots[b], find_root_edge(tree, b, action)
    if edge < 0 or tree.edges[b, edge].child == UNVISITED:
        root.num_nodes = 0
        return
    child = tree.edges[b, edge].child
    # Its own edges must prove it: a move refuted by a sibling's refutation has no reply yet.
    has_own_proof = tree.nodes[b, child].num_edges == 0 or (
        tree.extras.shape[1] > 0 and is_node_proven(tree, b, child)
    )
    root.is_proven = has_own_proof and tree.extras.shape[1] > 0 and tree.extras[b, edge].is_proven
    if root.is_proven:
        exact = tree.extras[b, edge].exact
        is_same_mover = tree.nodes[b, ROOT].mover == tree.nodes[b, child].mover
        root.exact = exact if is_same_mover else -exact
    root.floor = tree.extras[b, edge].floor if tree.extras.shape[1] > 0 else WORST_RESULT
    root.has_clean_prior = False
    compact(tree, b, child, False)


@kernel_function
def find_root_edge(tree: Tree, b: int, action: int) -> int:
    """The root's edge for `action`, or −1."""
    if tree.roots[b].num_nodes > 0:
        first = tree.nodes[b, ROOT].first_edge
        for edge in range(first, first + tree.nodes[b, ROOT].num_edges):
            if tree.edges[b, edge].action == action:
                return edge
    return -1


@kernel_function
def discard_proven(tree: Tree, scratch: Scratch, b: int) -> None:
    """Frees the room below proven edges of a full tree.

    Rarely, because it visits every node. A trace refers to nodes by place, so with a trace nothing
    is moved.
    """
    work = scratch.work[b]
    pause = tree.nodes.shape[1] // _SHARE_BETWEEN
    if scratch.trace.shape[1] == 0 and work.simulations - work.tidied_at >= pause:
        work.tidied_at = work.simulations
        compact(tree, b, ROOT, True)


@kernel_function
def compact(tree: Tree, b: int, root: int, discards_proven: bool) -> None:
    """Moves `root` and the nodes below it to the front, in order."""
    count, edges = 0, 0
    for node in range(root, tree.roots[b].num_nodes):
        if node == root or tree.nodes[b, node].is_ahead:
            move_node(tree, b, node, count)
            if count != ROOT:
                tree.edges[b, tree.nodes[b, count].parent_edge].child = count
            edges = move_edges(tree, b, count, edges, discards_proven)
            count += 1
    tree.nodes[b, ROOT].parent = ROOT
    tree.roots[b].num_nodes = count
    tree.roots[b].used_edges = edges


@kernel_function
def move_node(tree: Tree, b: int, node: int, place: int) -> None:
    """Copies a node to `place`."""
    copy_node(tree, tree, b, node, place)
    tree.nodes[b, place].is_ahead = False


@kernel_function
def move_edges(tree: Tree, b: int, node: int, first: int, discards_proven: bool) -> int:
    """Moves a moved node's edges to `first`, marks their children; returns the end."""
    old, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    tree.nodes[b, node].first_edge = first
    for index in range(count):
        copy_edge(tree, tree, b, old + index, first + index)
        child = tree.edges[b, first + index].child
        if discards_proven and tree.extras[b, first + index].is_proven:
            tree.edges[b, first + index].child = UNVISITED
        elif child != UNVISITED:
            tree.nodes[b, child].is_ahead = True
            tree.nodes[b, child].parent = node
            tree.nodes[b, child].parent_edge = first + index
    return first + count
