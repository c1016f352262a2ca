"""What a search found out: the root's statistics, the move to play, and the tree for drawing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tesuji.games.contract import CHANCE, Game
from tesuji.search.config import SearchConfig
from tesuji.search.formulas import puct_score
from tesuji.search.gumbel import best_with_visits, improve_policy
from tesuji.search.random import random_unit
from tesuji.search.scratch import TREE_FULL, Scratch
from tesuji.search.selection import node_terms
from tesuji.search.tree import ROOT, UNVISITED, Tree

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
        q = edge.value_sum / edge.visits if edge.visits else 0.0
        return Edge(
            action=int(edge.action),
            prior=float(edge.prior),
            visits=int(edge.visits),
            q=float(q) if exact is None else exact,
            child=int(edge.child) if edge.child != UNVISITED else None,
            exact=exact,
        )


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search. Arrays run over all actions; illegal ones are 0 everywhere."""

    game: Game
    config: SearchConfig
    visits: NDArray[np.int64]  # [A]
    q: NDArray[np.float64]  # [A] for the mover; exact where proven, 0 where never visited
    prior: NDArray[np.float32]  # [A] the evaluator's, without noise
    exact: NDArray[np.float64]  # [A] proven values for the mover, NaN elsewhere
    values: NDArray[np.float64]  # [players] of the root
    value: float  # for the player to move
    to_play: int
    turn: int
    best_action: int
    action: int  # what `config.choice` plays; drawn once
    policy_target: NDArray[np.float64]  # [A] what a network should learn
    proven: bool  # whether the root's value is exact
    simulations: int
    is_tree_full: bool
    prior_fallbacks: int  # nodes whose legal moves got no probability from the evaluator
    tree: SearchTree
    scratch: Scratch

    def policy(self, temperature: float = 1.0) -> NDArray[np.float64]:
        """[A] visits^(1/τ), normalised; the best action alone for τ near 0."""
        if temperature < 0:
            raise ValueError(f"temperature is {temperature}; it cannot be negative")
        if temperature < SMALLEST_TEMPERATURE or not self.visits.any():
            return _one_hot(len(self.visits), self.best_action)
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

    def _child(self, node: int, action: int) -> int | None:
        return next((e.child for e in self.tree.edges(node) if e.action == action), None)

    def _simulations(self) -> Iterator[Simulation]:
        scratch, row = self.scratch, self.tree.row
        for step in scratch.trace[row, : self.simulations]:
            if step.leaf >= 0:
                nodes, actions = self.tree.path(int(step.leaf))
            else:
                nodes, actions = self.tree.path(self._node_of(int(step.edge)))
                actions = [*actions, int(self.tree.arrays.edges[row, step.edge].action)]
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
    return policy / policy.sum()


def make_result(
    game: Game, config: SearchConfig, tree: Tree, scratch: Scratch, options: Any, row: int
) -> SearchResult:
    """Reads row's root and chooses its move."""
    view = SearchTree(tree, row)
    edges = view.edges(ROOT)
    state = view.state(ROOT)
    actions = [edge.action for edge in edges]
    visits, q = np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions)
    prior, exact = np.zeros(game.num_actions, np.float32), np.full(game.num_actions, np.nan)
    visits[actions] = [edge.visits for edge in edges]
    q[actions] = [edge.q for edge in edges]
    prior[actions] = tree.roots[row].clean_prior[: len(edges)]
    exact[actions] = [math.nan if edge.exact is None else edge.exact for edge in edges]
    values, proven = view.values(ROOT), bool(tree.roots[row].is_proven)
    if proven:
        values = np.full(game.num_players, -float(tree.roots[row].exact))
        values[state.to_play] = float(tree.roots[row].exact)
    best = _best_action(config, tree, scratch, options, row, edges)
    return SearchResult(
        game=game,
        config=config,
        visits=visits,
        q=q,
        prior=prior,
        exact=exact,
        values=values,
        value=float(values[state.to_play]),
        to_play=int(state.to_play),
        turn=int(state.turn),
        best_action=best,
        action=_chosen_action(config, scratch, row, visits, best, int(state.turn)),
        policy_target=_policy_target(game, config, tree, scratch, options, row),
        proven=proven,
        simulations=int(scratch.work[row].simulations),
        is_tree_full=bool(scratch.work[row].notes & TREE_FULL),
        prior_fallbacks=int(scratch.work[row].fallbacks),
        tree=view,
        scratch=scratch,
    )


def _best_action(
    config: SearchConfig, tree: Tree, scratch: Scratch, options: Any, row: int, edges: list[Edge]
) -> int:
    """The move to play without chance: see docs/algorithm.md, "After the search"."""
    if tree.roots[row].is_proven:
        edges = [edge for edge in edges if edge.exact == float(tree.roots[row].exact)]
    elif config.selection == "gumbel" and any(edge.visits for edge in edges):
        before = scratch.work[row].base_visits
        most = max(edge.visits - int(before[i]) for i, edge in enumerate(edges))
        best = best_with_visits(tree, scratch, options[row], row, most)
        return int(tree.edges[row, best].action)
    else:
        edges = [edge for edge in edges if edge.exact != -1.0] or edges
        if config.choice == "lcb":
            return _best_by_bound(config, tree, row, edges)
    return max(edges, key=lambda e: (e.visits, e.q if e.visits else e.prior, -e.action)).action


def _best_by_bound(config: SearchConfig, tree: Tree, row: int, edges: list[Edge]) -> int:
    """The largest Q − z · √(variance / n) among moves visited often enough."""
    most = max(edge.visits for edge in edges)
    places = _root_edges(tree, row)
    squares = dict(
        zip(tree.edges["action"][row, places], tree.extras["square_sum"][row, places], strict=True)
    )

    def bound(edge: Edge) -> tuple[float, int]:
        n = edge.visits
        variance = max(0.0, squares[edge.action] / n - edge.q**2) * n / (n - 1)
        return edge.q - config.lcb_deviations * math.sqrt(variance / n), -edge.action

    often = [e for e in edges if e.visits >= max(2.0, config.lcb_visits * most)]
    if not often:
        return max(edges, key=lambda e: (e.visits, e.q, -e.action)).action
    return max(often, key=bound).action


def _chosen_action(
    config: SearchConfig, scratch: Scratch, row: int, visits: NDArray[np.int64], best: int, turn: int
) -> int:
    """What is played: drawn by temperature early in the game where asked for, else the best."""
    if config.choice != "temperature" or turn >= config.temperature_turns or not visits.any():
        return best
    if config.temperature < SMALLEST_TEMPERATURE:
        return best
    policy = visits_to_policy(visits, config.temperature)
    x = random_unit(scratch.streams, row)
    return int(np.flatnonzero(np.cumsum(policy) > x)[0]) if x < policy.sum() else best


def _policy_target(
    game: Game, config: SearchConfig, tree: Tree, scratch: Scratch, options: Any, row: int
) -> NDArray[np.float64]:
    """[A] what a network should learn from this search."""
    edges = tree.edges[row, _root_edges(tree, row)]
    if config.selection == "gumbel":
        weights = np.zeros(len(edges))
        improve_policy(tree, options[row], row, ROOT, weights)
    else:
        weights = edges["visits"].astype(float)
        if config.forced_playouts > 0:
            weights = _without_forced_playouts(tree, options[row], row, edges)
        if not weights.any():
            weights = edges["prior"].astype(float)
    target = np.zeros(game.num_actions)
    target[edges["action"]] = weights / weights.sum()
    return target


def _without_forced_playouts(
    tree: Tree, options: Any, row: int, edges: NDArray[Any]
) -> NDArray[np.float64]:
    """Takes back visits that PUCT alone would not have given (KataGo's policy target pruning)."""
    terms = node_terms(tree, options, row, ROOT)
    prior, visits = edges["prior"].astype(float), edges["visits"].astype(float)
    q = edges["value_sum"] / np.maximum(visits, 1.0)
    best = int(visits.argmax())
    bar = puct_score(q[best], prior[best], visits[best], terms.parent, terms.c)
    pruned = visits.copy()
    for i in range(len(visits)):
        if i == best or visits[i] == 0:
            continue
        forced = int(math.sqrt(options.forced_playouts * prior[i] * terms.sum_visits))
        while forced > 0 and pruned[i] > 0:
            if puct_score(q[i], prior[i], pruned[i] - 1, terms.parent, terms.c) >= bar:
                break
            pruned[i] -= 1
            forced -= 1
        if pruned[i] <= 1:
            pruned[i] = 0
    return pruned


def _root_edges(tree: Tree, row: int) -> slice:
    root = tree.nodes[row, ROOT]
    return slice(int(root.first_edge), int(root.first_edge) + int(root.num_edges))


def _one_hot(length: int, index: int) -> NDArray[np.float64]:
    policy = np.zeros(length)
    policy[index] = 1.0
    return policy
