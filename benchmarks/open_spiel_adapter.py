"""OpenSpiel's rules compared with ours: python benchmarks/open_spiel_adapter.py [--repeats 5]

Runs the same searches with our rules and with OpenSpiel's through the adapter, taking turns; the
best repeat counts, in processor time of one thread. Exits with 1 if any visit counts differ.
"""

import argparse
import sys
import time

from plainzero import SearchConfig, Searcher, make_game

PAIRS = (
    ("tic-tac-toe", "open_spiel:tic_tac_toe"),
    ("connect-four", "open_spiel:connect_four"),
    ("dots-and-boxes", "open_spiel:dots_and_boxes"),
)
SIMULATIONS = 2000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    agree = True
    for pair in PAIRS:
        for evaluator in ("rollout", "uniform"):
            agree &= compare(pair, evaluator, repeats)
    sys.exit(0 if agree else 1)


def compare(pair, evaluator, repeats):
    """Prints one line and returns whether the visits are equal."""
    games = [make_game(name) for name in pair]
    best, visits = [float("inf")] * 2, [None, None]
    for repeat in range(repeats + 1):  # the first compiles
        for side, game in enumerate(games):
            searcher = Searcher(game, evaluator, SearchConfig(simulations=SIMULATIONS), threads=1)
            start = time.process_time()
            result = searcher.search(game.new_state(), seed=7)
            if repeat:
                best[side] = min(best[side], time.process_time() - start)
            visits[side] = result.visits.tolist()
    native, adapter = (SIMULATIONS / seconds for seconds in best)
    is_same = visits[0] == visits[1]
    print(
        f"{pair[0]:15} {evaluator:8} {native:12,.0f}/s {adapter:10,.0f}/s "
        f"ratio {native / adapter:7.1f}  visits {'equal' if is_same else visits}",
        flush=True,
    )
    return is_same


if __name__ == "__main__":
    main()
