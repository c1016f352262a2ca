"""What a search found out: the root's statistics, the move to play, and the tree for drawing."""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tesuji.games.contract import CHANCE, Game
from tesuji.search.config import SearchConfig
from tesuji.search.formulas import puct_score
from tesuji.search.gumbel import (
    completed_q,
    edge_logit,
    improve_policy,
    mixed_value,
    q_scale,
)
from tesuji.search.random import random_unit
from tesuji.search.scratch import TREE_FULL, Scratch
from tesuji.search.selection import node_terms
from tesuji.search.tree import ROOT, UNVISITED, Tree, used_bytes

SMALLEST_TEMPERATURE = 1e-8
TRACE_KINDS = ("expanded", "finished", "proven", "not kept")


class Edge(NamedTuple):
    """A move in the tree, with what is known of it for the player who makes it."""

    action: int
    prior: float
    visits: int
    q: float
    child: int | None  # node
    exact: float | None  # proven value


class Simulation(NamedTuple):
    """One step of a trace: the nodes it went through, the moves between, and what came back."""

    nodes: list[int]
    actions: list[int]
    kind: str  # one of TRACE_KINDS
    values: list[float]  # per player


@dataclass(frozen=True)
class SearchTree:
    """A finished tree, for drawing and for questions; node 0 is the root.

    It shows the arrays of the search: a `Searcher` that goes on changes them.
    """

    arrays: Tree
    row: int
    used_bytes: int  # what its nodes and edges take

    def __len__(self) -> int:
        """The number of nodes."""
        return int(self.arrays.roots[self.row].num_nodes)

    def state(self, node: int) -> Any:
        """The position."""
        return self.arrays.states[self.row, node]

    def visits(self, node: int) -> int:
        """N: simulations through the node, its own evaluation included, the root's not."""
        return int(self.arrays.nodes[self.row, node].sum_visits) + (node != ROOT)

    def values(self, node: int) -> NDArray[np.float64]:
        """V per player: the mean of the node's own evaluation and all results below."""
        state, record = self.state(node), self.arrays.nodes[self.row, node]
        if state.is_over:
            return np.array(state.returns, float)
        own = 0 if state.to_play == CHANCE else 1
        values: NDArray[np.float64] = record.value_sum / max(1, int(record.sum_visits) + own)
        return values

    def edges(self, node: int = ROOT) -> list[Edge]:
        """The node's moves, in the order in which the search looks at them."""
        record = self.arrays.nodes[self.row, node]
        return [self._edge(int(record.first_edge) + i) for i in range(record.num_edges)]

    def path(self, node: int) -> tuple[list[int], list[int]]:
        """The nodes from the root to `node`, and the actions between them."""
        nodes, actions = [node], []
        while node != ROOT:
            record = self.arrays.nodes[self.row, node]
            actions.append(int(self.arrays.edges[self.row, record.parent_edge].action))
            node = int(record.parent)
            nodes.append(node)
        return nodes[::-1], actions[::-1]

    def _edge(self, place: int) -> Edge:
        edge = self.arrays.edges[self.row, place]
        exact = None
        if self.arrays.extras.size and self.arrays.extras[self.row, place].is_proven:
            exact = float(self.arrays.extras[self.row, place].exact)
        return Edge(
            action=int(edge.action),
            prior=float(edge.prior),
            visits=int(edge.visits),
            q=float(edge.q) if exact is None else exact,
            child=int(edge.child) if edge.child != UNVISITED else None,
            exact=exact,
        )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The outcome of a search; what it says is worked out when it is first asked.

    Arrays run over all actions; illegal ones are 0 everywhere. It keeps a copy of the root, so it
    stays as it is when a `Searcher` goes on; `tree` and `trace` do not.
    """

    game: Game
    config: SearchConfig
    tree: SearchTree
    roots: Tree  # copies of the roots and their edges alone, of all games of the batch
    scratch: Scratch
    options: Any
    row: int  # which game of the batch this is

    @functools.cached_property
    def visits(self) -> NDArray[np.int64]:
        """[A] simulations through each move."""
        return self._by_action(self._edges["visits"], np.int64)

    @functools.cached_property
    def q(self) -> NDArray[np.float64]:
        """[A] values for the mover; exact where proven, 0 where never visited."""
        q = self._by_action(self._edges["q"], np.float64)
        return np.where(np.isnan(self.exact), q, self.exact)

    @functools.cached_property
    def prior(self) -> NDArray[np.float32]:
        """[A] the evaluator's probabilities, without noise."""
        clean = self.roots.roots[self.row].clean_prior[: len(self._edges)]
        return self._by_action(clean, np.float32)

    @functools.cached_property
    def exact(self) -> NDArray[np.float64]:
        """[A] proven values for the mover, NaN where nothing is proven."""
        exact = np.full(self.game.num_actions, np.nan)
        if self.roots.extras.size:
            extras = self.roots.extras[self.row, : len(self._edges)]
            proven = extras["is_proven"]
            exact[self._edges["action"][proven]] = extras["exact"][proven]
        return exact

    @functools.cached_property
    def values(self) -> NDArray[np.float64]:
        """[players] the root's value for each."""
        node, state = self.roots.nodes[self.row, ROOT], self.roots.states[self.row, ROOT]
        if not self.proven:
            mean: NDArray[np.float64] = node.value_sum / (1 + int(node.sum_visits))
            return mean
        exact = float(self.roots.roots[self.row].exact)
        return np.array(
            [exact if p == state.to_play else -exact for p in range(self.game.num_players)]
        )

    @property
    def value(self) -> float:
        """The root's value for the player to move."""
        return float(self.values[self.to_play])

    @property
    def to_play(self) -> int:
        """The player to move."""
        return int(self.roots.states[self.row, ROOT].to_play)

    @property
    def turn(self) -> int:
        """The plays before this position."""
        return int(self.roots.states[self.row, ROOT].turn)

    @property
    def legal(self) -> list[int]:
        """The legal actions, in order."""
        return sorted(self._edges["action"].tolist())

    @property
    def proven(self) -> bool:
        """Whether the root's value is exact."""
        return bool(self.roots.roots[self.row].is_proven)

    @property
    def simulations(self) -> int:
        """The simulations that were run."""
        return int(self.scratch.work[self.row].simulations)

    @property
    def is_tree_full(self) -> bool:
        """Whether the tree could not grow any more, and was searched on as it was."""
        return bool(self.scratch.work[self.row].notes & TREE_FULL)

    @property
    def prior_fallbacks(self) -> int:
        """Nodes whose legal moves all got no probability from the evaluator: equal priors there."""
        return int(self.scratch.work[self.row].fallbacks)

    @functools.cached_property
    def best_action(self) -> int:
        """The move to play without chance: see docs/algorithm.md, "After the search"."""
        edges = SearchTree(self.roots, self.row, 0).edges(ROOT)
        if self.proven:
            edges = [edge for edge in edges if edge.exact == self.value]
        else:
            edges = [edge for edge in edges if edge.exact != -1.0] or edges
            if self.config.selection == "gumbel" and self.visits.any():
                return self._best_by_gumbel(edges)
            if self.config.choice == "lcb":
                return self._best_by_bound(edges)
        return max(edges, key=lambda e: (e.visits, e.q if e.visits else e.prior, -e.action)).action

    @functools.cached_property
    def action(self) -> int:
        """The move that `config.choice` plays: the best, or drawn by temperature, once."""
        config = self.config
        is_early = self.turn < config.temperature_turns
        if config.choice != "temperature" or not is_early or not self.visits.any():
            return self.best_action
        cumulative = np.cumsum(self.policy(config.temperature))
        x = random_unit(self.scratch.streams, self.row) * cumulative[-1]
        return int(np.flatnonzero(cumulative > x)[0])

    @functools.cached_property
    def policy_target(self) -> NDArray[np.float64]:
        """[A] what a network should learn from this search."""
        if self.config.selection == "gumbel":
            weights = np.zeros(len(self._edges))
            improve_policy(self.roots, self.options[self.row], self.row, ROOT, weights)
        else:
            weights = self._edges["visits"].astype(float)
            if self.config.forced_playouts > 0:
                weights = self._without_forced_playouts()
            if not weights.any():
                weights = self._edges["prior"].astype(float)
        return self._by_action(weights / weights.sum(), np.float64)

    def policy(self, temperature: float = 1.0) -> NDArray[np.float64]:
        """[A] visits^(1/τ), normalised; the best action alone for τ near 0."""
        if temperature < 0:
            raise ValueError(f"temperature is {temperature}; it cannot be negative")
        if temperature < SMALLEST_TEMPERATURE or not self.visits.any():
            return _one_hot(self.game.num_actions, self.best_action)
        return visits_to_policy(self.visits, temperature)

    @property
    def principal_variation(self) -> list[int]:
        """The moves the search expects: the best action, then the most visited of each node."""
        moves, node = [self.best_action], self._child(ROOT, self.best_action)
        while node is not None and self.tree.state(node).to_play != CHANCE:
            edges = [edge for edge in self.tree.edges(node) if edge.visits > 0]
            if not edges:
                break
            best = max(edges, key=lambda edge: (edge.visits, edge.q, -edge.action))
            moves.append(best.action)
            node = best.child
        return moves

    @property
    def trace(self) -> list[Simulation]:
        """Every simulation in order, where `config.trace` was set."""
        return list(self._simulations())

    @property
    def _edges(self) -> NDArray[Any]:
        count = int(self.roots.nodes[self.row, ROOT].num_edges)
        edges: NDArray[Any] = self.roots.edges[self.row, :count]
        return edges

    def _by_action(self, numbers: NDArray[Any], dtype: Any) -> NDArray[Any]:
        """[A] numbers given per root edge."""
        result = np.zeros(self.game.num_actions, dtype)
        result[self._edges["action"]] = numbers
        return result

    def _best_by_gumbel(self, edges: list[Edge]) -> int:
        """Of the moves visited most in this search, the largest g + ℓ + σ(Q)."""
        tree, options, row = self.roots, self.options[self.row], self.row
        work = self.scratch.work[row]
        mixed, scale = mixed_value(tree, options, row, ROOT), q_scale(tree, options, row, ROOT)
        chosen = {edge.action for edge in edges}
        best, best_key = -1, (-1, -math.inf)
        for index, action in enumerate(self._edges["action"].tolist()):
            if action in chosen:
                visits = int(self._edges[index].visits - work.base_visits[index])
                sigma = scale * (completed_q(tree, options, row, index, mixed) + 1.0) / 2.0
                score = work.gumbel[index] + edge_logit(tree, row, index) + sigma
                if (visits, score) > best_key:
                    best, best_key = action, (visits, score)
        return best

    def _best_by_bound(self, edges: list[Edge]) -> int:
        """The largest Q − z · √(variance / n) among moves visited often enough."""
        squares = dict(
            zip(self._edges["action"], self.roots.extras["square_sum"][self.row], strict=False)
        )
        most = max(edge.visits for edge in edges)

        def bound(edge: Edge) -> tuple[float, int]:
            if edge.exact is not None:  # which leaves no doubt
                return edge.exact, -edge.action
            n = edge.visits
            variance = max(0.0, squares[edge.action] / n - edge.q**2) * n / (n - 1)
            return edge.q - self.config.lcb_deviations * math.sqrt(variance / n), -edge.action

        often = [edge for edge in edges if edge.visits >= max(2.0, self.config.lcb_visits * most)]
        if not often:
            return max(edges, key=lambda e: (e.visits, e.q, -e.action)).action
        return max(often, key=bound).action

    def _without_forced_playouts(self) -> NDArray[np.float64]:
        """Visits per root edge less those that PUCT alone would not have given (KataGo)."""
        options = self.options[self.row]
        terms = node_terms(self.roots, options, self.row, ROOT)
        prior, q = self._edges["prior"].astype(float), self._edges["q"]
        visits: NDArray[np.float64] = self._edges["visits"].astype(float)
        best = int(visits.argmax())
        bar = puct_score(q[best], prior[best], visits[best], terms.parent, terms.c)
        for i in range(len(visits)):
            if i == best or visits[i] == 0:
                continue
            forced = int(math.sqrt(options.forced_playouts * prior[i] * terms.sum_visits))
            while forced > 0 and visits[i] > 0:
                if puct_score(q[i], prior[i], visits[i] - 1, terms.parent, terms.c) >= bar:
                    break
                visits[i] -= 1
                forced -= 1
            if visits[i] <= 1:
                visits[i] = 0
        return visits

    def _child(self, node: int, action: int) -> int | None:
        return next((e.child for e in self.tree.edges(node) if e.action == action), None)

    def _simulations(self) -> Iterator[Simulation]:
        edges = self.tree.arrays.edges[self.tree.row]
        for step in self.scratch.trace[self.row, : self.simulations]:
            if step.leaf >= 0:
                nodes, actions = self.tree.path(int(step.leaf))
            else:
                nodes, actions = self.tree.path(self._node_of(int(step.edge)))
                actions = [*actions, int(edges[step.edge].action)]
            yield Simulation(nodes, actions, TRACE_KINDS[step.kind], step.values.tolist())

    def _node_of(self, edge: int) -> int:
        nodes = self.tree.arrays.nodes[self.tree.row, : len(self.tree)]
        first, count = nodes["first_edge"], nodes["num_edges"]
        return int(np.flatnonzero((first <= edge) & (edge < first + count))[0])


def visits_to_policy(visits: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """visits^(1/τ) / Σ; one-hot for τ near 0, equal shares where nothing was visited."""
    counts = np.asarray(visits, float)
    if not counts.any():
        return np.full(len(counts), 1.0 / len(counts))
    if temperature < SMALLEST_TEMPERATURE:
        return _one_hot(len(counts), int(counts.argmax()))
    policy = np.zeros(len(counts))
    seen = counts > 0
    policy[seen] = np.exp((np.log(counts[seen]) - math.log(counts.max())) / temperature)
    policy /= policy.sum()
    return policy


def make_results(
    game: Game, config: SearchConfig, tree: Tree, scratch: Scratch, options: Any
) -> list[SearchResult]:
    """The result of each game of a batch."""
    widest = int(tree.nodes["num_edges"][:, ROOT].max())
    roots = Tree(
        nodes=tree.nodes[:, :1].copy(),
        node_extras=tree.node_extras[:, :1].copy(),
        states=tree.states[:, :1].copy(),
        edges=tree.edges[:, :widest].copy(),  # a root's edges come first in its row
        extras=tree.extras[:, :widest].copy(),
        amaf=tree.amaf[:, :1],
        roots=tree.roots.copy(),
    )
    return [
        SearchResult(
            game=game,
            config=config,
            tree=SearchTree(tree, row, used_bytes(game, config, tree, row)),
            roots=roots,
            scratch=scratch,
            options=options,
            row=row,
        )
        for row in range(len(roots.roots))
    ]


def _one_hot(length: int, index: int) -> NDArray[np.float64]:
    policy = np.zeros(length)
    policy[index] = 1.0
    return policy
