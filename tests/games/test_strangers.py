"""Games that use more of Python than ours do run compiled, in the check and in the search."""

import numpy as np
import pytest
from stranger_games import Strangers

from plainzero import SearchConfig, check_game, make_game, search

pytestmark = pytest.mark.slow


def test_temporaries_enums_named_tuples_and_private_helpers_compile():
    (problem,) = check_game(Strangers())
    assert (problem.kind, problem.severity) == ("gpu", "cpu only")
    assert "legal_actions builds a list" in problem.message


def test_such_a_game_is_searched_like_the_bundled_one():
    def network(planes):
        return np.zeros((len(planes), 9)), planes.reshape(len(planes), -1).sum(1) / 10

    config = SearchConfig(simulations=200, rollout_weight=0.5)  # its rules also play to the end
    ours, theirs = (
        search(game, game.new_state(), network, config, seed=4)
        for game in (make_game("tic-tac-toe"), Strangers())
    )
    assert (ours.visits == theirs.visits).all()
    assert ours.value == theirs.value
