"""Perfect play of sensor against jammer: all positions, from the last round back to the first.

Values here are the attacker's chances to win. Positions are those before the attacker's move, with
the screen turned so that the beam points to sector 0.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.games import rules
from plainzero.games.bundled import sensor_jammer as sj
from plainzero.games.contract import CHANCE

BEST, RANDOM = -1, -2
"""How a side plays, unless it always plays the same action."""

Round = NDArray[np.float64]
"""[sector, ring, decoy, energy, jam, fixes]: the attacker's chances."""


class SensorJammerValues:
    """The first player's value in each position in which the attacker is to move."""

    def __init__(self, game: sj.SensorJammer) -> None:
        """Solves the game."""
        self._game, self._rounds = game, solve_rounds(game)

    def __call__(self, state: Any) -> float | None:
        """The value of a position that is not over; None if the sensor is to move."""
        if state.to_play != sj.ATTACKER:
            return None
        sector = (state.sector - state.beam) % self._game.sectors
        place = sector, state.ring, state.decoy, state.energy, state.jam, state.fixes
        return 2.0 * float(self._rounds[state.rounds][place]) - 1.0


def solve_rounds(
    game: sj.SensorJammer, without: Sequence[int] = (), manner: tuple[int, int] = (BEST, BEST)
) -> list[Round]:
    """The attacker's chances by the number of rounds left.

    Args:
        game: the game.
        without: actions that a side with the manner BEST does not use.
        manner: of attacker and sensor: BEST, RANDOM, or an action that is always played (or a
            random legal one if it is illegal).
    """
    allowed = np.array([action not in without for action in range(game.num_actions)])
    sizes = (game.sectors, game.rings + 1, 2, game.energy + 1, sj.JAMMED_TURNS + 1, game.fixes)
    positions = np.array(list(itertools.product(*map(range, sizes))))
    positions = positions[positions[:, 1] > 0]
    solved = [np.zeros(sizes)]  # with no round left the sensor has won
    scratch = np.zeros((3, game.num_actions), np.int32), np.zeros(game.sectors)
    for rounds in range(1, game.rounds + 1):
        states, values = np.zeros(4, game.dtype), np.zeros(sizes)
        arguments = (positions, rounds, allowed, np.array(manner), solved[-1], values)
        _solve_round(rules.register(game), states, *scratch, *arguments)
        solved.append(values)
    return solved


@Kernel
def _solve_round(
    states: Any,
    actions: Any,
    chances: Any,
    positions: Any,
    rounds: int,
    allowed: Any,
    manner: Any,
    before: Any,
    values: Any,
) -> None:
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
def value_for_sensor(
    states: Any, actions: Any, chances: Any, allowed: Any, manner: Any, before: Any
) -> float:
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
def value_after_round(states: Any, actions: Any, chances: Any, before: Any) -> float:
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
def value_of(state: Any, before: Any) -> float:
    """The value of a finished position, or of one with a round less, rotated to beam 0."""
    if state.is_over:
        return 0.0  # only the sensor wins at the end of a round
    sector = (state.sector - state.beam) % before.shape[0]
    chance: float = before[sector, state.ring, state.decoy, state.energy, state.jam, state.fixes]
    return chance


@kernel_function
def choice(manner: int, best: float, mean: float, same: float) -> float:
    """The value of a side's move by its manner; `same` is -1 if its action is illegal."""
    if manner == BEST:
        return best
    return same if same >= 0.0 else mean
