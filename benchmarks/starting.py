"""Seconds until the first search of each bundled game ends, cold and with a disk cache.

    python benchmarks/starting.py [GAME …]

Each measurement is a new process and includes imports and a search of ten simulations.
"""

import os
import subprocess
import sys
import tempfile
import time

from plainzero.games import bundled_games

PROGRAM = """
from plainzero import CHANCE, SearchConfig, make_game, search
game = make_game({name!r})
state = game.new_state()
while state.to_play == CHANCE:
    game.apply(state, game.legal(state)[0])
search(game, state, "rollout", SearchConfig(simulations=10))
"""


def seconds(name: str, cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", PROGRAM.format(name=name)], env=environment, check=True)
    return time.perf_counter() - start


def main() -> None:
    print(f"{'game':<16}{'cold':>8}{'cached':>8}  seconds")
    for name in sys.argv[1:] or bundled_games():
        with tempfile.TemporaryDirectory() as cache:
            cold = seconds(name, cache)
            cached = min(seconds(name, cache) for _ in range(3))
        print(f"{name:<16}{cold:>8.1f}{cached:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
