"""Openings of Hex: the search proves the results of alpha-beta and of published solvers."""

from pathlib import Path

import numpy as np
import pytest

from plainzero import SearchConfig, search
from plainzero.games.bundled.hex import Hex
from plainzero.opponents.alpha_beta import AlphaBeta

pytestmark = pytest.mark.slow

GAME = Hex(size=4)
TABLE = Path(__file__).parents[3] / "shared" / "data" / "hex" / "openings_6x6.csv"
CONFIG = SearchConfig(
    simulations=4_000_000,
    selection="puct",
    c_puct=0.02,
    c_puct_base=0.0,
    fpu="zero",
    amaf="grave",
    proven_values=True,
    templates=65536,
    max_bytes=1 << 31,
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


@pytest.mark.skipif(not TABLE.exists(), reason="needs the table of openings in ../shared/data")
def test_the_proof_of_a_6x6_opening_agrees_with_the_table():
    table = dict(line.split(",") for line in TABLE.read_text().split())
    game = Hex(size=6)
    state = game.new_state()
    game.apply(state, game.parse_action("d3"))
    result = search(game, state, "rollout", CONFIG, seed=1)
    assert result.proven
    assert table["d3"] == ("white" if result.value > 0 else "black")
