"""A traced search as flat arrays, small enough to keep after its tree is freed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE
from plainzero.search.kernels.tree import ROOT
from plainzero.search.result import SearchResult
from plainzero.server.traces.initial_tree import InitialTree, recover_initial_tree
from plainzero.server.traces.proof_times import Proofs, time_proofs
from plainzero.server.traces.search_arrays import SearchArrays, open_search_arrays
from plainzero.server.traces.tree_shape import (
    Floats,
    Ints,
    Shape,
    count_through,
    running_sum,
    sum_results,
)


@dataclass(frozen=True)
class Recording:
    """N nodes, E edges, T simulations, P players. Edges are contiguous, in the order of nodes."""

    shape: Shape
    parent_edge: Ints  # [N]
    mover: NDArray[np.int8]  # [N] the player to move; −1: chance
    value_player: NDArray[np.int8]  # [N] see `_find_value_players`
    is_over: NDArray[np.bool_]  # [N]
    first_edge: Ints  # [N + 1]
    action: Ints  # [E]
    prior: NDArray[np.float32]  # [E]
    leaf: Ints  # [T] node, or −1 if the tree was full
    edge: Ints  # [T] the last one of the path
    kind: NDArray[np.int8]  # [T] index into TRACE_KINDS
    values: Floats  # [T, P]
    raised: Floats  # [T, P] from the node that raised them to the root
    raised_rank: Ints  # [T] of that node, or −1
    end_rank: Ints  # [T] of the last node in the tree
    proofs: Proofs
    initial: InitialTree

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.parent_edge)

    @property
    def simulations(self) -> int:
        """T."""
        return len(self.leaf)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return count_bytes(vars(self).values())

    def exact_of(self, edge: int, simulations: int) -> float | None:
        """The value of an edge for its mover, if proven after that many simulations."""
        if len(self.proofs.exact) and self.proofs.proven_after[edge] <= simulations:
            return float(self.proofs.exact[edge])
        return None


class NodeCounts(NamedTuple):
    """The statistics of all nodes after some simulations."""

    simulations: int
    visits: Ints  # [N] simulations through each node; 0 before it was created
    sums: Floats  # [N, P] of their results; at the root including its own evaluation
    created: Ints  # [N + 1] number of nodes in the tree with a smaller rank


def record(result: SearchResult) -> Recording:
    """Copies a traced search.

    Raises:
        ValueError: if it has no trace.
    """
    arrays = open_search_arrays(result)
    nodes, edges, steps = arrays.nodes, arrays.edges, arrays.steps
    return Recording(
        shape=arrays.shape,
        parent_edge=np.array(nodes["parent_edge"]),
        mover=nodes["mover"].astype(np.int8),
        value_player=_find_value_players(arrays),
        is_over=np.array(arrays.states["is_over"]),
        first_edge=arrays.first_edge,
        action=np.array(edges["action"]),
        prior=np.array(edges["prior"]),
        leaf=np.array(steps["leaf"]),
        edge=np.array(steps["edge"]),
        kind=steps["kind"].astype(np.int8),
        values=np.array(steps["values"]),
        raised=np.array(steps["raised"]),
        raised_rank=arrays.raised_rank,
        end_rank=arrays.end_rank,
        proofs=time_proofs(arrays),
        initial=recover_initial_tree(arrays),
    )


def count_nodes(recording: Recording, simulations: int) -> NodeCounts:
    """The statistics of all nodes after that many simulations, by running sums over the trace."""
    shape, initial, end_rank = recording.shape, recording.initial, recording.end_rank[:simulations]
    visits = count_through(shape, end_rank)
    sums = sum_results(
        shape,
        end_rank,
        recording.values[:simulations],
        recording.raised_rank[:simulations],
        recording.raised[:simulations],
    )
    number = len(initial.value_sum)
    is_created = visits > 0
    is_created[:number] = True
    has_more = is_created & (shape.parent < number)
    has_more[ROOT] = False
    edges = recording.parent_edge[has_more]
    visits[has_more] += initial.edge_visits[edges]
    sums[has_more] += initial.edge_sums[edges]
    visits[ROOT] += initial.root_visits
    sums[ROOT] += initial.value_sum[ROOT]
    created_by_rank = np.empty_like(is_created)
    created_by_rank[shape.rank] = is_created
    return NodeCounts(simulations, visits, sums, running_sum(created_by_rank))


def count_bytes(values: Iterable[Any]) -> int:
    """The bytes of all arrays in `values`, including those in tuples."""
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, tuple):
            total += count_bytes(value)
    return total


def _find_value_players(arrays: SearchArrays) -> NDArray[np.int8]:
    """[N] the player whose values a node's moves have.

    It is the mover, or at chance nodes the last player who moved before. A root
    is never a chance node, and chains of chance nodes are short.
    """
    value_player, parent = arrays.nodes["mover"].astype(np.int8), arrays.shape.parent
    while True:
        chance = np.flatnonzero(value_player == CHANCE)
        if not len(chance):
            return value_player
        value_player[chance] = value_player[parent[chance]]
