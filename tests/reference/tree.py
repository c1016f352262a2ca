"""The tree of a search."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(eq=False)
class Edge:
    """A legal move of a node, or an outcome of chance."""

    action: int
    own_prior: float = 0.0  # the evaluator's
    prior: float = 0.0  # the same with the root's noise
    visits: int = 0  # n
    value_sum: float = 0.0  # W, for the player to move at the edge's node
    square_sum: float = 0.0
    pending: int = 0  # p
    proven: float | None = None
    proof_length: int = 0  # moves to the end of the proof, this one included
    gumbel: float = 0.0
    visits_before: int = 0  # of a root's edge when the search began
    child: "Node | None" = None

    @property
    def tried(self) -> int:
        """n' = n + p."""
        return self.visits + self.pending

    @property
    def q(self) -> float:
        """W / n."""
        return self.value_sum / self.visits

    @property
    def exact_q(self) -> float:
        """The exact value if proven, else Q."""
        return self.q if self.proven is None else self.proven


@dataclass(eq=False)
class Node:
    """A position in the tree."""

    state: Any
    mover: int
    is_root: bool = False
    is_waiting: bool = False  # for its evaluation
    edges: list[Edge] = field(default_factory=list)
    visits: int = 0  # S
    own_values: list[float] = field(default_factory=list)  # per player, as are the next two
    totals: list[float] = field(default_factory=list)  # of own_values and all results below
    squares: list[float] = field(default_factory=list)
    proven: float | None = None
    amaf: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict)  # ñ and W̃

    @property
    def value(self) -> float:
        """V, for the mover."""
        return self.totals[self.mover] / (1 + self.visits)

    @property
    def unproven(self) -> list[Edge]:
        """The edges that are not proven."""
        return [edge for edge in self.edges if edge.proven is None]

    @property
    def floor(self) -> float:
        """The best proven value of the mover's moves, at least the worst result."""
        return max([-1.0, *(edge.proven for edge in self.edges if edge.proven is not None)])

    @property
    def tried_sum(self) -> int:
        """S' = S + Σp."""
        return self.visits + sum(edge.pending for edge in self.edges)

    @property
    def tried_node(self) -> int:
        """N' = N + Σp."""
        return self.tried_sum + (0 if self.is_root else 1)

    def size(self) -> tuple[int, int]:
        """The numbers of nodes and edges of the subtree."""
        sizes = [edge.child.size() for edge in self.edges if edge.child is not None]
        return 1 + sum(n for n, _ in sizes), len(self.edges) + sum(e for _, e in sizes)


class Leaf(NamedTuple):
    """A descent so far: its edges, and the node below the last one."""

    path: list[tuple[Node, Edge]]
    node: Node
    result: list[float] | None = None  # per player, if no evaluation is needed
