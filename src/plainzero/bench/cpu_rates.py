"""Rates of PlainZero's search and of OpenSpiel's C++ on a CPU."""

import importlib.metadata
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from plainzero.bench.measure import Rate
from plainzero.games.contract import CHANCE, Game, State
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig
from plainzero.search.resolve_options import make_options, resolve
from plainzero.search.scratch_memory import make_scratch


def open_spiel_name() -> str | None:
    """OpenSpiel's name and version; None if it is not installed."""
    try:
        return f"open_spiel {importlib.metadata.version('open_spiel')}"
    except importlib.metadata.PackageNotFoundError:
        return None


def search_rate(
    game: Game, evaluator: str, simulations: int, games: int = 1, threads: int = 1
) -> Rate:
    """Simulations per second of a search from the starting position, in `games` parallel games."""
    states = [first_decision(game)] * games
    config = SearchConfig(simulations=simulations)

    def rate() -> float:
        searcher = Searcher(game, evaluator, config, threads=threads)
        start = time.perf_counter()
        searcher.search(states)
        return simulations * games / (time.perf_counter() - start)

    return rate


def first_decision(game: Game) -> State:
    """The starting position; if chance moves first, the position after its first outcomes."""
    state = game.new_state()
    while state.to_play == CHANCE:
        game.apply(state, game.legal(state)[0])
    return state


def playout_rate(game: Game, count: int) -> Rate:
    """Random playouts per second from the starting position."""
    play_out = _playouts(game)

    def rate() -> float:
        start = time.perf_counter()
        play_out(count)
        return count / (time.perf_counter() - start)

    return rate


def playout_length(game: Game, count: int) -> float:
    """The mean number of plies of `count` random playouts, chance included."""
    return _playouts(game)(count) / count


def bot_rate(name: str, simulations: int) -> Rate:
    """Simulations per second of OpenSpiel's MCTSBot, one rollout each."""

    def rate() -> float:
        bot, state = _bot(name, rollouts=1, simulations=simulations)
        start = time.perf_counter()
        bot.mcts_search(state)
        return simulations / (time.perf_counter() - start)

    return rate


def bot_playout_rate(name: str, count: int) -> Rate:
    """Playouts per second of OpenSpiel's MCTSBot, by one simulation with `count` rollouts."""

    def rate() -> float:
        bot, state = _bot(name, rollouts=count, simulations=1)
        start = time.perf_counter()
        bot.mcts_search(state)
        return count / (time.perf_counter() - start)

    return rate


def bot_playout_length(name: str, count: int) -> float:
    """The mean number of plies of `count` random playouts with OpenSpiel's rules."""
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


def _playouts(game: Game) -> Callable[[int], int]:
    """A function that plays the given number of random games and returns the number of plies."""
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
