"""For the tests of opponents: their folder's own modules, and positions by random play."""

import random

import pytest


@pytest.fixture(scope="session")
def random_positions():
    """Positions in which a player is to move, after `plies` random plays."""

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
