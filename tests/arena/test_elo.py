"""Elo differences and their intervals."""

import math

import numpy as np
import pytest

from plainzero.arena.elo import elo_difference, estimate_elo, expected_score


def test_known_differences():
    assert elo_difference(0.55) == pytest.approx(34.9, abs=0.05)
    assert elo_difference(0.75) == pytest.approx(190.8, abs=0.05)
    assert elo_difference(0.5) == 0.0
    assert expected_score(elo_difference(0.3)) == pytest.approx(0.3)


def test_a_score_outside_0_to_1_is_refused():
    with pytest.raises(ValueError, match="from 0 to 1"):
        elo_difference(1.5)


def test_all_won_has_an_infinite_upper_end_and_a_finite_lower_one():
    estimate = estimate_elo([[1.0, 1.0]] * 20)
    assert estimate.elo == estimate.high == math.inf
    assert 250 < estimate.low < 500
    assert str(estimate) == f"above {estimate.low:+.0f}"
    assert estimate.as_dict()["elo"] is None and estimate.as_dict()["elo_interval"][1] is None


def test_all_lost_is_the_mirror_image_of_all_won():
    won, lost = estimate_elo([[1.0, 1.0]] * 20), estimate_elo([[0.0, 0.0]] * 20)
    assert lost.high == pytest.approx(-won.low) and lost.low == -math.inf
    assert str(lost).startswith("below -")


def test_draws_alone_leave_some_doubt():
    few, many = estimate_elo([[0.5, 0.5]] * 5), estimate_elo([[0.5, 0.5]] * 500)
    assert few.elo == many.elo == 0.0
    assert few.high > 20 and 0 < many.high < 2


def test_no_games_give_an_infinite_interval():
    nothing = estimate_elo([])
    assert (nothing.score_low, nothing.score_high) == (0.0, 1.0)


def test_one_opening_is_no_sample():
    estimate = estimate_elo([[1.0] * 20])
    assert estimate.score == 1.0 and not estimate.has_interval
    assert (estimate.score_low, estimate.score_high) == (0.0, 1.0)
    assert str(estimate) == "unknown" and estimate.score_interval is None
    assert estimate.as_dict()["score_interval"] is estimate.as_dict()["elo_interval"] is None


def test_pairs_that_cancel_out_give_a_narrower_interval_than_pairs_that_agree():
    """If white wins both games of every opening, the agents are surely equal."""
    cancelling = estimate_elo([[1.0, 0.0]] * 50)
    agreeing = estimate_elo([[1.0, 1.0], [0.0, 0.0]] * 25)
    assert cancelling.score == agreeing.score == 0.5
    assert cancelling.high < agreeing.high / 3


def test_copies_of_a_game_add_no_certainty():
    """Ten games of deterministic agents from one opening count as one."""
    once = estimate_elo([[1.0, 1.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.5]])
    copied = estimate_elo([s * 10 for s in ([1.0, 1.0], [1.0, 0.0], [0.0, 0.5], [1.0, 0.5])])
    assert copied.score == once.score
    assert copied.high - copied.low > 0.8 * (once.high - once.low)


@pytest.mark.parametrize(("win", "draw"), [(0.5, 0.0), (0.3, 0.4), (0.85, 0.1), (0.02, 0.0)])
def test_intervals_cover_the_truth_about_as_often_as_they_say(win, draw):
    random = np.random.default_rng(7)
    truth, covered = win + draw / 2, 0
    for _ in range(1000):
        games = random.choice([1.0, 0.5, 0.0], (40, 2), p=[win, draw, 1 - win - draw])
        estimate = estimate_elo(games.tolist())
        covered += estimate.score_low <= truth <= estimate.score_high
    assert 0.92 <= covered / 1000 <= 0.99
