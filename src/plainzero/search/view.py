"""A searched tree for drawing: nodes, moves, and the simulations that built it."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, State
from plainzero.search.kernels.tree import ROOT, UNVISITED, Tree

TRACE_KINDS = ("expanded", "finished", "proven", "not kept")


class Edge(NamedTuple):
    """A move in the tree; values are for the player who makes it."""

    action: int
    prior: float
    visits: int
    q: float
    child: int | None  # node
    exact: float | None  # proven value


class Simulation(NamedTuple):
    """One step of a trace: the nodes on its path, the moves between them, and the result."""

    nodes: list[int]
    actions: list[int]
    kind: str  # one of TRACE_KINDS
    values: list[float]  # per player


@dataclass
class Clock:
    """Counts how often a `Searcher` changed its tree."""

    time: int = 0


@dataclass(frozen=True)
class SearchTree:
    """A searched tree; node 0 is the root.

    It reads the arrays of the search itself, so it becomes invalid when its `Searcher` advances or
    searches again.
    """

    fetch: Callable[[int], tuple[Tree, int]]  # the arrays with a game's tree, and its row in them
    row: int  # of the game in its batch
    node_bytes: int  # of one node
    edge_bytes: int  # of one edge
    clock: Clock
    time: int

    @property
    def arrays(self) -> tuple[Tree, int]:
        """The arrays that contain this tree, and its row in them."""
        if self.clock.time != self.time:
            raise RuntimeError(
                "this tree is gone: its Searcher has advanced or searched again; read it earlier"
            )
        return self._fetched

    @functools.cached_property
    def _fetched(self) -> tuple[Tree, int]:
        return self.fetch(self.row)

    @property
    def used_bytes(self) -> int:
        """The memory that the nodes and edges take."""
        arrays, row = self.arrays
        edges = int(arrays.roots[row].used_edges)
        return len(self) * self.node_bytes + edges * self.edge_bytes

    def __len__(self) -> int:
        """The number of nodes."""
        arrays, row = self.arrays
        return int(arrays.roots[row].num_nodes)

    def state(self, node: int) -> State:
        """The position."""
        arrays, row = self.arrays
        state: State = arrays.states[row, node]
        return state

    def visits(self, node: int) -> int:
        """N: simulations through the node, its own evaluation included, the root's not."""
        arrays, row = self.arrays
        return int(arrays.nodes[row, node].sum_visits) + (node != ROOT)

    def values(self, node: int) -> NDArray[np.float64]:
        """[players] V: the mean of the node's own evaluation and all results below."""
        arrays, row = self.arrays
        state, record = self.state(node), arrays.nodes[row, node]
        if state.is_over:
            return np.array(state.returns, float)
        own = 0 if state.to_play == CHANCE else 1
        values: NDArray[np.float64] = record.value_sum / max(1, int(record.sum_visits) + own)
        return values

    def edges(self, node: int = ROOT) -> list[Edge]:
        """The node's moves, in the order in which selection compares them."""
        return edges_of(*self.arrays, node)

    def path(self, node: int) -> tuple[list[int], list[int]]:
        """The nodes from the root to `node`, and the actions between them."""
        nodes, actions = [node], []
        arrays, row = self.arrays
        while node != ROOT:
            record = arrays.nodes[row, node]
            actions.append(int(arrays.edges[row, record.parent_edge].action))
            node = int(record.parent)
            nodes.append(node)
        return nodes[::-1], actions[::-1]


def edges_of(tree: Tree, row: int, node: int) -> list[Edge]:
    """The moves of a node of game `row`."""
    record = tree.nodes[row, node]
    first = int(record.first_edge)
    return [_edge(tree, row, place) for place in range(first, first + int(record.num_edges))]


def _edge(tree: Tree, row: int, place: int) -> Edge:
    edge, exact = tree.edges[row, place], None
    if tree.extras.size and tree.extras[row, place].is_proven:
        exact = float(tree.extras[row, place].exact)
    return Edge(
        action=int(edge.action),
        prior=float(edge.prior),
        visits=int(edge.visits),
        q=float(edge.q) if exact is None else exact,
        child=int(edge.child) if edge.child != UNVISITED else None,
        exact=exact,
    )
