"""What a tree knew before a traced search began: a kept root's statistics, a new root's value."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE
from plainzero.search.kernels.scratch import EXPANDED, PROVEN
from plainzero.search.tree_memory import ROOT
from plainzero.server.traces.search_arrays import Source
from plainzero.server.traces.tree_shape import Floats, Ints, count_through, sum_through


class Kept(NamedTuple):
    """The first K nodes and their edges as they were before; K is 1 for a new root."""

    root_visits: int
    value_sum: Floats  # [K, P] own evaluation and results below; 0 for a finished game
    square_sum: Floats  # [K] of the mover's results; 0 unless an option needs it
    own_value: Floats  # [K] for the mover; 0 unless an option needs it
    edge_visits: Ints  # [edges of K nodes]
    edge_sums: Floats  # [edges of K nodes, P] without a child then, the mover's alone is known


def find_kept(source: Source) -> Kept:
    """What the tree says at the end, less what the trace brought.

    Differences of sums are right but for rounding, and those of visits to the last one.
    """
    counts = count_through(source.shape, source.end_rank)
    brought = sum_through(source.shape, source.end_rank, source.steps["values"])
    number = _count_kept(source, counts)
    value_sum = _kept_value_sums(source, brought, number)
    edge_visits = _kept_edge_visits(source, counts, number)
    square_sum, own_value = _kept_extras(source, number)
    return Kept(
        root_visits=int(source.nodes["sum_visits"][ROOT]) - len(source.steps),
        value_sum=value_sum,
        square_sum=square_sum,
        own_value=own_value,
        edge_visits=edge_visits,
        edge_sums=_kept_edge_sums(source, brought, value_sum, edge_visits),
    )


def _count_kept(source: Source, counts: Ints) -> int:
    """K: nodes are numbered as they were made, so all before the first new one were kept.

    A node is new if it was evaluated now, or if its edge had no visits. An edge may have had some
    without a node, where the tree was full at that time.
    """
    is_new = source.edges["visits"][source.nodes["parent_edge"]] == counts
    is_new[source.steps["leaf"][source.steps["kind"] == EXPANDED]] = True
    is_new[ROOT] = False
    return int(is_new.argmax()) if is_new.any() else len(is_new)


def _kept_value_sums(source: Source, brought: Floats, number: int) -> Floats:
    ended = _sum_proven_ends(source, source.steps["values"])
    value_sum: Floats = source.nodes["value_sum"][:number] - (brought - ended)[:number]
    value_sum[source.states["is_over"][:number]] = 0.0
    return value_sum


def _sum_proven_ends(source: Source, values: NDArray[Any]) -> Floats:
    """[N, P] what simulations brought that ended at a proven node: its edge has it, it has not."""
    sums = np.zeros((len(source.nodes), values.shape[1]))
    ends = (source.steps["kind"] == PROVEN) & (source.steps["leaf"] >= 0)
    np.add.at(sums, source.steps["leaf"][ends], values[ends])
    return sums


def _kept_edge_visits(source: Source, counts: Ints, number: int) -> Ints:
    visits = np.array(source.edges["visits"][: source.first_edge[number]])
    inner = np.flatnonzero(source.shape.parent[1:] < number) + 1  # nodes behind these edges
    visits[source.nodes["parent_edge"][inner]] -= counts[inner]
    edges = source.steps["edge"][_unkept(source, len(visits))]
    return visits - np.bincount(edges, minlength=len(visits)).astype(np.int32)


def _unkept(source: Source, num_edges: int) -> NDArray[np.int64]:
    """The simulations that ended behind one of these edges without a node there."""
    return np.flatnonzero((source.steps["leaf"] < 0) & (source.steps["edge"] < num_edges))


def _kept_edge_sums(
    source: Source, brought: Floats, value_sum: Floats, edge_visits: Ints
) -> Floats:
    """[edges, P] the mover's from the edges themselves, the others' from the nodes behind them."""
    number, count = len(value_sum), len(edge_visits)
    parent_edge = source.nodes["parent_edge"]
    sums, traced = np.zeros((count, value_sum.shape[1])), np.zeros((count, value_sum.shape[1]))
    is_over, returns = source.states["is_over"][:number], source.states["returns"][:number]
    finished = edge_visits[parent_edge[:number], None] * returns
    sums[parent_edge[1:number]] = np.where(is_over[:, None], finished, value_sum)[1:]
    inner = np.flatnonzero(source.shape.parent[1:] < number) + 1
    traced[parent_edge[inner]] = brought[inner]
    unkept = _unkept(source, count)
    np.add.at(traced, source.steps["edge"][unkept], source.steps["values"][unkept])
    owner = np.repeat(np.arange(number), np.diff(source.first_edge[: number + 1]))
    player = source.nodes["mover"][owner]
    edges = np.flatnonzero(player != CHANCE)
    own = source.edges["value_sum"][edges] - traced[edges, player[edges]]
    sums[edges, player[edges]] = own
    sums[edge_visits == 0] = 0.0  # exactly, where it is but for rounding
    return sums


def _kept_extras(source: Source, number: int) -> tuple[Floats, Floats]:
    """Sums of squares, and own evaluations, of the movers."""
    if not len(source.node_extras):
        return np.zeros(number), np.zeros(number)
    squares = np.square(source.steps["values"])
    traced = sum_through(source.shape, source.end_rank, squares)[:number]
    traced -= _sum_proven_ends(source, squares)[:number]
    # Where chance moves no squares are summed; the index −1 then stands for a column unused.
    movers = source.nodes["mover"][:number]
    square_sum = source.node_extras["square_sum"][:number] - traced[np.arange(number), movers]
    return square_sum, np.array(source.node_extras["own_value"][:number])
