"""Copies of nodes, edges and what a tree has once a game, to another place or another tree."""

from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function


@kernel_function
def copy_node(tree: Any, target: Any, b: Any, node: Any, place: Any) -> None:
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
def copy_edge(tree: Any, target: Any, b: Any, edge: Any, place: Any) -> None:
    """Copies an edge of game b to `place` of the target."""
    target.edges[b, place] = tree.edges[b, edge]
    if tree.extras.shape[1] > 0:
        target.extras[b, place] = tree.extras[b, edge]


@kernel_function
def copy_tree(tree: Any, target: Any, b: Any, nodes: Any, edges: Any) -> None:
    """Copies what game b has once, and its first nodes and edges, to the same places."""
    target.roots[b] = tree.roots[b]
    for node in range(nodes):
        copy_node(tree, target, b, node, node)
    for edge in range(edges):
        copy_edge(tree, target, b, edge, edge)


@kernel_function
def copy_templates(tree: Any, target: Any, b: Any) -> None:
    """Copies the templates that game b has learned."""
    _, players, kinds, cells, words = tree.templates.shape
    for player in range(players):
        for kind in range(kinds):
            for cell in range(cells):
                for word in range(words):
                    target.templates[b, player, kind, cell, word] = tree.templates[
                        b, player, kind, cell, word
                    ]
