"""Positions to calibrate and measure backends with."""

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game


def random_positions(game: Game, count: int) -> NDArray[np.float32]:
    """Observations [count, *shape] of positions from random play, the same ones each time."""
    generator = np.random.default_rng(0)
    planes = np.zeros((count, *game.observation_shape), np.float32)
    state, filled = game.new_state(), 0
    while filled < count:
        if state.is_over:
            state = game.new_state()
        if state.to_play != CHANCE:
            game.observe(state, planes[filled])
            filled += 1
        game.apply(state, int(generator.choice(game.legal(state))))
    return planes
