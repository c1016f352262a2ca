"""Searches of several games, kept as traces; and an evaluator with constant output."""

import dataclasses
import functools

import numpy as np

from plainzero import CHANCE, SearchConfig, make_game, search
from plainzero.server.api.schemas.games import Position
from plainzero.server.api.schemas.traces import TreeRequest
from plainzero.server.traces.trace import Trace

SEED = 5
TILES = "2048(size=2,target=32)"  # chance, in the size that other tests of the search compile too


@functools.cache
def fixed_evaluator(name):
    """Logits and values by fixed weights of the observation, none of them round."""
    game = make_game(name)
    draw = np.random.default_rng(11)
    size = int(np.prod(game.observation_shape))
    columns = game.num_players if game.num_players > 2 else 1
    to_logits = draw.normal(size=(size, game.num_actions)) / 2
    to_values = draw.normal(size=(size, columns)) / 3

    def evaluate(planes):
        seen = planes.reshape(len(planes), -1).astype(float)
        values = np.tanh(seen @ to_values + 0.1)
        return seen @ to_logits, values if columns > 1 else values[:, 0]

    return evaluate


def start(name, *moves):
    """The state after chance's first moves and these, and the same as a message."""
    game = make_game(name)
    state, played = game.new_state(), []
    for move in (*moves, None):
        while state.to_play == CHANCE:
            played.append(game.legal(state)[1])
            game.apply(state, played[-1])
        if move is not None:
            played.append(move)
            game.apply(state, move)
    return state, Position(game=name, moves=played)


def run(name, evaluator, simulations, *moves, **options):
    """The result of a traced search."""
    state, _ = start(name, *moves)
    config = SearchConfig(simulations=simulations, trace=True, **options)
    by = fixed_evaluator(name) if evaluator == "fixed" else evaluator
    return search(make_game(name), state, by, config, SEED, threads=1)


def trace_of(result, *moves):
    """The trace, with the position that `run` began from."""
    return Trace(result, start(result.game.name, *moves)[1])


def look(simulation, **options):
    return TreeRequest(
        **{"type": "get-tree", "id": "a", "simulation": simulation, "max_nodes": 5000} | options
    )


def with_simulations(config, simulations):
    return dataclasses.replace(config, simulations=simulations)
