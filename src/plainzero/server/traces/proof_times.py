"""When each value of a traced search was proven; the tree only says whether it was."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.search.kernels.scratch import FINISHED
from plainzero.search.kernels.tree import ROOT
from plainzero.server.traces.search_arrays import SearchArrays
from plainzero.server.traces.tree_shape import Ints, split_levels


class Proofs(NamedTuple):
    """Proven values, and after how many simulations; more than all simulations means never."""

    exact: NDArray[np.float32]  # [E] for the mover; empty if nothing was proven
    proven_after: Ints  # [E] empty if nothing was proven
    root_exact: float  # for the player to move
    root_proven_after: int

    def is_root_proven(self, simulations: int) -> bool:
        """Whether the root's value was proven after that many simulations."""
        return self.root_proven_after <= simulations


def time_proofs(arrays: SearchArrays) -> Proofs:
    """Dates all proofs, from finished games upwards, level by level.

    A finished game proves its edge. A node is proven by its first edge with value 1, or when its
    last edge is proven; so is the edge that leads to it. Proofs that no simulation made are older
    than the search.
    """
    never = len(arrays.steps) + 1
    if not len(arrays.extras) or not arrays.extras["is_proven"].any():
        return Proofs(np.empty(0, np.float32), np.empty(0, np.int32), 0.0, never)
    exact, is_proven = np.array(arrays.extras["exact"]), arrays.extras["is_proven"]
    proven_after = _time_ends(arrays)
    proven_after[~is_proven] = never
    parent_edge = arrays.nodes["parent_edge"]
    is_open = ~arrays.states["is_over"] & is_proven[parent_edge]  # proven by its subtree
    is_open[ROOT] = False
    is_direct = np.ones(len(exact), np.bool_)
    is_direct[parent_edge[is_open]] = False
    nodes = _NodeTimes(arrays, exact, never)
    nodes.add(np.flatnonzero(is_direct), proven_after)
    for level in reversed(split_levels(np.flatnonzero(is_open), arrays.shape.depth)):
        proven_after[parent_edge[level]] = nodes.times(level)
        nodes.add(parent_edge[level], proven_after)
    root_after = int(nodes.times(ROOT)) if arrays.root.is_proven else never
    return Proofs(exact, proven_after, float(arrays.root.exact), root_after)


def _time_ends(arrays: SearchArrays) -> Ints:
    """[E] when each edge was proven by reaching a finished game; 0 for never."""
    times = np.zeros(len(arrays.edges), np.int32)
    finished = np.flatnonzero(arrays.steps["kind"] == FINISHED)
    times[arrays.steps["edge"][finished]] = finished + 1
    return times


class _NodeTimes:
    """When nodes are proven, computed from their edges."""

    def __init__(self, arrays: SearchArrays, exact: NDArray[np.float32], never: int) -> None:
        count = len(arrays.nodes)
        self.exact, self.never = exact, never
        self.owner = np.repeat(np.arange(count), np.diff(arrays.first_edge))
        self.by_win = np.full(count, never, np.int32)
        self.by_all = np.zeros(count, np.int32)

    def add(self, edges: NDArray[Any], proven_after: Ints) -> None:
        """Adds the times of these edges."""
        times, owner = proven_after[edges], self.owner[edges]
        wins = np.where(self.exact[edges] == 1.0, times, self.never)
        np.minimum.at(self.by_win, owner, wins)
        np.maximum.at(self.by_all, owner, times)

    def times(self, nodes: Any) -> Any:
        """When the nodes are proven, once all their edges are added."""
        return np.minimum(self.by_win[nodes], self.by_all[nodes])
