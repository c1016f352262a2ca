"""Run by the tests of the disk cache in a separate process: plays games, reports on the last."""

import json
import sys

import numpy as np

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games import make_game, rules


@Kernel
def play_out(states, legal):
    """The total that a game of first legal moves ends with."""
    while not states[0].is_over:
        rules.legal_actions(states[0], legal)
        rules.play(states[0], legal[0])
    return states[0].total


def main() -> None:
    for name in sys.argv[1:]:
        report = play(name)
    print(json.dumps(report))


def play(name: str) -> dict[str, int]:
    game = make_game(name)
    tag = rules.register(game)
    states, legal = np.zeros(1, game.dtype), np.zeros(game.num_actions, np.int32)
    states[0] = game.new_state()
    report = {"total": int(play_out(tag, states, legal)), "turns": int(states[0].turn)}
    stats = play_out.compiled(tag).stats
    report["hits"] = sum(stats.cache_hits.values())
    report["misses"] = sum(stats.cache_misses.values())
    return report


if __name__ == "__main__":
    main()
