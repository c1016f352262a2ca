"""The arrays of a traced search, as long as its tree exists."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.search.result import SearchResult
from plainzero.server.traces.tree_shape import Ints, Shape, make_shape, running_sum


class SearchArrays(NamedTuple):
    """The arrays of one search: N nodes, E edges, T simulations. Only the last four are copies.

    Edges are contiguous, in the order of their nodes.
    """

    nodes: NDArray[Any]  # [N]
    node_extras: NDArray[Any]  # [N] or empty
    states: NDArray[Any]  # [N]
    edges: NDArray[Any]  # [E]
    extras: NDArray[Any]  # [E] or empty
    root: Any
    steps: NDArray[Any]  # [T] the trace
    shape: Shape
    first_edge: Ints  # [N + 1]
    end_rank: Ints  # [T] of the last node in the tree that each simulation reached
    raised_rank: Ints  # [T] of the node that raised the result, or −1


def open_search_arrays(result: SearchResult) -> SearchArrays:
    """The search's arrays, restricted to one game.

    Raises:
        ValueError: if it has no trace.
    """
    if not result.config.trace:
        raise ValueError("this search has no trace; use SearchConfig(trace=True)")
    (tree, row), count = result.tree.arrays, len(result.tree)
    nodes, used_edges = tree.nodes[row, :count], int(tree.roots[row].used_edges)
    steps = result.scratch.trace[result.row, : result.simulations]
    shape = make_shape(np.array(nodes["parent"]))
    first_edge = running_sum(np.abs(nodes["num_edges"]))
    owner = np.searchsorted(first_edge, steps["edge"], side="right") - 1
    return SearchArrays(
        nodes=nodes,
        node_extras=_row_of(tree.node_extras, row, count),
        states=tree.states[row, :count],
        edges=tree.edges[row, :used_edges],
        extras=_row_of(tree.extras, row, used_edges),
        root=tree.roots[row],
        steps=steps,
        shape=shape,
        first_edge=first_edge,
        end_rank=shape.rank[np.where(steps["leaf"] >= 0, steps["leaf"], owner)],
        raised_rank=np.where(steps["raised_at"] >= 0, shape.rank[steps["raised_at"]], -1),
    )


def _row_of(array: NDArray[Any], row: int, count: int) -> NDArray[Any]:
    return array[row, :count] if array.size else np.empty(0, array.dtype)
