"""One search, step by step: select, evaluate, expand, back up."""

import dataclasses
import math
from typing import Any

from plainzero import CHANCE, Game, SearchConfig
from plainzero.games.contract import has_chance
from plainzero.search.scratch_memory import make_streams

from .backup import back_up, learn_amaf, prove
from .evaluation import (
    ask,
    make_edges,
    mix,
    play_chance,
    play_move,
    random_game,
    returns,
    set_priors,
)
from .result import ReferenceResult, read_result
from .selection import choose_edge, prepare_root
from .tree import Edge, Leaf, Node


def reference_search(
    game: Game,
    state: Any,
    evaluator: Any,
    config: SearchConfig,
    seed: int = 0,
    game_index: int = 0,
    max_nodes: float = math.inf,
    max_edges: float = math.inf,
) -> ReferenceResult:
    """Searches `state` as game `game_index` of a batch, in a tree of limited size.

    `evaluator` is "uniform", "rollout" or a function of observations [B, *shape] that returns
    logits [B, A] and values [B] for the mover or [B, players] starting with the mover.
    """
    searcher = ReferenceSearcher(game, evaluator, config, max_nodes, max_edges)
    return searcher.search(state, seed, game_index)


def resolve(config: SearchConfig, evaluator: Any) -> SearchConfig:
    """The same options with `auto` resolved."""
    by_rollouts = evaluator == "rollout"
    selection, fpu = config.selection, config.fpu
    if selection == "auto":
        selection = "uct" if by_rollouts else "puct"
    if fpu == "auto" and selection != "gumbel":
        fpu = "infinite" if selection == "uct" else "zero"
    weight = 1.0 if by_rollouts else config.rollout_weight
    return dataclasses.replace(config, selection=selection, fpu=fpu, rollout_weight=weight)


class ReferenceSearcher:
    """A tree that grows by searches; after `advance`, the next search reuses it."""

    def __init__(
        self,
        game: Game,
        evaluator: Any,
        config: SearchConfig,
        max_nodes: float = math.inf,
        max_edges: float = math.inf,
    ) -> None:
        self.game, self.evaluator, self.config = game, evaluator, resolve(config, evaluator)
        self.max_nodes, self.max_edges = max_nodes, max_edges
        self.root: Node | None = None
        self.num_nodes = self.num_edges = 0

    def search(self, state: Any, seed: int = 0, game_index: int = 0) -> ReferenceResult:
        """The whole search."""
        self.streams = make_streams(seed, 1, game_index)
        self.simulations = self.dropped_at = 0
        if self.root is None:
            self.root = self.new_node(self.game.copy(state))
            self.root.is_root = True
            self.evaluate(Leaf([], self.root))
        prepare_root(self.root, self.config, self.streams)
        while not self.is_finished(waiting=0):
            for leaf in self.select_round():
                self.count(leaf, self.evaluate(leaf))
        return read_result(self.game, self.root, self.config)

    def advance(self, action: int) -> None:
        """Makes the child of `action` the root, and drops the rest of the tree."""
        self.root = next((e.child for e in self.root.edges if e.action == action), None)
        self.num_nodes, self.num_edges = self.root.size() if self.root else (0, 0)
        if self.root is not None:
            self.root.is_root = True

    def is_finished(self, waiting: int) -> bool:
        """Whether the root is proven or a budget used up, `waiting` leaves included."""
        return (
            0 < self.config.simulations <= self.simulations + waiting
            or 0 < self.config.visits <= sum(e.visits for e in self.root.edges) + waiting
            or 0 < self.config.nodes <= self.num_nodes
            or self.root.proven is not None
        )

    def select_round(self) -> list[Leaf]:
        """Up to `leaves` leaves; a descent to a known result is backed up at once."""
        self.drop_proven_if_full()
        leaves: list[Leaf] = []
        while len(leaves) < self.config.leaves and not self.is_finished(len(leaves)):
            leaf = self.select(Leaf([], self.root), self.root)
            if leaf.result is not None:
                self.learn(leaf, [], leaf.result)
                self.count(leaf, leaf.result)
            elif leaf.node.is_waiting:  # undo the descent
                for _, edge in leaf.path:
                    edge.pending -= 1
                break
            else:
                leaf.node.is_waiting = True
                leaves.append(leaf)
        return leaves

    def select(self, at: Leaf, amaf_node: Node) -> Leaf:
        """Continues a descent to its leaf."""
        node = at.node
        if self.config.amaf == "rave" or node.visits >= self.config.grave_visits:
            amaf_node = node
        edge = choose_edge(node, amaf_node, self.config, self.streams)
        edge.pending += 1
        path = [*at.path, (node, edge)]
        is_new = edge.child is None
        child = self.play(node, edge) if edge.child is None else edge.child
        if child.state.is_over:
            return Leaf(path, child, returns(child.state))
        if child.is_waiting or (is_new and child.mover != CHANCE):
            return Leaf(path, child)
        return self.select(Leaf(path, child), amaf_node)

    def play(self, node: Node, edge: Edge) -> Node:
        """The node after the edge's move, stored in the tree unless that is full."""
        state = self.game.copy(node.state)
        play_move(self.game, state, edge.action)
        if not self.is_full():
            edge.child = self.new_node(state)
            return edge.child
        play_chance(self.game, state, self.streams)
        return Node(state, int(state.to_play))

    def is_full(self) -> bool:
        """Whether there is no room for another node with the largest possible number of edges."""
        most_edges = self.game.max_chance_outcomes if has_chance(self.game) else 0
        most_edges = max(most_edges, self.game.num_actions)
        return self.num_nodes >= self.max_nodes or self.num_edges + most_edges > self.max_edges

    def drop_proven_if_full(self) -> None:
        """Drops the nodes below proven edges of a full tree, unless that was done recently."""
        pause = (self.max_nodes + self.config.leaves + 1) // 4
        is_due = self.simulations - self.dropped_at >= pause
        if self.config.proven_values and self.is_full() and is_due:
            self.dropped_at = self.simulations
            drop_proven(self.root)
            self.num_nodes, self.num_edges = self.root.size()

    def new_node(self, state: Any) -> Node:
        """A new node in the tree, with its edges; a player's edges get their priors later."""
        node = Node(state, int(state.to_play), edges=make_edges(self.game, state))
        self.num_nodes += 1
        self.num_edges += len(node.edges)
        node.totals = node.squares = [0.0] * self.game.num_players
        return node

    def evaluate(self, leaf: Leaf) -> list[float]:
        """The leaf's result; its edges get their priors."""
        node = leaf.node
        node.is_waiting = False
        logits, result = ask(self.evaluator, self.game, node)
        set_priors(node, logits)
        if self.config.widening > 0:
            node.edges.sort(key=lambda edge: -edge.prior)
        if self.config.rollout_weight > 0:
            result = self.roll_out(leaf, result)
        else:
            self.learn(leaf, [], result)
        node.own_values = node.totals = result
        node.squares = [x * x for x in result]
        return result

    def roll_out(self, leaf: Leaf, values: list[float]) -> list[float]:
        """Values mixed with the mean of random games from the leaf."""
        weight, count = self.config.rollout_weight, self.config.rollouts
        total = [0.0] * len(values)
        for _ in range(count):
            outcome, moves = random_game(self.game, leaf.node.state, self.streams)
            total = [a + b for a, b in zip(total, outcome, strict=True)]
            self.learn(leaf, moves, mix(values, outcome, weight))
        return mix(values, [x / count for x in total], weight)

    def learn(self, leaf: Leaf, rollout: list[tuple[int, int]], result: list[float]) -> None:
        """Updates the AMAF statistics, if used."""
        if self.config.amaf != "off":
            learn_amaf(leaf, rollout, result)

    def count(self, leaf: Leaf, result: list[float]) -> None:
        """Counts a simulation and backs up its result."""
        self.simulations += 1
        back_up(self.game, leaf, result)
        if self.config.proven_values and leaf.node.state.is_over:
            prove(self.game, leaf, result)


def drop_proven(node: Node) -> None:
    """Drops the children of proven edges."""
    for edge in node.edges:
        if edge.proven is not None:
            edge.child = None
        elif edge.child is not None:
            drop_proven(edge.child)
