"""UCT and alpha-beta on every game of two or more players: python benchmarks/baselines.py [GAME …]

Both know only the rules. Each plays against random moves, and they play each other, each opening
from all seats. Prints rows of a Markdown table: scores in percent with 95 % intervals. Alpha-beta's
depth is chosen to take about as long as UCT's simulations.
"""

import argparse

from rich.console import Console

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match
from plainzero.cli.terminal.match_arguments import waiting
from plainzero.games import bundled_games

DEPTHS = {
    "tic-tac-toe": 9,
    "connect-four": 8,
    "dots-and-boxes": 8,
    "trio": 5,
    "pig": 6,
    "ultimate-tic-tac-toe": 5,
    "breakthrough": 4,
    "gomoku": 2,
    "gomoku-42": 1,
    "othello": 5,
    "hex": 2,
    "go": 3,
    "orbit": 6,
    "sensor-jammer": 6,
}


def main():
    options = parse_options()
    console = Console(stderr=True)
    for name in options.names or DEPTHS:
        game = make_game(name)
        uct, depth = f"uct:{options.simulations}", DEPTHS[game.title()]
        pairs = [(uct, "random"), (f"alphabeta:{depth}", "random"), (uct, f"alphabeta:{depth}")]
        cells = [play(game, pair, options.games) for pair in pairs]
        print(f"| {game.name} | {depth} | {' | '.join(cells)} |", flush=True)
        console.print(f"{game.name} done")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="games (default: all)")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--games", type=int, default=40)
    options = parser.parse_args()
    for name in options.names:
        if make_game(name).title() not in DEPTHS:
            parser.error(f"no depth is set for {name}; games with a depth: {', '.join(DEPTHS)}")
    missing = [name for name in bundled_games() if name not in DEPTHS and name != "2048"]
    assert not missing, missing
    return options


def play(game, pair, games):
    agents = tuple(parse_agent(spec, game) for spec in pair)
    with waiting(" – ".join(pair)) as bar:
        result = play_match(
            game, agents, MatchSettings(games), lambda done, all_: bar.update("games", done, all_)
        )
    found = result.estimate
    ends = found.score_interval
    interval = f" ({100 * ends[0]:.0f}–{100 * ends[1]:.0f})" if ends else ""
    return f"{100 * found.score:.0f}{interval}"


if __name__ == "__main__":
    main()
