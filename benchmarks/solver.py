"""The exact Connect Four solver on files of scored positions: python benchmarks/solver.py FILE…

A file has lines of the form `MOVES SCORE`, as in Pascal Pons' test sets. Runs on one thread; the
time of compiling is not included.
"""

import sys
import time
from pathlib import Path

from plainzero import make_game
from plainzero.opponents.connect_four.solver import ConnectFourSolver

GAME = make_game("connect-four")


def position(moves):
    state = GAME.new_state()
    for column in moves:
        GAME.apply(state, int(column) - 1)
    return state


def main(files):
    if not files:
        sys.exit(__doc__)
    ConnectFourSolver(GAME).solve(position("44444422222266666631153"))  # compiles
    for file in map(Path, files):
        lines = [line.split() for line in file.read_text().splitlines()]
        states = [position(moves) for moves, _ in lines]
        solver = ConnectFourSolver(GAME)
        start = time.perf_counter()
        wrong = sum(
            solver.solve(state) != int(score)
            for state, (_, score) in zip(states, lines, strict=True)
        )
        seconds = time.perf_counter() - start
        print(f"{file.name}: {len(lines):,} positions, {wrong} wrong, {seconds:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
