"""The measurement of strength during training."""

import time

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE, TINY_2048, TRIO

from plainzero import SearchConfig
from plainzero.arena.strength_meter import StrengthMeter
from plainzero.opponents.solved_positions import bundled_positions

pytestmark = pytest.mark.slow


def blind(game, players=1):
    def evaluate(planes):
        values = np.zeros((len(planes), players) if players > 2 else len(planes), np.float32)
        return np.zeros((len(planes), game.num_actions), np.float32), values

    return evaluate


def test_rating_grows_with_strength_and_random_play_is_zero():
    meter = StrengthMeter(TIC_TAC_TOE, seed=1)
    weak, strong = (
        meter.measure(
            blind(TIC_TAC_TOE), SearchConfig(simulations=n, proven_values=True), seconds=20
        )
        for n in (1, 200)
    )
    assert strong["rating"] > weak["rating"] + 100 and strong["rating"] > 150
    assert -200 < weak["rating"] and 20 < strong["rating_error"] < 200


def test_anchors_are_measured_once_and_stand_in_order():
    meter = StrengthMeter(TIC_TAC_TOE, seed=1)
    first, again, last = (
        meter.measure(
            blind(TIC_TAC_TOE), SearchConfig(simulations=100, proven_values=True), seconds=30
        )
        for _ in range(3)
    )
    assert again == pytest.approx(last)
    assert abs(first["rating"] - last["rating"]) < last["rating_error"]
    assert meter._elo[0] == 0.0 and 3 <= len(meter._elo) <= 6
    assert meter._elo[:3] == sorted(meter._elo[:3])


@pytest.fixture(scope="module")
def connect_four():
    """The seconds that a second look at Connect Four took, and what it found."""
    meter = StrengthMeter(CONNECT_FOUR, seed=1, anchors=("random", "uct:5", "uct:20"))
    config = SearchConfig(simulations=20, proven_values=True)
    meter.measure(blind(CONNECT_FOUR), config, seconds=0.01)  # compiles
    start = time.monotonic()
    found = meter.measure(blind(CONNECT_FOUR), config, seconds=1.0)
    return time.monotonic() - start, found


def test_time_is_bounded(connect_four):
    seconds, found = connect_four
    assert seconds < 60  # anchors come on top, and the machine may be busy
    assert "rating" in found


def test_no_time_gives_no_rating_rather_than_an_error():
    found = StrengthMeter(TRIO).measure(blind(TRIO, 3), SearchConfig(simulations=20), seconds=0.0)
    assert "rating" not in found


@pytest.mark.skipif(
    not (path := bundled_positions(CONNECT_FOUR)) or not path.is_file(),
    reason="there are no bundled positions for connect-four",
)
def test_accuracy_is_measured_where_positions_ship_with_the_game(connect_four):
    _, found = connect_four
    assert 0.2 < found["accuracy"] < found["accuracy_search"] < 1.0


def test_games_for_one_and_three_players_are_rated_too():
    for game, players in ((TRIO, 3), (TINY_2048, 1)):
        found = StrengthMeter(game, anchors=("random", "uct:10")).measure(
            blind(game, players), SearchConfig(simulations=30), seconds=20
        )
        assert found["rating"] > 0
