"""What `tesuji bench search` measures."""

import importlib.metadata
import time
from typing import Any

import numpy as np

from tesuji.cli.measuring import Rate, Work
from tesuji.games.contract import Game
from tesuji.games.registry import make_game
from tesuji.games.rules import register
from tesuji.search import cpu
from tesuji.search.api import Searcher, search
from tesuji.search.config import SearchConfig
from tesuji.search.options import make_options, resolve
from tesuji.search.scratch import make_scratch

_LARGE = 100_000


def search_works() -> list[Work]:
    """The rows of the table, in order."""
    four, three = make_game("connect-four"), make_game("tic-tac-toe")
    peer = _open_spiel_name()
    bot = _bot_rate("connect_four", simulations=20_000) if peer else None
    return [
        Work(
            "Connect Four, UCT + rollout, 20,000 simulations",
            "simulations/s",
            _search_rate(four, "rollout", 20_000),
            peer,
            bot,
        ),
        Work(
            "Connect Four, PUCT, constant, 64 × 800",
            "simulations/s",
            _search_rate(four, "uniform", 800, games=64),
            peer,
            bot,
        ),
        Work(
            "Connect Four, random playouts",
            "playouts/s",
            _playout_rate(four, 100_000),
            peer,
            _bot_playout_rate("connect_four", 10_000) if peer else None,
        ),
        Work(
            "tic-tac-toe, random playouts",
            "playouts/s",
            _playout_rate(three, 200_000),
            peer,
            _bot_playout_rate("tic_tac_toe", 100_000) if peer else None,
        ),
        Work(
            "Connect Four, UCT + rollout, 512 × 800, two threads",
            "simulations/s",
            _search_rate(four, "rollout", 800, games=512, threads=2),
            "tesuji, one thread",
            _search_rate(four, "rollout", 800, games=512),
        ),
        Work(
            "Connect Four, PUCT, 512 × 800, two threads",
            "simulations/s",
            _search_rate(four, "uniform", 800, games=512, threads=2),
            "tesuji, one thread",
            _search_rate(four, "uniform", 800, games=512),
        ),
        *_memory_works(four),
    ]


def _search_rate(
    game: Game, evaluator: str, simulations: int, games: int = 1, threads: int = 1
) -> Rate:
    states = [game.new_state()] * games
    config = SearchConfig(simulations=simulations)

    def rate() -> float:
        searcher = Searcher(game, evaluator, config, threads=threads)
        start = time.perf_counter()
        searcher.search(states)
        return simulations * games / (time.perf_counter() - start)

    return rate


def _playout_rate(game: Game, count: int) -> Rate:
    tag = register(game)
    config = resolve(SearchConfig(), "rollout")
    scratch, options = make_scratch(game, config, 1, seed=0), make_options(config, game, 1)
    states = np.array([game.new_state()] * 2, game.dtype)

    def rate() -> float:
        start = time.perf_counter()
        cpu.play_out(tag, states, scratch, options, count)
        return count / (time.perf_counter() - start)

    return rate


def _memory_works(game: Game) -> list[Work]:
    def tree_bytes() -> float:
        config = SearchConfig(simulations=_LARGE)
        return float(search(game, game.new_state(), "uniform", config).tree.used_bytes)

    return [
        Work(
            "Connect Four, a node with its edges",
            "bytes",
            lambda: tree_bytes() / _LARGE,
            is_rate=False,
        ),
        Work(f"Connect Four, tree of {_LARGE:,}", "bytes", tree_bytes, is_rate=False),
    ]


def _open_spiel_name() -> str | None:
    try:
        return f"open_spiel {importlib.metadata.version('open_spiel')}"
    except importlib.metadata.PackageNotFoundError:
        return None


def _bot(name: str, rollouts: int, simulations: int) -> tuple[Any, Any]:
    import pyspiel

    game = pyspiel.load_game(name)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, simulations, 1000, False, 1, False)
    return bot, game.new_initial_state()


def _bot_rate(name: str, simulations: int) -> Rate:
    def rate() -> float:
        bot, state = _bot(name, rollouts=1, simulations=simulations)
        start = time.perf_counter()
        bot.mcts_search(state)
        return simulations / (time.perf_counter() - start)

    return rate


def _bot_playout_rate(name: str, count: int) -> Rate:
    """A single simulation whose leaf gets `count` rollouts is all playouts."""

    def rate() -> float:
        bot, state = _bot(name, rollouts=count, simulations=1)
        start = time.perf_counter()
        bot.mcts_search(state)
        return count / (time.perf_counter() - start)

    return rate
