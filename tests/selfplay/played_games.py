"""Self-play with evaluators whose answers are known, and games played again by the plain rules."""

import zlib

import numpy as np

from plainzero import SearchConfig, make_game
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.worker import Worker

TIC_TAC_TOE = make_game("tic-tac-toe")
DOTS_AND_BOXES = make_game("dots-and-boxes")
TRIO = make_game("trio")
TWENTY_FORTY_EIGHT = make_game("2048(size=2,target=32)")
GAMES = {game.name: game for game in (TIC_TAC_TOE, DOTS_AND_BOXES, TRIO, TWENTY_FORTY_EIGHT)}

QUIET = SelfPlayConfig(
    games=8,
    opening_share=0.0,
    opening_plies=0,
    staggered=False,
    reuse_tree=False,
    end_proven=False,
)
"""Nothing that is drawn but the moves."""


class DrawnEvaluator:
    """Logits and values that depend on the position alone, not on what is evaluated beside it."""

    def __init__(self, game):
        self.game, size = game, int(np.prod(game.observation_shape))
        generator = np.random.default_rng(zlib.crc32(game.name.encode()))
        columns = game.num_players if game.num_players > 2 else 1
        self._weights = generator.normal(0, 1, (game.num_actions + columns, size))

    def __call__(self, planes):
        flat = planes.reshape(len(planes), -1)
        numbers = np.stack([(self._weights * row).sum(1) for row in flat])
        logits, values = numbers[:, : self.game.num_actions], numbers[:, self.game.num_actions :]
        values = np.tanh(values / 4).astype(np.float32)
        return logits.astype(np.float32), values if values.shape[1] > 1 else values[:, 0]


def search_of(simulations=12, **options):
    return SearchConfig(simulations=simulations, **options)


def make_worker(game, search=None, config=QUIET, seed=0, evaluator=None, number=0):
    evaluator = evaluator or DrawnEvaluator(game)
    return Worker(game, evaluator, search or search_of(), config, seed, number)


def play_games(worker, count):
    """The first `count` records, or a few more."""
    records = []
    while len(records) < count:
        records += worker.play_round()
    return records


def positions_of(game, record):
    """The position before each move, by the plain rules, and the last one at the end."""
    state, positions = game.new_state(), []
    for move in record.moves:
        positions.append(game.copy(state))
        game.apply(state, int(move))
    return [*positions, state]


def as_key(record):
    """A record as something to compare."""
    return tuple(f.tobytes() if isinstance(f, np.ndarray) else f for f in record)
