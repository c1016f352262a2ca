"""When each proven value of a traced search was proven; the tree itself only says that it was."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.search.kernels.scratch import FINISHED
from plainzero.search.tree_memory import ROOT
from plainzero.server.traces.search_arrays import Source
from plainzero.server.traces.tree_shape import Ints, split_levels


class Proofs(NamedTuple):
    """Proven values and their times: the simulations done then, more than all for never."""

    exact: NDArray[np.float32]  # [E] for the mover; empty where nothing was proven
    proven_after: Ints  # [E] empty where nothing was proven
    root_exact: float  # for the player to move
    root_proven_after: int

    def is_root_proven(self, simulations: int) -> bool:
        """Whether the root's value was proven by then."""
        return self.root_proven_after <= simulations


def time_proofs(source: Source) -> Proofs:
    """Follows the proofs from finished games upwards, level by level.

    A finished game proves its edge. A node is proven by its first edge with value 1, or when its
    last edge is proven, and with it the edge that leads to it. Proofs without a simulation that
    made them are older than the search.
    """
    never = len(source.steps) + 1
    if not len(source.extras) or not source.extras["is_proven"].any():
        return Proofs(np.empty(0, np.float32), np.empty(0, np.int32), 0.0, never)
    exact, is_proven = np.array(source.extras["exact"]), source.extras["is_proven"]
    proven_after = _time_ends(source)
    proven_after[~is_proven] = never
    parent_edge = source.nodes["parent_edge"]
    is_open = ~source.states["is_over"] & is_proven[parent_edge]  # proven by what is below
    is_open[ROOT] = False
    is_settled = np.ones(len(exact), np.bool_)
    is_settled[parent_edge[is_open]] = False
    nodes = _NodeTimes(source, exact, never)
    nodes.learn(np.flatnonzero(is_settled), proven_after)
    for level in reversed(split_levels(np.flatnonzero(is_open), source.shape.depth)):
        proven_after[parent_edge[level]] = nodes.times(level)
        nodes.learn(parent_edge[level], proven_after)
    root_after = int(nodes.times(ROOT)) if source.root.is_proven else never
    return Proofs(exact, proven_after, float(source.root.exact), root_after)


def _time_ends(source: Source) -> Ints:
    """[E] when a finished game was reached along each edge, which was proven then; 0 for never."""
    times = np.zeros(len(source.edges), np.int32)
    finished = np.flatnonzero(source.steps["kind"] == FINISHED)
    times[source.steps["edge"][finished]] = finished + 1
    return times


class _NodeTimes:
    """When nodes are proven, from what was learned of their edges."""

    def __init__(self, source: Source, exact: NDArray[np.float32], never: int) -> None:
        count = len(source.nodes)
        self.exact, self.never = exact, never
        self.owner = np.repeat(np.arange(count), np.diff(source.first_edge))
        self.by_win = np.full(count, never, np.int32)
        self.by_all = np.zeros(count, np.int32)

    def learn(self, edges: NDArray[Any], proven_after: Ints) -> None:
        """Takes the times of these edges into account."""
        times, owner = proven_after[edges], self.owner[edges]
        wins = np.where(self.exact[edges] == 1.0, times, self.never)
        np.minimum.at(self.by_win, owner, wins)
        np.maximum.at(self.by_all, owner, times)

    def times(self, nodes: Any) -> Any:
        """When the nodes are proven, once all their edges are known."""
        return np.minimum(self.by_win[nodes], self.by_all[nodes])
