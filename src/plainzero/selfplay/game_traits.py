"""What a game shows of itself in random play, from which defaults are chosen."""

import numpy as np

from plainzero.games.check.quick_check import ensure_checked
from plainzero.games.contract import CHANCE, Game

_PLIES = 32  # up to a fifth of a second, in plain Python


def most_legal_moves(game: Game) -> int:
    """The most legal moves that a player has in the first plies of a random game.

    Raises:
        RuleFault: if the game breaks its contract.
    """
    ensure_checked(game)
    generator, state, most = np.random.default_rng(0), game.new_state(), 1
    for _ in range(_PLIES):
        if state.is_over:
            break
        legal = game.legal(state)
        if state.to_play != CHANCE:
            most = max(most, len(legal))
        game.play(state, int(generator.choice(legal)))
        state.turn += 1
    return most
