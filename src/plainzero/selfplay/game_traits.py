"""What a game shows of itself in random play, from which defaults are chosen."""

import functools
from typing import NamedTuple

import numpy as np

from plainzero.games.check.quick_check import ensure_checked
from plainzero.games.contract import CHANCE, Game

MOST_PLIES = 44
"""Moves watched of a game, in plain Python: up to a fifth of a second."""

_GAMES = 24  # of these, if they are shorter


class GameTraits(NamedTuple):
    """What was seen in some random games."""

    most_moves: int  # legal moves that a player had
    longest: int  # moves of players in the longest game, up to MOST_PLIES


@functools.lru_cache
def traits_of(game: Game) -> GameTraits:
    """The traits of a game; the same whenever it is asked for.

    Raises:
        RuleFault: if the game breaks its contract.
    """
    ensure_checked(game)
    generator, most_moves, longest = np.random.default_rng(0), 1, 0
    for _ in range(_GAMES):
        state, plies = game.new_state(), 0
        while not state.is_over and plies < MOST_PLIES:
            legal = game.legal(state)
            if state.to_play != CHANCE:
                plies, most_moves = plies + 1, max(most_moves, len(legal))
            game.play(state, int(generator.choice(legal)))
            state.turn += 1
        longest = max(longest, plies)
        if longest == MOST_PLIES:
            break
    return GameTraits(most_moves, longest)
