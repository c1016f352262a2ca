"""One search, step by step: select, evaluate, expand, back up."""

import dataclasses
import math
from typing import Any

from tesuji import Game, SearchConfig
from tesuji.search import random

from .backup import back_up, learn_amaf, prove
from .evaluation import ask, make_edges, mix, random_game, returns, split
from .result import ReferenceResult, read_result
from .selection import choose_edge, draw_noise
from .tree import Edge, Leaf, Node


def reference_search(
    game: Game,
    state: Any,
    evaluator: Any,
    config: SearchConfig,
    seed: int = 0,
    game_index: int = 0,
    max_nodes: int | None = None,
) -> ReferenceResult:
    """Searches `state` as number `game_index` of a batch; the tree has room for `max_nodes`.

    `evaluator` is "uniform", "rollout" or a function of observations [B, *shape] that returns
    logits [B, A] and values [B] for the mover or [B, players].
    """
    config = resolve(config, evaluator)
    streams = random.make_streams(seed, 1, game_index)
    search = Search(game, evaluator, config, streams, max_nodes or math.inf)
    search.run(state)
    return read_result(game, search.root, config)


def resolve(config: SearchConfig, evaluator: Any) -> SearchConfig:
    """The same options with `auto` replaced by what it stands for."""
    by_rollouts = evaluator == "rollout"
    selection, fpu = config.selection, config.fpu
    if selection == "auto":
        selection = "uct" if by_rollouts else "puct"
    if fpu == "auto" and selection != "gumbel":
        fpu = "infinite" if selection == "uct" else "zero"
    weight = 1.0 if by_rollouts else config.rollout_weight
    return dataclasses.replace(config, selection=selection, fpu=fpu, rollout_weight=weight)


class Search:
    """A tree, and what it takes to grow it."""

    def __init__(self, game: Game, evaluator: Any, config: SearchConfig, streams: Any, room: float):
        self.game, self.evaluator, self.config, self.streams = game, evaluator, config, streams
        self.room, self.num_nodes, self.simulations = room, 1, 0

    def run(self, state: Any) -> None:
        self.root = Node(self.game.copy(state), int(state.to_play), is_root=True)
        self.evaluate(Leaf([], self.root))
        draw_noise(self.root, self.config, self.streams)
        while not self.is_finished(waiting=0):
            for leaf in self.select_round():
                self.count(leaf, self.evaluate(leaf))

    def is_finished(self, waiting: int) -> bool:
        """Whether a budget is used up, `waiting` leaves counted as simulations, or all is known."""
        return (
            0 < self.config.simulations <= self.simulations + waiting
            or 0 < self.config.nodes <= self.num_nodes
            or self.root.proven is not None
        )

    def select_round(self) -> list[Leaf]:
        """Up to `leaves` leaves; a descent to a known result is backed up at once."""
        leaves: list[Leaf] = []
        while len(leaves) < self.config.leaves and not self.is_finished(len(leaves)):
            leaf = self.select(Leaf([], self.root), self.root)
            if leaf.result is not None:
                self.learn(leaf, [], leaf.result)
                self.count(leaf, leaf.result)
            elif leaf.node.is_waiting:  # take the descent back
                for _, edge in leaf.path:
                    edge.pending -= 1
                break
            else:
                leaf.node.is_waiting = True
                leaves.append(leaf)
        return leaves

    def select(self, at: Leaf, amaf_node: Node) -> Leaf:
        """Goes on down from where it is."""
        node = at.node
        if self.config.amaf == "rave" or node.visits >= self.config.grave_visits:
            amaf_node = node
        edge = choose_edge(node, amaf_node, self.config, self.streams)
        edge.pending += 1
        path = [*at.path, (node, edge)]
        if edge.proven is not None:
            return Leaf(path, node, split(self.game, node.mover, edge.proven))
        if edge.child is None:
            return Leaf(path, self.play(node, edge))
        if edge.child.state.is_over:
            return Leaf(path, edge.child, returns(edge.child.state))
        if edge.child.is_waiting:
            return Leaf(path, edge.child)
        return self.select(Leaf(path, edge.child), amaf_node)

    def play(self, node: Node, edge: Edge) -> Node:
        """The position after the edge's move; the tree keeps it while there is room."""
        state = self.game.copy(node.state)
        self.game.play(state, edge.action)
        state.turn += 1
        child = Node(state, int(state.to_play))
        if self.num_nodes < self.room:
            edge.child = child
            self.num_nodes += 1
        return child

    def evaluate(self, leaf: Leaf) -> list[float]:
        """The leaf's result; an unfinished leaf gets its edges."""
        node = leaf.node
        node.is_waiting = False
        if node.state.is_over:
            result = returns(node.state)
            self.learn(leaf, [], result)
            return result
        logits, result = ask(self.evaluator, self.game, node)
        node.edges = make_edges(self.game, node, logits, sort=self.config.widening > 0)
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
        """AMAF statistics from a simulation; the root's own evaluation is none."""
        if self.config.amaf != "off" and leaf.path:
            learn_amaf(leaf, rollout, result)

    def count(self, leaf: Leaf, result: list[float]) -> None:
        """One more simulation."""
        self.simulations += 1
        back_up(leaf, result)
        if self.config.proven_values and leaf.node.state.is_over:
            prove(self.game, leaf, result)
