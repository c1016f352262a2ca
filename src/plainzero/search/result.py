"""The outcome of a search: the root's statistics, the move to play, and the tree for drawing."""

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.decision import (
    SMALLEST_TEMPERATURE,
    at_least_proven,
    best_by_gumbel,
    best_move,
    most_visited,
    write_playing_weights,
    write_policy_target,
)
from plainzero.search.kernels.random_streams import random_unit
from plainzero.search.kernels.scratch import TREE_FULL, Scratch
from plainzero.search.kernels.tree import ROOT, WORST_RESULT, Tree
from plainzero.search.tree_memory import bytes_each
from plainzero.search.view import TRACE_KINDS, Clock, SearchTree, Simulation, edges_of


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The outcome of a search; everything is computed when first read.

    Arrays have one element per action; illegal actions are 0. The result holds a copy of the root,
    so it stays valid when its `Searcher` continues; `tree`, `trace` and `principal_variation` must
    be read before that.
    """

    game: Game
    config: SearchConfig
    tree: SearchTree
    roots: Tree  # copies of the roots and their edges, of all games of the batch
    scratch: Scratch
    options: NDArray[Any]  # [1] see OPTIONS_DTYPE
    row: int  # of the game in its batch

    @functools.cached_property
    def visits(self) -> NDArray[np.int64]:
        """[A] simulations through each move."""
        return self._by_action(self._edges["visits"], np.int64)

    @functools.cached_property
    def q(self) -> NDArray[np.float64]:
        """[A] values for the mover; exact if proven, 0 if never visited."""
        q = self._by_action(self._edges["q"], np.float64)
        return np.where(np.isnan(self.exact), q, self.exact)

    @functools.cached_property
    def prior(self) -> NDArray[np.float32]:
        """[A] the evaluator's probabilities, without noise."""
        clean = self.roots.roots[self.row].clean_prior[: len(self._edges)]
        return self._by_action(clean, np.float32)

    @functools.cached_property
    def exact(self) -> NDArray[np.float64]:
        """[A] proven values for the mover, NaN for moves that are not proven."""
        exact = np.full(self.game.num_actions, np.nan)
        if self.roots.extras.size:
            extras = self.roots.extras[self.row, : len(self._edges)]
            proven = extras["is_proven"]
            exact[self._edges["action"][proven]] = extras["exact"][proven]
        return exact

    @functools.cached_property
    def proof_length(self) -> NDArray[np.int64]:
        """[A] moves from here to the end of each proof, the move included; 0 if not proven.

        The proofs found, which need not be the shortest; by templates, the longest possible.
        """
        if not self.roots.extras.size:
            return np.zeros(self.game.num_actions, np.int64)
        lengths = self.roots.extras["proof_length"][self.row, : len(self._edges)]
        return self._by_action(lengths, np.int64)

    @functools.cached_property
    def values(self) -> NDArray[np.float64]:
        """[players] the root's value for each player."""
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
        """How many moves were played before this position."""
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
        """How many simulations were run."""
        return int(self.scratch.work[self.row].simulations)

    @property
    def is_tree_full(self) -> bool:
        """Whether the tree was full at some point, so that new leaves were not kept."""
        return bool(self.scratch.work[self.row].notes & TREE_FULL)

    @property
    def prior_fallbacks(self) -> int:
        """Nodes that got equal priors because the evaluator gave no legal move any probability."""
        return int(self.scratch.work[self.row].fallbacks)

    @functools.cached_property
    def best_action(self) -> int:
        """The best move, without randomness: see docs/algorithm.md, "After the search"."""
        if self.config.selection == "gumbel" and self.visits.any() and not self.proven:
            index = best_by_gumbel(self.roots, self.scratch, self.options[0], self.row)
        elif self.config.choice == "lcb" and not self.proven:
            index = self._best_by_bound()
        else:
            index = best_move(self.roots, self.options[0], self.row, ROOT)
        return int(self._edges[index].action)

    @functools.cached_property
    def action(self) -> int:
        """The move that `config.choice` selects: the best, or one drawn by temperature, once."""
        config = self.config
        if config.choice != "temperature" or self.turn >= config.temperature_turns:
            return self.best_action
        cumulative = np.cumsum(self.policy(config.temperature))
        x = random_unit(self.scratch.streams, self.row) * cumulative[-1]
        return int(np.flatnonzero(cumulative > x)[0])

    @functools.cached_property
    def policy_target(self) -> NDArray[np.float64]:
        """[A] the policy that a network should learn from this search."""
        weights = np.zeros(len(self._edges))
        write_policy_target(self.roots, self.options[0], self.row, weights)
        return self._by_action(weights, np.float64)

    def policy(self, temperature: float = 1.0) -> NDArray[np.float64]:
        """[A] visits^(1/τ), normalised; one-hot at the best action for τ near 0."""
        if not temperature >= 0:
            raise ValueError(f"temperature is {temperature}; it must be 0 or more")
        weights = np.zeros(len(self._edges))
        write_playing_weights(self.roots, self.options[0], self.row, weights)
        visits = self._by_action(weights, np.float64)
        if temperature < SMALLEST_TEMPERATURE or not visits.any():
            return _one_hot(self.game.num_actions, self.best_action)
        return visits_to_policy(visits, temperature)

    @property
    def principal_variation(self) -> list[int]:
        """The moves the search expects: the best action, then the best move of each node."""
        moves, node = [self.best_action], self._child(ROOT, self.best_action)
        arrays, row = self.tree.arrays
        while node is not None and self.tree.state(node).to_play != CHANCE:
            edges = self.tree.edges(node)
            if not any(edge.visits for edge in edges):
                break
            best = edges[best_move(arrays, self.options[0], row, node)]
            moves.append(best.action)
            node = best.child
        return moves

    @property
    def trace(self) -> list[Simulation]:
        """Every simulation in order, if `config.trace` was set."""
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

    def _best_by_bound(self) -> int:
        """The index of the largest lower confidence bound among moves with enough visits.

        If the bound of the most visited move is below the worst result, all bounds are too wide to
        tell moves apart, and that move is the best. A proven move takes its place if worth as much.
        """
        edges, options = edges_of(self.roots, self.row, ROOT), self.options[0]
        squares = self.roots.extras["square_sum"][self.row]
        best = most_visited(self.roots, options, self.row, ROOT)

        def bound(index: int) -> float:
            edge = edges[index]
            radius = standard_error(edge.visits, edge.q, squares[index])
            return edge.q - self.config.lcb_deviations * radius

        most = edges[best].visits
        if most > 0 and bound(best) >= WORST_RESULT:
            enough = max(1.0, self.config.lcb_visits * most)
            often = [i for i, e in enumerate(edges) if e.exact is None and e.visits >= enough]
            best = max(often, key=lambda index: (bound(index), -edges[index].action))
        return at_least_proven(self.roots, options, self.row, ROOT, best)

    def _child(self, node: int, action: int) -> int | None:
        return next((e.child for e in self.tree.edges(node) if e.action == action), None)

    def _simulations(self) -> Iterator[Simulation]:
        arrays, row = self.tree.arrays
        edges = arrays.edges[row]
        for step in self.scratch.trace[self.row, : self.simulations]:
            if step.leaf >= 0:
                nodes, actions = self.tree.path(int(step.leaf))
            else:
                nodes, actions = self.tree.path(self._node_of(int(step.edge)))
                actions = [*actions, int(edges[step.edge].action)]
            yield Simulation(nodes, actions, TRACE_KINDS[step.kind], step.values.tolist())

    def _node_of(self, edge: int) -> int:
        arrays, row = self.tree.arrays
        nodes = arrays.nodes[row, : len(self.tree)]
        first, count = nodes["first_edge"], nodes["num_edges"]
        return int(np.flatnonzero((first <= edge) & (edge < first + count))[0])


def standard_error(count: int, mean: float, square_sum: float) -> float:
    """The standard error of the mean of `count` results, which is large if they are few.

    One result more, of weight 1 / count², counts as far from the mean as results can be: a few
    equal results do not look certain (KataGo, `getSelfUtilityLCBAndRadius`).
    """
    weight = 1.0 / count**2
    total = count + weight
    variance = max(0.0, square_sum / count - mean**2) + weight / total
    effective_count = total**2 / (count + weight**2)
    return math.sqrt(variance / effective_count)


def visits_to_policy(visits: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """visits^(1/τ) / Σ; one-hot for τ near 0, uniform if nothing was visited."""
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
    game: Game,
    config: SearchConfig,
    roots: Tree,
    scratch: Scratch,
    options: NDArray[Any],
    clock: Clock,
    fetch: Callable[[int], tuple[Tree, int]],
) -> list[SearchResult]:
    """The result of each game of a batch; `roots` are copies, `fetch` returns a whole tree."""
    node_bytes, edge_bytes, _ = bytes_each(game, config)
    return [
        SearchResult(
            game=game,
            config=config,
            tree=SearchTree(fetch, row, node_bytes, edge_bytes, clock, clock.time),
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
