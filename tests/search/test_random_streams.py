"""The random streams have the right distributions and are independent of each other."""

import numpy as np
import pytest

from plainzero.search.kernels.random_streams import (
    random_below,
    random_bits,
    random_gamma,
    random_gumbel,
    random_normal,
    random_unit,
)
from plainzero.search.scratch_memory import make_streams


def draw(function, count, *arguments, seed=0):
    streams = make_streams(seed, 1)
    return np.array([function(streams, 0, *arguments) for _ in range(count)], float)


def test_generator_is_mwc64x():
    state = int(make_streams(7, 1)[0])
    streams = make_streams(7, 1)
    for _ in range(100):
        low, high = state & 0xFFFFFFFF, state >> 32
        assert int(random_bits(streams, 0)) == low ^ high
        state = low * 4294883355 + high
        assert int(streams[0]) == state


def test_bits_are_fair():
    bits = np.array([int(x) for x in draw(random_bits, 4000)])
    for place in range(32):
        assert np.mean(bits >> place & 1) == pytest.approx(0.5, abs=0.04)


def test_whole_numbers_are_uniform():
    counts = np.bincount(draw(random_below, 7000, 7).astype(int), minlength=7)
    assert len(counts) == 7
    assert counts.min() > 880


@pytest.mark.parametrize(
    ("function", "arguments", "mean", "variance"),
    [
        (random_unit, (), 1 / 2, 1 / 12),
        (random_normal, (), 0.0, 1.0),
        (random_gamma, (0.3,), 0.3, 0.3),
        (random_gamma, (2.5,), 2.5, 2.5),
        (random_gumbel, (), np.euler_gamma, np.pi**2 / 6),
    ],
)
def test_means_and_variances(function, arguments, mean, variance):
    numbers = draw(function, 8000, *arguments)
    assert numbers.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / len(numbers)))
    assert numbers.var() == pytest.approx(variance, rel=0.15)


def test_unit_is_never_zero_or_one():
    numbers = draw(random_unit, 4000)
    assert 0 < numbers.min() and numbers.max() < 1


def test_streams_of_games_and_seeds_differ():
    states = np.concatenate([make_streams(seed, 1000) for seed in range(5)])
    assert len(np.unique(states)) == 5000
    assert (make_streams(3, 4, first=2) == make_streams(3, 6)[2:]).all()
    assert (make_streams(-1, 3) != make_streams(1, 3)).all()


def test_neighbouring_streams_are_not_correlated():
    streams = make_streams(0, 2)
    pairs = np.array([[random_unit(streams, b) for b in (0, 1)] for _ in range(3000)])
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.06
