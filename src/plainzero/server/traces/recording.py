"""A traced search as flat arrays, small enough to keep when the tree itself is gone."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE
from plainzero.search.result import SearchResult
from plainzero.search.tree_memory import ROOT
from plainzero.server.traces.initial_tree import Kept, find_kept
from plainzero.server.traces.proof_times import Proofs, time_proofs
from plainzero.server.traces.search_arrays import Source, open_source
from plainzero.server.traces.tree_shape import (
    Floats,
    Ints,
    Shape,
    count_through,
    running_sum,
    sum_through,
)


@dataclass(frozen=True)
class Recording:
    """N nodes, E edges, T simulations, P players. Edges stand side by side, in order of nodes."""

    shape: Shape
    parent_edge: Ints  # [N]
    mover: NDArray[np.int8]  # [N] who plays there; −1: chance
    judge: NDArray[np.int8]  # [N] whose values the node's moves have: see `_find_judges`
    is_over: NDArray[np.bool_]  # [N]
    first_edge: Ints  # [N + 1]
    action: Ints  # [E]
    prior: NDArray[np.float32]  # [E]
    leaf: Ints  # [T] node, or −1 where it was not kept
    edge: Ints  # [T] the last one
    kind: NDArray[np.int8]  # [T] index into TRACE_KINDS
    values: Floats  # [T, P]
    end_rank: Ints  # [T] of the last node that was kept
    proofs: Proofs
    kept: Kept

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
        """What all arrays take."""
        return count_bytes(vars(self).values())

    def exact_of(self, edge: int, simulations: int) -> float | None:
        """The value that was proven by then for the edge's mover."""
        if len(self.proofs.exact) and self.proofs.proven_after[edge] <= simulations:
            return float(self.proofs.exact[edge])
        return None


class Count(NamedTuple):
    """The statistics of all nodes after some simulations."""

    simulations: int
    visits: Ints  # [N] simulations through each node; 0 where it was not there yet
    sums: Floats  # [N, P] what they brought back; at the root with its own evaluation
    made: Ints  # [N + 1] nodes that were there, of those with a smaller rank


def record(result: SearchResult) -> Recording:
    """Copies what a traced search says of itself.

    Raises:
        ValueError: when it has no trace.
    """
    source = open_source(result)
    nodes, edges, steps = source.nodes, source.edges, source.steps
    return Recording(
        shape=source.shape,
        parent_edge=np.array(nodes["parent_edge"]),
        mover=nodes["mover"].astype(np.int8),
        judge=_find_judges(source),
        is_over=np.array(source.states["is_over"]),
        first_edge=source.first_edge,
        action=np.array(edges["action"]),
        prior=np.array(edges["prior"]),
        leaf=np.array(steps["leaf"]),
        edge=np.array(steps["edge"]),
        kind=steps["kind"].astype(np.int8),
        values=np.array(steps["values"]),
        end_rank=source.end_rank,
        proofs=time_proofs(source),
        kept=find_kept(source),
    )


def count_nodes(recording: Recording, simulations: int) -> Count:
    """The statistics of all nodes after so many simulations, by running sums over the trace."""
    shape, kept, end_rank = recording.shape, recording.kept, recording.end_rank[:simulations]
    visits = count_through(shape, end_rank)
    sums = sum_through(shape, end_rank, recording.values[:simulations])
    number = len(kept.value_sum)
    is_made = visits > 0
    is_made[:number] = True
    has_more = is_made & (shape.parent < number)
    has_more[ROOT] = False
    edges = recording.parent_edge[has_more]
    visits[has_more] += kept.edge_visits[edges]
    sums[has_more] += kept.edge_sums[edges]
    visits[ROOT] += kept.root_visits
    sums[ROOT] += kept.value_sum[ROOT]
    made_by_rank = np.empty_like(is_made)
    made_by_rank[shape.rank] = is_made
    return Count(simulations, visits, sums, running_sum(made_by_rank))


def count_bytes(values: Iterable[Any]) -> int:
    """The bytes of all arrays among the values, and in tuples among them."""
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, tuple):
            total += count_bytes(value)
    return total


def _find_judges(source: Source) -> NDArray[np.int8]:
    """[N] the mover; where chance moves, the player who decided last on the way there.

    A root is never chance's, and chance's moves in a row are few.
    """
    judge, parent = source.nodes["mover"].astype(np.int8), source.shape.parent
    while True:
        chance = np.flatnonzero(judge == CHANCE)
        if not len(chance):
            return judge
        judge[chance] = judge[parent[chance]]
