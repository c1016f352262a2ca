"""Random playouts of Go compared with OpenSpiel's C++: python benchmarks/go_playouts.py [SIZE]

Three kinds take turns; the best of many short readings in processor time counts:

- ours with all legal moves and the pass equally likely, as OpenSpiel plays;
- ours as the search plays them, without filling the player's own eyes;
- OpenSpiel's, by its `RandomRolloutEvaluator` in a single simulation of its MCTSBot.

The games differ slightly: OpenSpiel ends a game as a draw if a position is repeated or after
2 * SIZE**2 plies; ours exclude the repeating move and last until the second pass. Plies per second
are therefore compared too. The length of OpenSpiel's games is measured in games played in Python.
"""

import random
import sys
import time

import numpy as np
import pyspiel

from plainzero.bench.games import with_uniform_playouts
from plainzero.games.bundled.go.rules import Go
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.config import SearchConfig
from plainzero.search.resolve_options import make_options, resolve
from plainzero.search.scratch_memory import make_scratch

READINGS = 25
SAMPLE = 200  # OpenSpiel games, to measure their length


def our_playouts(game, count):
    """A function that plays `count` playouts and returns the number of plies."""
    tag, config = register(game), resolve(SearchConfig(), "rollout")
    scratch, options = make_scratch(game, config, 1, seed=0), make_options(config, game)
    states = np.array([game.new_state()] * 2, game.dtype)
    return lambda: cpu.play_out(tag, states, scratch, options, count)


def their_playouts(size, count):
    game = pyspiel.load_game(f"go(board_size={size},komi=7.5)")
    plies = count * mean_length(game)

    def play():
        evaluator = pyspiel.RandomRolloutEvaluator(count, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 1.4, 1, 1000, False, 1, False)
        bot.mcts_search(game.new_initial_state())
        return plies

    return play


def mean_length(game):
    choose, plies = random.Random(1).choice, 0
    for _ in range(SAMPLE):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(choose(state.legal_actions()))
        plies += state.move_number()
    return plies / SAMPLE


def main(size=9):
    count = max(20, 1000 * 81**2 // size**4)
    kinds = {
        "ours, all legal moves": our_playouts(with_uniform_playouts(Go(size=size)), count),
        "ours, eyes kept": our_playouts(Go(size=size), count),
        "open_spiel": their_playouts(size, count),
    }
    best = {}
    for _ in range(READINGS + 1):  # the first compiles
        for name, play in kinds.items():
            start = time.process_time()
            plies = play()
            seconds = time.process_time() - start
            if seconds < best.get(name, (float("inf"), 0))[0]:
                best[name] = (seconds, plies)
    theirs, their_plies = best[list(kinds)[-1]]
    print(f"go on {size}x{size}, {Go(size=size).dtype.itemsize} bytes per state")
    print(f"{'':24}{'playouts/s':>12}{'plies/s':>12}{'plies each':>12}{'ratio':>8}{'of plies':>10}")
    for name, (seconds, plies) in best.items():
        ratios = f"{theirs / seconds:8.2f}{plies / seconds / (their_plies / theirs):10.2f}"
        rates = f"{count / seconds:12,.0f}{plies / seconds:12,.0f}{plies / count:12.1f}"
        print(f"{name:24}{rates}{ratios}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
