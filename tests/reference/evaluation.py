"""The evaluation of a position: the evaluator, random games, and priors from logits."""

import math
from typing import Any

import numpy as np

from plainzero import CHANCE, Game
from plainzero.games.contract import trial_rule
from plainzero.search.kernels.random_streams import random_below, random_unit

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
    by_seat = [0.0] * game.num_players
    for distance, value in enumerate(values[0]):
        by_seat[(node.mover + distance) % game.num_players] = float(value)
    return list(map(float, logits[0])), by_seat


def split(game: Game, mover: int, value: float) -> list[float]:
    """The mover's value as a value for each of one or two players."""
    return [value if player == mover else -value for player in range(game.num_players)]


def make_edges(game: Game, state: Any) -> list[Edge]:
    """An edge per legal action, or per outcome of chance with its probability as prior."""
    if state.is_over:
        return []
    if state.to_play != CHANCE:
        return [Edge(action) for action in game.legal(state)]
    return [Edge(action, *[float(np.float32(p))] * 2) for action, p in game.chances(state)]


def set_priors(node: Node, logits: list[float]) -> None:
    """Priors by a softmax over the legal moves, rounded to float32."""
    priors = softmax([logits[edge.action] for edge in node.edges])
    for edge, prior in zip(node.edges, priors, strict=True):
        edge.own_prior = edge.prior = float(np.float32(prior))


def softmax(logits: list[float]) -> list[float]:
    """Probabilities proportional to exp(logit); equal ones if every logit is −∞."""
    if not logits or max(logits) == -math.inf:
        return [1 / len(logits) for _ in logits]
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def random_game(game: Game, state: Any, streams: Any) -> tuple[list[float], list[tuple[int, int]]]:
    """The result per player, and the (player, action) pairs that led to it."""
    state, moves = game.copy(state), []
    while not state.is_over:
        play_chance(game, state, streams)
        if not state.is_over:
            action = draw_action(game, state, streams)
            moves.append((int(state.to_play), action))
            play_move(game, state, action)
    return returns(state), moves


def draw_action(game: Game, state: Any, streams: Any) -> int:
    """A playout action: the first of 16 drawn from all that is one, else one of their list."""
    rule = trial_rule(game)
    for _ in range(16 if rule else 0):
        action = random_below(streams, 0, game.num_actions)
        if getattr(game, rule)(state, action):
            return action
    actions = np.zeros(game.num_actions, np.int32)
    count = game.playout_actions(state, actions)
    return int(actions[random_below(streams, 0, count)])


def play_chance(game: Game, state: Any, streams: Any) -> None:
    """Draws and plays chance outcomes until a player is to move."""
    while state.to_play == CHANCE and not state.is_over:
        outcomes = [Edge(action, p, p) for action, p in game.chances(state)]
        play_move(game, state, choose_outcome(outcomes, random_unit(streams, 0)).action)


def play_move(game: Game, state: Any, action: int) -> None:
    """Plays a move that is known to be legal."""
    game.play(state, action)
    state.turn += 1


def returns(state: Any) -> list[float]:
    """The result of a finished game for each player."""
    return [float(x) for x in state.returns]


def mix(values: list[float], outcome: list[float], weight: float) -> list[float]:
    """(1 − λ) · values + λ · outcome."""
    return [(1 - weight) * v + weight * z for v, z in zip(values, outcome, strict=True)]
