"""The sequential test: known values, and how often it errs."""

import math

import numpy as np
import pytest

from plainzero.arena.sprt import Sprt


def test_bounds():
    assert Sprt().bounds == pytest.approx((-2.944, 2.944), abs=5e-4)


@pytest.mark.parametrize(
    ("wins", "losses", "ratio", "verdict"),
    [
        (22, 18, 0.200, "open"),
        (31, 0, 2.955, "stronger"),
        (30, 0, 2.859, "open"),
        (0, 28, -2.950, "weaker"),
        (0, 27, -2.845, "open"),
        (0, 0, 0.0, "open"),
    ],
)
def test_known_ratios_without_draws(wins, losses, ratio, verdict):
    test = Sprt()
    found = test.log_likelihood_ratio([1.0] * wins + [0.0] * losses)
    assert found == pytest.approx(ratio, abs=5e-4)
    assert test.verdict(found) == verdict


def test_draws_alone_speak_for_equal_strength():
    """With draws alone, a mean of 0.55 is likeliest with one win in ten games."""
    assert Sprt().log_likelihood_ratio([0.5] * 10) == pytest.approx(10 * math.log(0.9))


def test_constrained_distribution_is_the_likeliest_by_brute_force():
    scores = [1.0] * 9 + [0.5] * 7 + [0.0] * 4

    def best(mean):
        draws = np.linspace(1e-6, 1 - 1e-6, 200_001)
        wins = mean - draws / 2
        losses = 1 - draws - wins
        fits = (wins > 0) & (losses > 0)
        wins, draws, losses = wins[fits], draws[fits], losses[fits]
        return (9 * np.log(wins) + 7 * np.log(draws) + 4 * np.log(losses)).max()

    expected = best(0.55) - best(0.5)
    assert Sprt().log_likelihood_ratio(scores) == pytest.approx(expected, abs=1e-6)


def test_the_mirror_image_has_the_opposite_sign():
    test, scores = Sprt(0.45, 0.55), [1.0, 0.5, 0.5, 0.75, 1.0, 0.0]
    mirrored = [1 - score for score in scores]
    assert test.log_likelihood_ratio(scores) == pytest.approx(-test.log_likelihood_ratio(mirrored))


@pytest.mark.parametrize(("win", "wanted"), [(0.35, "weaker"), (0.45, "stronger")])
def test_errors_are_as_rare_as_promised(win, wanted):
    """With 30 % draws the means are 0.50 and 0.60; the claim is 0.55."""
    random, test, right = np.random.default_rng(3), Sprt(), 0
    for _ in range(50):
        scores, verdict = [], "open"
        while verdict == "open":
            scores += random.choice([1.0, 0.5, 0.0], 40, p=[win, 0.3, 0.7 - win]).tolist()
            verdict = test.verdict(test.log_likelihood_ratio(scores))
        right += verdict == wanted
    assert right >= 45


@pytest.mark.parametrize("claims", [(0.55, 0.5), (0.0, 0.5), (0.5, 1.0)])
def test_claims_in_the_wrong_order_are_refused(claims):
    with pytest.raises(ValueError, match="weaker below stronger"):
        Sprt(*claims)
