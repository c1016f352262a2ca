"""Simple strategies for satellite pursuit, for benchmarks/balance.py orbit --scripts.

Each takes the game and a state and returns a manoeuvre. The attacker's target is the asset; the
defender's target is the attacker.
"""

import math

import numpy as np

from plainzero.games.bundled.orbit.rules import (
    ANTI_RADIAL,
    ATTACKER,
    COASTS,
    DEFENDER,
    HOLD,
    PROGRADE,
    RADIAL,
    RETROGRADE,
)


def toward(game, state):
    """The manoeuvre that points most directly at the target, ignoring orbital motion."""
    if state.fuel[state.to_play] == 0:
        return HOLD
    away = state.craft[ATTACKER, :2].astype(float)
    if state.to_play == DEFENDER:
        away = state.craft[DEFENDER, :2] - away
    if abs(away[1]) > abs(away[0]):
        return RETROGRADE if away[1] > 0 else PROGRADE
    return ANTI_RADIAL if away[0] > 0 else RADIAL


def nearest_next(game, state):
    """The manoeuvre after which the target is nearest at the end of this round."""
    return choose(game, state, 1)


def nearest_ever(game, state):
    """The manoeuvre with the nearest approach in the remaining time, with all engines off."""
    return choose(game, state, (game.max_turns - int(state.turn) + 1) // 2)


def choose(game, state, rounds):
    """The manoeuvre with the nearest approach within `rounds` rounds; holds if equal."""
    options = sorted(game.legal(state), reverse=True)
    return min(options, key=lambda manoeuvre: approach(game, state, manoeuvre, rounds))


def approach(game, state, manoeuvre, rounds):
    player, after = int(state.to_play), game.copy(state)
    game.fire(after, player, manoeuvre)
    best = math.inf
    for _ in range(COASTS * rounds):
        game.coast(after, ATTACKER)
        game.coast(after, DEFENDER)
        target = after.craft[ATTACKER, :2] if player == DEFENDER else np.zeros(2)
        best = min(best, math.dist(after.craft[player, :2], target))
    return best
