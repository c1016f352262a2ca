"""Every opening of a small Hex board: the search proves what alpha-beta finds."""

import numpy as np
import pytest

from tesuji import SearchConfig, search
from tesuji.games.hex import Hex
from tesuji.opponents.alpha_beta import AlphaBeta

GAME = Hex(size=4)
CONFIG = SearchConfig(
    simulations=300_000,
    selection="puct",
    c_puct=0.1,
    c_puct_base=0.0,
    fpu="zero",
    amaf="grave",
    proven_values=True,
)


@pytest.fixture(scope="module")
def openings():
    """The position after each first move."""
    states = []
    for action in range(GAME.num_cells):
        states.append(GAME.new_state())
        GAME.apply(states[-1], action)
    return states


def test_search_proves_every_opening_as_alpha_beta_solves_it(openings):
    solved = AlphaBeta(GAME, depth=GAME.max_turns).solve(GAME.new_state())
    assert solved.is_exact
    results = [search(GAME, state, "rollout", CONFIG, seed=1) for state in openings]
    assert all(result.proven for result in results)
    assert [-result.value for result in results] == solved.values.tolist()
    short_diagonal = [action % 4 + action // 4 == 3 for action in range(16)]
    assert np.array_equal(solved.values > 0, short_diagonal)
