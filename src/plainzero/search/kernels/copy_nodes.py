"""Copies nodes, edges and per-game records to another place or another tree."""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.tree import Tree


@kernel_function
def copy_node(tree: Tree, target: Tree, b: int, node: int, place: int) -> None:
    """Copies a node of game b to `place` of the target."""
    target.nodes[b, place] = tree.nodes[b, node]
    target.states[b, place] = tree.states[b, node]
    if tree.node_extras.shape[1] > 0:
        target.node_extras[b, place] = tree.node_extras[b, node]
    for word in range(tree.zones.shape[2]):
        target.zones[b, place, word] = tree.zones[b, node, word]
    for code in range(tree.amaf.shape[2]):
        target.amaf[b, place, code] = tree.amaf[b, node, code]


@kernel_function
def copy_edge(tree: Tree, target: Tree, b: int, edge: int, place: int) -> None:
    """Copies an edge of game b to `place` of the target."""
    target.edges[b, place] = tree.edges[b, edge]
    if tree.extras.shape[1] > 0:
        target.extras[b, place] = tree.extras[b, edge]


@kernel_function
def copy_tree(tree: Tree, target: Tree, b: int, nodes: int, edges: int) -> None:
    """Copies game b's root record and its first nodes and edges to the same places."""
    target.roots[b] = tree.roots[b]
    for node in range(nodes):
        copy_node(tree, target, b, node, node)
    for edge in range(edges):
        copy_edge(tree, target, b, edge, edge)


@kernel_function
def copy_templates(tree: Tree, target: Tree, b: int) -> None:
    """Copies the templates of game b."""
    _, players, kinds, cells, words = tree.templates.shape
    for player in range(players):
        for kind in range(kinds):
            for cell in range(cells):
                for word in range(words):
                    target.templates[b, player, kind, cell, word] = tree.templates[
                        b, player, kind, cell, word
                    ]
