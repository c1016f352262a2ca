"""Ratings: known strengths are recovered, and nothing diverges."""

import itertools
import math

import numpy as np
import pytest

from plainzero.arena.ratings import ELO, Pairing, fit_ratings, rate_against

NAMES = ("a", "b", "c", "d", "e")
TRUE = np.array([0.0, 80.0, 150.0, 400.0, -120.0])


def simulate(generator, games, draw=0.8):
    pairings = []
    for i, j in itertools.combinations(range(len(TRUE)), 2):
        weights = np.exp(np.array([TRUE[i], (TRUE[i] + TRUE[j]) / 2, TRUE[j]]) / ELO)
        weights[1] *= draw
        counts = generator.multinomial(games, weights / weights.sum())
        pairings.append(Pairing(i, j, *(int(count) for count in counts)))
    return pairings


def test_known_ratings_are_recovered():
    ratings = fit_ratings(NAMES, simulate(np.random.default_rng(1), 20_000))
    assert ratings.elo == pytest.approx(TRUE, abs=6)
    assert ratings.draw == pytest.approx(0.8, rel=0.03)
    assert ratings.elo[0] == ratings.errors[0] == 0.0


def test_errors_cover_the_truth():
    generator, inside = np.random.default_rng(2), 0
    for _ in range(200):
        ratings = fit_ratings(NAMES, simulate(generator, 60))
        inside += int((np.abs(ratings.elo - TRUE) <= ratings.errors)[1:].sum())
    assert 0.92 <= inside / 800 <= 0.98


def test_two_agents_agree_with_the_plain_formula():
    ratings = fit_ratings(("a", "b"), [Pairing(0, 1, 250, 0, 750)])
    assert ratings.elo[1] == pytest.approx(400 * math.log10(3), abs=2)


def test_a_clean_sweep_is_finite_and_very_uncertain():
    ratings = fit_ratings(("a", "b"), [Pairing(0, 1, 0, 0, 100)])
    assert 500 < ratings.elo[1] < 1500 and ratings.errors[1] > 200


def test_draws_alone_are_equal_strength():
    ratings = fit_ratings(("a", "b"), [Pairing(0, 1, 0, 50, 0)])
    assert ratings.elo[1] == pytest.approx(0, abs=1e-6) and ratings.draw_rate > 0.9


def test_agents_that_never_met_are_rated_through_others():
    ratings = fit_ratings(("a", "b", "c"), [Pairing(0, 1, 25, 0, 75), Pairing(2, 1, 75, 0, 25)])
    assert ratings.elo[2] == pytest.approx(2 * 190.8, abs=8)


def test_agents_without_a_common_opponent_are_refused():
    with pytest.raises(ValueError, match="c has no games that connect it with a"):
        fit_ratings(("a", "b", "c"), [Pairing(0, 1, 1, 1, 1)])


def test_the_rating_of_one_agent_among_known_ones_is_recovered():
    """By the formula, +150 without draws scores 70.3 % against 0 and 44.1 % against +191."""
    pairings = [Pairing(-1, 0, 703, 0, 297), Pairing(-1, 1, 441, 0, 559)]
    elo, error = rate_against([0.0, 191.0], pairings)
    assert elo == pytest.approx(150, abs=2) and 10 < error < 20


def test_one_agent_agrees_with_the_fit_of_both():
    ratings = fit_ratings(("a", "b"), [Pairing(1, 0, 30, 20, 10)])
    elo, error = rate_against([0.0], [Pairing(-1, 0, 30, 20, 10)])
    assert (elo, error) == pytest.approx((ratings.elo[1], ratings.errors[1]))


@pytest.mark.parametrize("elo", [0.0, 1500.0, 4000.0])
@pytest.mark.parametrize("results", [(24, 0, 0), (0, 0, 24), (12, 0, 12), (0, 24, 0), (1, 0, 0)])
def test_a_rating_among_high_anchors_is_a_number_with_an_error(elo, results):
    pairings = [Pairing(-1, 1, *results), Pairing(-1, 0, *results)]
    rating, error = rate_against([elo, elo + 800.0], pairings)
    assert elo - 1500 < rating < elo + 2300
    assert 0 < error < 3000
