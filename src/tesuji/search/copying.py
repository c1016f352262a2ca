"""Copies of trees, or of parts of them, from one place in memory to another."""

from typing import Any

from tesuji.compiling import kernel_function


@kernel_function
def copy_nodes(tree: Any, target: Any, b: Any, count: Any) -> None:
    """Copies the first `count` nodes of game b."""
    for node in range(count):
        target.nodes[b, node] = tree.nodes[b, node]
        target.states[b, node] = tree.states[b, node]
        if tree.node_extras.shape[1] > 0:
            target.node_extras[b, node] = tree.node_extras[b, node]
        for word in range(tree.zones.shape[2]):
            target.zones[b, node, word] = tree.zones[b, node, word]
        for code in range(tree.amaf.shape[2]):
            target.amaf[b, node, code] = tree.amaf[b, node, code]


@kernel_function
def copy_edges(tree: Any, target: Any, b: Any, count: Any) -> None:
    """Copies the first `count` edges of game b."""
    for edge in range(count):
        target.edges[b, edge] = tree.edges[b, edge]
        if tree.extras.shape[1] > 0:
            target.extras[b, edge] = tree.extras[b, edge]
