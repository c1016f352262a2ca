"""Perfect play of sensor against jammer: python benchmarks/sensor_jammer.py [--json]

The game has few positions. All of them are solved, from the last round back to the first, so the
numbers are exact. Prints how often the attacker wins:
  start    by starting place, in sectors from the beam
  without  if one side may not use some actions
  always   if one side always plays the same action (or a random legal one if that is illegal), or
           plays at random, and the other side plays perfectly
"""

import argparse
import json

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from plainzero import make_game
from plainzero.games.bundled import sensor_jammer as sj
from plainzero.opponents.sensor_jammer_values import BEST, RANDOM, solve_rounds

POINTS = tuple(range(sj.POINT, sj.POINT + 12))
RESTRICTIONS = {
    "jam": (sj.JAM,),
    "deceive": (sj.DECEIVE,),
    "quiet": (sj.QUIET,),
    "left and right": (sj.LEFT, sj.RIGHT),
    "advance": (sj.ADVANCE,),
    "track": (sj.TRACK,),
    "point": POINTS,
    "search": (sj.SEARCH,),
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game", nargs="?", default="sensor-jammer")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    game = make_game(options.game)
    report = {
        "game": game.name,
        "all starts": float(solve(game).mean()),
        "start": dict(enumerate(solve(game).tolist())),
        "without": {
            name: float(solve(game, without=actions).mean())
            for name, actions in RESTRICTIONS.items()
        },
        "always": {
            name: float(solve(game, always=action).mean()) for action, name in enumerate(sj.NAMES)
        },
    }
    for name, player in (("attacker at random", sj.ATTACKER), ("sensor at random", sj.SENSOR)):
        report["always"][name] = float(solve(game, always=RANDOM, player=player).mean())
    print(json.dumps(report, indent=1)) if options.json else show(report)


def solve(game, without=(), always=BEST, player=None):
    """How often the attacker wins, by the sectors from the beam to its starting place, [S]."""
    manner = [BEST, BEST]
    manner[int(always >= sj.TRACK) if player is None else player] = always
    values = solve_rounds(game, without, tuple(manner))[game.rounds]
    return values[:, game.rings, 0, game.energy, 0, 0]


def show(report):
    console = Console(highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=f"{report['game']}: the attacker wins")
    table.add_column("kind")
    table.add_column("what")
    table.add_column("%", justify="right")
    table.add_row("start", "all", f"{100 * report['all starts']:.1f}")
    for kind in ("start", "without", "always"):
        for name, value in report[kind].items():
            table.add_row(kind, str(name), f"{100 * value:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
