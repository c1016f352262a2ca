"""What a position is worth: the evaluator's word, random games, and priors from logits."""

import math
from typing import Any

import numpy as np

from tesuji import CHANCE, Game
from tesuji.search.random import random_below, random_unit

from .selection import choose_outcome
from .tree import Edge, Node


def ask(evaluator: Any, game: Game, node: Node) -> tuple[list[float], list[float]]:
    """The evaluator's logits, one per action, and values, one per player."""
    if isinstance(evaluator, str):
        return [0.0] * game.num_actions, [0.0] * game.num_players
    logits, values = evaluator(game.observation(node.state)[None])
    if np.ndim(values) == 1:
        mover = 0 if game.num_players == 1 else node.mover
        return list(map(float, logits[0])), split(game, mover, float(values[0]))
    return list(map(float, logits[0])), list(map(float, values[0]))


def split(game: Game, mover: int, value: float) -> list[float]:
    """One number for the mover as one for each of one or two players."""
    return [value if player == mover else -value for player in range(game.num_players)]


def make_edges(game: Game, node: Node, logits: list[float], sort: bool) -> list[Edge]:
    """An edge per legal action, or per outcome of chance."""
    if node.mover == CHANCE:
        pairs = game.chances(node.state)
    else:
        actions = game.legal(node.state)
        pairs = list(zip(actions, softmax([logits[a] for a in actions]), strict=True))
    edges = [Edge(a, float(np.float32(p)), float(np.float32(p))) for a, p in pairs]
    return sorted(edges, key=lambda edge: -edge.prior) if sort else edges


def softmax(logits: list[float]) -> list[float]:
    """Probabilities in proportion to exp(logit); equal ones where every logit is −∞."""
    if max(logits) == -math.inf:
        return [1 / len(logits)] * len(logits)
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def random_game(game: Game, state: Any, streams: Any) -> tuple[list[float], list[tuple[int, int]]]:
    """A result per player, and the (player, action) pairs on the way to it."""
    state, moves = game.copy(state), []
    while not state.is_over:
        if state.to_play == CHANCE:
            outcomes = [Edge(action, p, p) for action, p in game.chances(state)]
            action = choose_outcome(outcomes, random_unit(streams, 0)).action
        else:
            legal = game.legal(state)
            action = legal[random_below(streams, 0, len(legal))]
            moves.append((int(state.to_play), action))
        game.play(state, action)
        state.turn += 1
    return returns(state), moves


def returns(state: Any) -> list[float]:
    """What a finished game brought each player."""
    return [float(x) for x in state.returns]


def mix(values: list[float], outcome: list[float], weight: float) -> list[float]:
    """(1 − λ) · values + λ · outcome."""
    return [(1 - weight) * v + weight * z for v, z in zip(values, outcome, strict=True)]
