"""Positions from random play, for the tests of opponents."""

import random

import pytest


@pytest.fixture(scope="session")
def random_positions():
    """Positions in which a player is to move, after `plies` random plies."""

    def make(game, count, plies, seed):
        generator, states = random.Random(seed), []
        while len(states) < count:
            state = game.new_state()
            for _ in range(plies):
                game.apply(state, generator.choice(game.legal(state)))
                if state.is_over:
                    break
            else:
                if state.to_play >= 0:
                    states.append(state)
        return states

    return make
