"""Rates of our search and of OpenSpiel's C++, for benchmarks that measure both in one run."""

import importlib.metadata
import time
from typing import Any

import numpy as np

from plainzero.bench.measure import Rate
from plainzero.games.contract import CHANCE, Game, State
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.scratch import make_scratch
from plainzero.search.resolve_options import make_options, resolve


def open_spiel_name() -> str | None:
    """OpenSpiel with its version, where it is installed."""
    try:
        return f"open_spiel {importlib.metadata.version('open_spiel')}"
    except importlib.metadata.PackageNotFoundError:
        return None


def search_rate(
    game: Game, evaluator: str, simulations: int, games: int = 1, threads: int = 1
) -> Rate:
    """Simulations a second of a search from the beginning, in so many games at once."""
    states = [first_choice(game)] * games
    config = SearchConfig(simulations=simulations)

    def rate() -> float:
        searcher = Searcher(game, evaluator, config, threads=threads)
        start = time.perf_counter()
        searcher.search(states)
        return simulations * games / (time.perf_counter() - start)

    return rate


def first_choice(game: Game) -> State:
    """The beginning, or where chance begins, what comes of its first outcomes."""
    state = game.new_state()
    while state.to_play == CHANCE:
        game.apply(state, game.legal(state)[0])
    return state


def playout_rate(game: Game, count: int) -> Rate:
    """Random playouts a second from the beginning."""
    play_out = _playouts(game)

    def rate() -> float:
        start = time.perf_counter()
        play_out(count)
        return count / (time.perf_counter() - start)

    return rate


def playout_length(game: Game, count: int) -> float:
    """Plies of a random playout, chance's included: the mean of so many."""
    moves: int = _playouts(game)(count)
    return moves / count


def bot_rate(name: str, simulations: int) -> Rate:
    """Simulations a second of OpenSpiel's MCTSBot, one rollout each."""

    def rate() -> float:
        bot, state = _bot(name, rollouts=1, simulations=simulations)
        start = time.perf_counter()
        bot.mcts_search(state)
        return simulations / (time.perf_counter() - start)

    return rate


def bot_playout_rate(name: str, count: int) -> Rate:
    """Its playouts a second: one simulation whose leaf gets `count` rollouts is all playouts."""

    def rate() -> float:
        bot, state = _bot(name, rollouts=count, simulations=1)
        start = time.perf_counter()
        bot.mcts_search(state)
        return count / (time.perf_counter() - start)

    return rate


def bot_playout_length(name: str, count: int) -> float:
    """Plies of its random playouts."""
    import pyspiel

    generator = np.random.default_rng(0)
    plies = 0
    for _ in range(count):
        state = pyspiel.load_game(name).new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(int(generator.choice(outcomes, p=weights)))
            else:
                state.apply_action(int(generator.choice(state.legal_actions())))
            plies += 1
    return plies / count


def _playouts(game: Game) -> Any:
    """A function that plays so many random games, and returns how many moves that took."""
    tag = register(game)
    config = resolve(SearchConfig(), "rollout")
    scratch, options = make_scratch(game, config, 1, seed=0), make_options(config, game)
    states = np.array([game.new_state()] * 2, game.dtype)

    def play_out(count: int) -> int:
        return int(cpu.play_out(tag, states, scratch, options, count))

    return play_out


def _bot(name: str, rollouts: int, simulations: int) -> tuple[Any, Any]:
    import pyspiel

    game = pyspiel.load_game(name)
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 1)
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, simulations, 1000, False, 1, False)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    return bot, state
