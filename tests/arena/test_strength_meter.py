"""The measurement of strength during training."""

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE, TINY_2048, TRIO

from plainzero import SearchConfig
from plainzero.arena.strength_meter import StrengthMeter
from plainzero.opponents.solved_positions import bundled_positions

pytestmark = pytest.mark.slow


class FakeClock:
    """A clock that advances by `step` seconds each time it is read."""

    def __init__(self):
        self.now = self.step = 0.0

    def monotonic(self):
        self.now += self.step
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The clock of the meter; it stands still unless a test sets its step."""
    clock = FakeClock()
    monkeypatch.setattr("plainzero.arena.strength_meter.time", clock)
    return clock


def blind(game, players=1):
    """A network with equal priors and values."""

    def evaluate(planes):
        values = np.zeros((len(planes), players) if players > 2 else len(planes), np.float32)
        return np.zeros((len(planes), game.num_actions), np.float32), values

    return evaluate


def test_rating_grows_with_strength_and_random_play_is_zero():
    meter = StrengthMeter(TIC_TAC_TOE, seed=1)
    weak, strong = (
        meter.measure(blind(TIC_TAC_TOE), SearchConfig(simulations=n, proven_values=True))
        for n in (1, 200)
    )
    assert strong["rating"] > weak["rating"] + 100 and strong["rating"] > 150
    assert -200 < weak["rating"] and 20 < strong["rating_error"] < 200


def test_anchors_are_rated_once_and_in_increasing_order():
    meter = StrengthMeter(TIC_TAC_TOE, seed=1)
    first, again, last = (
        meter.measure(blind(TIC_TAC_TOE), SearchConfig(simulations=100, proven_values=True))
        for _ in range(3)
    )
    assert again == pytest.approx(last)
    assert abs(first["rating"] - last["rating"]) < last["rating_error"]
    assert meter._elo[0] == 0.0 and 3 <= len(meter._elo) <= 6
    assert meter._elo[:3] == sorted(meter._elo[:3])


def measure_connect_four(meter):
    config = SearchConfig(simulations=20, proven_values=True)
    return meter.measure(blind(CONNECT_FOUR), config, seconds=1.0)


def test_time_limits_the_rounds_and_cuts_the_last_one_short(clock):
    meter = StrengthMeter(CONNECT_FOUR, seed=1, anchors=("random", "uct:5", "uct:20"))
    all_rounds = measure_connect_four(meter)  # also rates the anchors, which takes extra time
    clock.step, start = 0.01, clock.now
    some_rounds = measure_connect_four(meter)
    assert some_rounds["rating_error"] > 1.2 * all_rounds["rating_error"]
    assert clock.now - start < 1.0
    clock.step, start = 0.1, clock.now
    measure_connect_four(meter)
    assert 2.0 < clock.now - start < 3.0


def test_no_time_gives_no_rating_rather_than_an_error(clock):
    clock.step = 0.1
    found = StrengthMeter(TRIO).measure(blind(TRIO, 3), SearchConfig(simulations=20), seconds=0.0)
    assert "rating" not in found


@pytest.mark.skipif(
    not (path := bundled_positions(CONNECT_FOUR)) or not path.is_file(),
    reason="there are no bundled positions for connect-four",
)
def test_accuracy_is_measured_on_bundled_positions():
    found = measure_connect_four(StrengthMeter(CONNECT_FOUR, seed=1, anchors=("random", "uct:5")))
    assert 0.2 < found["accuracy"] < found["accuracy_search"] < 1.0


def test_games_for_one_and_three_players_are_rated_too():
    for game, players in ((TRIO, 3), (TINY_2048, 1)):
        found = StrengthMeter(game, anchors=("random", "uct:10")).measure(
            blind(game, players), SearchConfig(simulations=30)
        )
        assert found["rating"] > 0
