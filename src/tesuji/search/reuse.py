"""Keeping the part of a tree that is still ahead after a move: everything else is slid over.

Children come after their parents, and edges in the order of their nodes, so one pass in that order
moves each node and its edges to a place at or before its own.
"""

from typing import Any

from tesuji.compiling import kernel_function
from tesuji.search.tree import ROOT, UNVISITED


@kernel_function
def advance(tree: Any, marks: Any, b: Any, action: Any) -> None:
    """Makes the child behind `action` the root of game b; without one, the tree is empty.

    `marks` [B, N] is working memory.
    """
    root, edge = tree.roots[b], find_root_edge(tree, b, action)
    if edge < 0 or tree.edges[b, edge].child == UNVISITED:
        root.num_nodes = 0
        return
    child = tree.edges[b, edge].child
    root.is_proven = tree.extras.shape[1] > 0 and tree.extras[b, edge].is_proven
    if root.is_proven:
        exact = tree.extras[b, edge].exact
        is_same_mover = tree.nodes[b, ROOT].mover == tree.nodes[b, child].mover
        root.exact = exact if is_same_mover else -exact
    root.has_clean_prior = False
    slide(tree, marks, b, child)


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
def slide(tree: Any, marks: Any, b: Any, root: Any) -> None:
    """Moves the nodes below `root` to the front, in order."""
    num_nodes = tree.roots[b].num_nodes
    for node in range(root, num_nodes):
        marks[b, node] = False
    marks[b, root] = True
    count, edges = 0, 0
    for node in range(root, num_nodes):
        if marks[b, node]:
            move_node(tree, b, node, count)
            if count != ROOT:
                tree.edges[b, tree.nodes[b, count].parent_edge].child = count
            edges = move_edges(tree, marks, b, count, edges)
            count += 1
    tree.nodes[b, ROOT].parent = ROOT
    tree.roots[b].num_nodes = count
    tree.roots[b].used_edges = edges


@kernel_function
def move_node(tree: Any, b: Any, node: Any, place: Any) -> None:
    """Copies a node to `place`."""
    tree.nodes[b, place] = tree.nodes[b, node]
    tree.states[b, place] = tree.states[b, node]
    if tree.node_extras.shape[1] > 0:
        tree.node_extras[b, place] = tree.node_extras[b, node]
    for code in range(tree.amaf.shape[2]):
        tree.amaf[b, place, code] = tree.amaf[b, node, code]


@kernel_function
def move_edges(tree: Any, marks: Any, b: Any, node: Any, first: Any) -> Any:
    """Moves a moved node's edges to `first` and on, marks their children; returns the end."""
    old, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    tree.nodes[b, node].first_edge = first
    for index in range(count):
        tree.edges[b, first + index] = tree.edges[b, old + index]
        if tree.extras.shape[1] > 0:
            tree.extras[b, first + index] = tree.extras[b, old + index]
        child = tree.edges[b, first + index].child
        if child != UNVISITED:
            marks[b, child] = True
            tree.nodes[b, child].parent = node
            tree.nodes[b, child].parent_edge = first + index
    return first + count
