"""The tree before a traced search began: a new root's value, or a reused root's statistics."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE
from plainzero.search.kernels.scratch import EXPANDED, PROVEN
from plainzero.search.kernels.tree import ROOT
from plainzero.server.traces.search_arrays import SearchArrays
from plainzero.server.traces.tree_shape import Floats, Ints, count_through, sum_results


class InitialTree(NamedTuple):
    """The first K nodes and their edges before the search; K is 1 for a new root."""

    root_visits: int
    value_sum: Floats  # [K, P] own evaluation and results below; 0 for a finished game
    square_sum: Floats  # [K] of the mover's results; 0 unless an option needs it
    own_value: Floats  # [K] for the mover; 0 unless an option needs it
    edge_visits: Ints  # [edges of K nodes]
    edge_sums: Floats  # [edges of K nodes, P] only the mover's, for edges without a child


def recover_initial_tree(arrays: SearchArrays) -> InitialTree:
    """The tree at the end, minus what the traced simulations added.

    Differences of visits are exact; those of sums are exact up to rounding.
    """
    counts = count_through(arrays.shape, arrays.end_rank)
    added = sum_results(
        arrays.shape,
        arrays.end_rank,
        arrays.steps["values"],
        arrays.raised_rank,
        arrays.steps["raised"],
    )
    number = _count_initial_nodes(arrays, counts)
    value_sum = _initial_value_sums(arrays, added, number)
    edge_visits = _initial_edge_visits(arrays, counts, number)
    square_sum, own_value = _initial_extras(arrays, number)
    return InitialTree(
        root_visits=int(arrays.nodes["sum_visits"][ROOT]) - len(arrays.steps),
        value_sum=value_sum,
        square_sum=square_sum,
        own_value=own_value,
        edge_visits=edge_visits,
        edge_sums=_initial_edge_sums(arrays, added, value_sum, edge_visits),
    )


def _count_initial_nodes(arrays: SearchArrays, counts: Ints) -> int:
    """K: nodes are numbered in order of creation, so all before the first new one are initial.

    A node is new if this search evaluated it, or if its edge had no visits before. An edge may have
    visits but no node if the tree was full at that time.
    """
    is_new = arrays.edges["visits"][arrays.nodes["parent_edge"]] == counts
    is_new[arrays.steps["leaf"][arrays.steps["kind"] == EXPANDED]] = True
    is_new[ROOT] = False
    return int(is_new.argmax()) if is_new.any() else len(is_new)


def _initial_value_sums(arrays: SearchArrays, added: Floats, number: int) -> Floats:
    ended = _sum_proven_ends(arrays, arrays.steps["values"])
    value_sum: Floats = arrays.nodes["value_sum"][:number] - (added - ended)[:number]
    value_sum[arrays.states["is_over"][:number]] = 0.0
    return value_sum


def _sum_proven_ends(arrays: SearchArrays, values: NDArray[Any]) -> Floats:
    """[N, P] sums of simulations that ended at a proven node: only its edge includes them."""
    sums = np.zeros((len(arrays.nodes), values.shape[1]))
    ends = (arrays.steps["kind"] == PROVEN) & (arrays.steps["leaf"] >= 0)
    np.add.at(sums, arrays.steps["leaf"][ends], values[ends])
    return sums


def _initial_edge_visits(arrays: SearchArrays, counts: Ints, number: int) -> Ints:
    visits = np.array(arrays.edges["visits"][: arrays.first_edge[number]])
    inner = (
        np.flatnonzero(arrays.shape.parent[1:] < number) + 1
    )  # the nodes at the end of these edges
    visits[arrays.nodes["parent_edge"][inner]] -= counts[inner]
    edges = arrays.steps["edge"][_without_node(arrays, len(visits))]
    return visits - np.bincount(edges, minlength=len(visits)).astype(np.int32)


def _without_node(arrays: SearchArrays, num_edges: int) -> NDArray[np.int64]:
    """The simulations that ended at one of these edges without creating a node."""
    return np.flatnonzero((arrays.steps["leaf"] < 0) & (arrays.steps["edge"] < num_edges))


def _initial_edge_sums(
    arrays: SearchArrays, added: Floats, value_sum: Floats, edge_visits: Ints
) -> Floats:
    """[edges, P] the mover's from the edges themselves, the others' from their child nodes."""
    number, count = len(value_sum), len(edge_visits)
    parent_edge = arrays.nodes["parent_edge"]
    sums, traced = np.zeros((count, value_sum.shape[1])), np.zeros((count, value_sum.shape[1]))
    is_over, returns = arrays.states["is_over"][:number], arrays.states["returns"][:number]
    finished = edge_visits[parent_edge[:number], None] * returns
    sums[parent_edge[1:number]] = np.where(is_over[:, None], finished, value_sum)[1:]
    inner = np.flatnonzero(arrays.shape.parent[1:] < number) + 1
    traced[parent_edge[inner]] = added[inner]
    without_node = _without_node(arrays, count)
    np.add.at(traced, arrays.steps["edge"][without_node], arrays.steps["values"][without_node])
    owner = np.repeat(np.arange(number), np.diff(arrays.first_edge[: number + 1]))
    player = arrays.nodes["mover"][owner]
    edges = np.flatnonzero(player != CHANCE)
    own = arrays.edges["value_sum"][edges] - traced[edges, player[edges]]
    sums[edges, player[edges]] = own
    sums[edge_visits == 0] = 0.0  # exactly, without rounding errors
    return sums


def _initial_extras(arrays: SearchArrays, number: int) -> tuple[Floats, Floats]:
    """Sums of squares and own evaluations, for the movers."""
    if not len(arrays.node_extras):
        return np.zeros(number), np.zeros(number)
    squares = np.square(arrays.steps["values"])
    traced = sum_results(
        arrays.shape,
        arrays.end_rank,
        squares,
        arrays.raised_rank,
        np.square(arrays.steps["raised"]),
    )[:number]
    traced -= _sum_proven_ends(arrays, squares)[:number]
    # Chance nodes have no sums of squares; their index −1 reads an unused column.
    movers = arrays.nodes["mover"][:number]
    square_sum = arrays.node_extras["square_sum"][:number] - traced[np.arange(number), movers]
    return square_sum, np.array(arrays.node_extras["own_value"][:number])
