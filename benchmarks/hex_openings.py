"""Who wins each opening of Hex, by searches with proven values.

    python benchmarks/hex_openings.py SIZE [--table FILE] [--simulations N] [--gigabytes G]

FILE has lines `a1,white`, the winner with perfect play after that first move. Without one, boards
up to 4x4 are compared with alpha-beta. Of two openings that half a turn makes the same, one is
searched.
"""

import argparse
import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tesuji import SearchConfig, make_game, search
from tesuji.opponents.alpha_beta import AlphaBeta

COLOURS = ("black", "white")
LARGEST_SOLVED = 4  # boards that alpha-beta solves within seconds
# Nearly no exploration: what was played elsewhere in the rollouts says where to look first.
OPTIONS = {
    "selection": "puct",
    "c_puct": 0.1,
    "c_puct_base": 0.0,
    "fpu": "zero",
    "amaf": "grave",
    "proven_values": True,
}


def main():
    asked = ask()
    game = make_game(f"hex(size={asked.size})")
    expected = read_table(asked.table) if asked.table else solve(game)
    config = SearchConfig(
        simulations=asked.simulations, max_bytes=int(asked.gigabytes * 2**30), **OPTIONS
    )
    search(game, game.new_state(), "rollout", SearchConfig(simulations=1, **OPTIONS))  # compiles
    print(
        f"{'opening':8} {'expected':8} {'found':8} {'value':>7} {'simulations':>12} {'seconds':>8}"
    )
    right = proven = openings = 0
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for action in progress.track(range((game.num_cells + 1) // 2), description="openings"):
            mirrored = game.num_cells - 1 - action
            names = [game.action_name(same) for same in sorted({action, mirrored})]
            result, seconds = search_opening(game, action, config)
            # The second player is to move, so its value is black's with the sign turned.
            found = COLOURS[int(result.value > 0)]
            wanted = expected.get(names[0], "?")
            value = "proven" if result.proven else f"{-result.value:+.3f}"
            print(
                f"{' '.join(names):8} {wanted:8} {found:8} {value:>7} {result.simulations:>12,} "
                f"{seconds:>8.1f}{'' if wanted in (found, '?') else '  WRONG'}",
                flush=True,
            )
            openings += len(names)
            right += len(names) * (wanted == found)
            proven += len(names) * result.proven
    print(f"{openings} openings: {right} as expected, {proven} proven")


def ask():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("size", type=int)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--simulations", type=int, default=1_000_000)
    parser.add_argument("--gigabytes", type=float, default=4.0, help="for the tree")
    return parser.parse_args()


def read_table(path):
    """The winner by the name of the opening."""
    rows = [line.split(",") for line in path.read_text().split()]
    return {name: winner for name, winner in rows if winner in COLOURS}


def solve(game):
    """The same by alpha-beta; nothing for boards that are too large for it."""
    if game.size > LARGEST_SOLVED:
        return {}
    values = AlphaBeta(game, depth=game.max_turns).solve(game.new_state()).values
    return {game.action_name(action): COLOURS[int(v < 0)] for action, v in enumerate(values)}


def search_opening(game, action, config):
    state = game.new_state()
    game.apply(state, action)
    start = time.perf_counter()
    result = search(game, state, "rollout", config, seed=action)
    return result, time.perf_counter() - start


if __name__ == "__main__":
    main()
