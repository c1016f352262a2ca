"""Perfect play of sensor against jammer: python benchmarks/sensor_jammer.py [--json]

The game has few positions. All of them are solved, from the last round back to the first, so the
numbers are exact. Prints how often the attacker wins:
  start    by starting place, in sectors from the beam
  without  if one side may not use some actions
  always   if one side always plays the same action (or a random legal one if that is illegal), or
           plays at random, and the other side plays perfectly
"""

import argparse
import itertools
import json

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from plainzero import make_game
from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.games import rules
from plainzero.games.bundled import sensor_jammer as sj
from plainzero.games.contract import CHANCE

BEST, RANDOM = -1, -2  # how a side plays, unless it always plays the same action
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
    allowed = np.array([action not in without for action in range(game.num_actions)])
    manner = np.array([BEST, BEST])
    manner[int(always >= sj.TRACK) if player is None else player] = always
    sizes = (game.sectors, game.rings + 1, 2, game.energy + 1, sj.JAMMED_TURNS + 1, game.fixes)
    positions = np.array(list(itertools.product(*map(range, sizes))))
    positions = positions[positions[:, 1] > 0]
    values = np.zeros(sizes)  # with no rounds left: the sensor has won
    scratch = np.zeros((3, game.num_actions), np.int32), np.zeros(game.sectors)
    for rounds in range(1, game.rounds + 1):
        states = np.zeros(4, game.dtype)
        before, values = values, np.zeros(sizes)
        arguments = (positions, rounds, allowed, manner, before, values)
        _solve_round(rules.register(game), states, *scratch, *arguments)
    return values[:, game.rings, 0, game.energy, 0, 0]


@Kernel
def _solve_round(states, actions, chances, positions, rounds, allowed, manner, before, values):
    """Writes the values of all positions with `rounds` rounds left and the attacker to play."""
    for i in range(positions.shape[0]):
        at, state = positions[i], states[0]
        state.turn, state.rounds = sj.FIRST_TURN, rounds
        state.sector, state.ring, state.decoy = at[0], at[1], at[2]
        state.energy, state.jam, state.fixes = at[3], at[4], at[5]
        count = rules.legal_actions(state, actions[0])
        best, total, same = 0.0, 0.0, -1.0
        for j in range(count):
            states[1] = state
            rules.play(states[1], actions[0, j])
            value = value_for_sensor(states, actions, chances, allowed, manner, before)
            total += value
            same = value if actions[0, j] == manner[0] else same
            best = max(best, value) if allowed[actions[0, j]] else best
        values[at[0], at[1], at[2], at[3], at[4], at[5]] = choice(
            manner[0], best, total / count, same
        )


@kernel_function
def value_for_sensor(states, actions, chances, allowed, manner, before):
    """The attacker's chances in states[1]: the sensor is to play, or the attacker has won."""
    if states[1].is_over:
        return 1.0
    count = rules.legal_actions(states[1], actions[1])
    best, total, same = 1.0, 0.0, -1.0
    for i in range(count):
        states[2] = states[1]
        rules.play(states[2], actions[1, i])
        value = value_after_round(states, actions, chances, before)
        total += value
        same = value if actions[1, i] == manner[1] else same
        best = min(best, value) if allowed[actions[1, i]] else best
    return choice(manner[1], best, total / count, same)


@kernel_function
def value_after_round(states, actions, chances, before):
    """The attacker's chances in states[2], before chance or the next round."""
    if states[2].is_over or states[2].to_play != CHANCE:
        return value_of(states[2], before)
    value = 0.0
    for i in range(rules.chance_outcomes(states[2], actions[2], chances)):
        states[3] = states[2]
        rules.play(states[3], actions[2, i])
        value += chances[i] * value_of(states[3], before)
    return value


@kernel_function
def value_of(state, before):
    """The value of a finished position, or of one with a round less, rotated to beam 0."""
    if state.is_over:
        return 0.0  # only the sensor wins at the end of a round
    sector = (state.sector - state.beam) % before.shape[0]
    return before[sector, state.ring, state.decoy, state.energy, state.jam, state.fixes]


@kernel_function
def choice(manner, best, mean, same):
    """The value of a side's move by its manner; `same` is -1 if its action is illegal."""
    if manner == BEST:
        return best
    return same if same >= 0.0 else mean


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
