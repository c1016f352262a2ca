"""How runs play when it counts."""

import pytest

from plainzero import SearchConfig, make_game
from plainzero.training.saved_run import playing_search


@pytest.mark.parametrize("selection", ["gumbel", "puct"])
def test_matches_are_played_without_noise_and_sampling(selection):
    noise = 0.25 if selection == "puct" else 0.0
    own = SearchConfig(simulations=16, selection=selection, noise_weight=noise)
    played = playing_search(make_game("connect-four"), own, 100)
    assert (played.simulations, played.noise_weight) == (100, 0.0)
    assert (played.selection == "gumbel", played.choice, played.fpu) == (False, "lcb", "parent")


def test_dice_are_no_reason_to_distrust_a_move():
    assert playing_search(make_game("pig"), SearchConfig(), 100).choice == "visits"
