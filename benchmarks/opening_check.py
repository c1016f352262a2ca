"""Checks the opening book with the solver: python benchmarks/opening_check.py COUNT SEED

Checks COUNT random positions of the book's last ply; all earlier plies follow from it.
"""

import sys
import time

import numpy as np

from plainzero.opponents.connect_four.opening_book import BOOK_GAME, BOOK_PLIES, load_opening_book
from plainzero.opponents.connect_four.solver import ConnectFourSolver

TABLE_BYTES = 1 << 30


def main(count, seed):
    book, solver = load_opening_book(), ConnectFourSolver(BOOK_GAME, TABLE_BYTES)
    openings, outcomes = book.openings[BOOK_PLIES], book.outcomes[BOOK_PLIES]
    generator = np.random.default_rng(seed)
    # Neighbours in the book have much in common, so the solver's table helps.
    rows = np.sort(generator.choice(len(outcomes), count, replace=False))
    start, wrong = time.perf_counter(), 0
    for number, row in enumerate(rows, 1):
        state = BOOK_GAME.new_state()
        state.turn, state.to_play = BOOK_PLIES, BOOK_PLIES % 2
        state.stones[state.to_play] = openings.own[row]
        state.stones[1 - state.to_play] = openings.own[row] ^ openings.occupied[row]
        wrong += solver.outcomes([state]).max() != outcomes[row]
        if number % 10 == 0 or number == count:
            seconds = time.perf_counter() - start
            print(f"{number:,} positions, {wrong} wrong, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]))
