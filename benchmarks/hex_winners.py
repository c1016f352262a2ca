"""Positions of Hex with proven winners: python benchmarks/hex_winners.py SIZE --out FILE

For each ply from --first to --last, random positions, half of them won and half lost for the
player to move, as far as they are found. Winners come from searches with proven values, as in
hex_openings.py, which proves the openings themselves; positions that --simulations do not prove are
left out. No two positions are equal under rotation by 180°. The file has the header
`moves,outcome`; src/plainzero/opponents/data holds one.
"""

import argparse
import collections
import dataclasses
from pathlib import Path

import numpy as np
from hex_openings import BY_PLAYOUTS

from plainzero import SearchConfig, Searcher, make_game
from plainzero.arena.openings import position_key
from plainzero.atomic_files import write_whole

LETTERS = {-1: "L", 1: "W"}


def main():
    asked = ask()
    game = make_game(f"hex(size={asked.size})")
    config = SearchConfig(simulations=asked.simulations, **BY_PLAYOUTS)
    config = dataclasses.replace(config, proven_values=True, templates=65536, max_bytes=3 << 30)
    searcher = Searcher(game, "rollout", config)
    lines = ["moves,outcome"]
    for ply in range(asked.last, asked.first - 1, -1):
        found = find(searcher, ply, asked)
        lines[1:1] = found
        write_whole(asked.out, ("\n".join(lines) + "\n").encode())
        won = sum(line.endswith("W") for line in found)
        print(f"ply {ply}: {len(found)} positions, {won} won", flush=True)


def ask():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("size", type=int)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first", type=int, default=3)
    parser.add_argument("--last", type=int, default=12)
    parser.add_argument("--count", type=int, default=24, help="positions per ply")
    parser.add_argument("--tries", type=int, default=60, help="searches per ply")
    parser.add_argument("--simulations", type=int, default=600_000, help="maximum per search")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def find(searcher, ply, asked):
    """The lines of one ply."""
    game, generator = searcher.game, np.random.default_rng((asked.seed, ply))
    seen, found, tries = set(), collections.Counter(), 0
    lines = []
    for _ in range(50 * asked.tries):
        if tries == asked.tries or len(lines) == asked.count:
            break
        state, names = game.new_state(), []
        while len(names) < ply and not state.is_over:
            action = int(generator.choice(game.legal(state)))
            names.append(game.action_name(action))
            game.apply(state, action)
        key = position_key(game, state)
        if state.is_over or key in seen:
            continue
        seen.add(key)
        tries += 1
        result = searcher.search([state], seed=asked.seed)[0]
        outcome = int(np.sign(result.value))
        if result.proven and found[outcome] < asked.count // 2:
            found[outcome] += 1
            lines.append(f"{' '.join(names)},{LETTERS[outcome]}")
    return lines


if __name__ == "__main__":
    main()
