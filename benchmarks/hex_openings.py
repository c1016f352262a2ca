"""The winner of each opening of Hex, by searches with proven values.

    python benchmarks/hex_openings.py SIZE [--table FILE] [--simulations N] [--gigabytes G]
                                      [--templates N] [--seed N]
    python benchmarks/hex_openings.py SIZE --run RUN …

FILE has lines like `a1,white`: a first move, and the winner with perfect play after it. Without a
file, boards up to 4x4 are compared with alpha-beta. Of two openings that are equal under rotation
by 180°, one is searched. Leaves are evaluated by random playouts, or by the network of a trained
RUN.
"""

import argparse
import dataclasses
import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from plainzero import SearchConfig, Searcher, make_game
from plainzero.opponents.alpha_beta import AlphaBeta

COLOURS = ("black", "white")
LARGEST_SOLVED = 4  # boards that alpha-beta solves within seconds
# Almost no exploration: move statistics of all playouts (GRAVE) show where to search first.
BY_PLAYOUTS = {
    "selection": "puct",
    "c_puct": 0.02,
    "c_puct_base": 0.0,
    "fpu": "zero",
    "amaf": "grave",
}


def main():
    asked = ask()
    game = make_game(f"hex(size={asked.size})")
    expected = read_table(asked.table) if asked.table else solve(game)
    searcher = make_searcher(game, asked)
    tiny = dataclasses.replace(searcher.config, simulations=1)
    Searcher(game, searcher.evaluator, tiny).search([game.new_state()])  # compiles
    print(row("opening", "expected", "found", "value", "simulations", "seconds"), flush=True)
    right = proven = openings = 0
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for action in progress.track(range((game.num_cells + 1) // 2), description="openings"):
            names = [game.action_name(a) for a in sorted({action, game.num_cells - 1 - action})]
            start = time.perf_counter()
            result = search_opening(searcher, action, asked.seed)
            seconds = f"{time.perf_counter() - start:.1f}"
            # White is to move, so the value is white's.
            found, wanted = COLOURS[int(result.value > 0)], expected.get(names[0], "?")
            value = "proven" if result.proven else f"{-result.value:+.3f}"
            wrong = "" if wanted in (found, "?") else "  wrong"
            simulations = f"{result.simulations:,}"
            line = row(" ".join(names), wanted, found, value, simulations, seconds)
            print(line + wrong, flush=True)
            openings += len(names)
            right += len(names) * (wanted == found)
            proven += len(names) * result.proven
    print(f"{openings} openings: {right} as expected, {proven} proven")


def row(opening, expected, found, *numbers):
    return f"{opening:8} {expected:8} {found:6}" + "".join(f"{number:>12}" for number in numbers)


def ask():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("size", type=int)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--simulations", type=int, default=20_000_000, help="maximum per opening")
    parser.add_argument("--gigabytes", type=float, default=8.0, help="memory for the tree")
    parser.add_argument("--templates", type=int, default=65536, help="stored templates; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", type=Path, help="run whose network evaluates leaves")
    return parser.parse_args()


def read_table(path):
    """The winners by the name of the opening."""
    rows = [line.split(",") for line in path.read_text().split()]
    return {name: winner for name, winner in rows if winner in COLOURS}


def solve(game):
    """The winners according to alpha-beta; empty if the board is too large for it."""
    if game.size > LARGEST_SOLVED:
        return {}
    values = AlphaBeta(game, depth=game.max_turns).solve(game.new_state()).values
    return {game.action_name(action): COLOURS[int(v < 0)] for action, v in enumerate(values)}


def make_searcher(game, asked):
    """A searcher for openings; black has moved, so white is to move at the root."""
    if asked.run:
        from plainzero.training.saved_run import open_run

        run = open_run(asked.run)
        config = dataclasses.replace(run.search_config(asked.simulations), leaves=16)
        evaluator = run.evaluator()
    else:
        config, evaluator = SearchConfig(simulations=asked.simulations, **BY_PLAYOUTS), "rollout"
    most = int(asked.gigabytes * 2**30)
    proofs = {"proven_values": True, "templates": asked.templates, "max_bytes": most}
    config = dataclasses.replace(config, **proofs)
    return Searcher(game, evaluator, config)


def search_opening(searcher, action, seed):
    state = searcher.game.new_state()
    searcher.game.apply(state, action)
    return searcher.search([state], seed=seed)[0]


if __name__ == "__main__":
    main()
