"""Games that use more of Python than ours do run compiled, in the check and in the search."""

import numpy as np
from stranger_games import Strangers

from tesuji import SearchConfig, check_game, make_game, search


def test_temporaries_enums_named_tuples_and_private_helpers_compile():
    assert [str(finding) for finding in check_game(Strangers())] == []


def test_such_a_game_is_searched_like_the_bundled_one():
    ours, theirs = make_game("tic-tac-toe"), Strangers()
    results = [
        search(game, game.new_state(), "rollout", SearchConfig(simulations=300), seed=4)
        for game in (ours, theirs)
    ]
    assert (results[0].visits == results[1].visits).all()

    def network(planes):
        return np.zeros((len(planes), 9)), planes.reshape(len(planes), -1).sum(1) / 10

    results = [
        search(game, game.new_state(), network, SearchConfig(simulations=100))
        for game in (ours, theirs)
    ]
    assert (results[0].visits == results[1].visits).all()
