"""Averaging over symmetries: it changes no symmetric answer, and makes every answer symmetric."""

import numpy as np
import pytest
from drawn_networks import drawn_network, observations

from plainzero import Symmetry, make_game
from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.symmetries import symmetry_tables
from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import TOLERANCES, make_evaluator
from plainzero.networks.symmetry_average import AveragingEvaluator

NAMES = ("connect-four", "tic-tac-toe", "dots-and-boxes", "trio", "2048")
SMALL = NetworkConfig(blocks=1, channels=8)


class Shifted(ConnectFour):
    """Says that a board without its first column is the same game."""

    def symmetries(self):
        return [Symmetry(lambda planes: planes * 0, list(range(self.cols)))]


def turned(game, planes, s):
    index = symmetry_tables(game).planes_index[s]
    return planes.reshape(len(planes), -1)[:, index].reshape(planes.shape)


@pytest.mark.parametrize("name", NAMES)
def test_tables_turn_as_the_symmetries_do(name):
    game = make_game(name)
    tables, planes = symmetry_tables(game), observations(game, 10)
    symmetries = game.symmetries()
    assert len(tables.planes_index) == len(tables.actions_index) == len(symmetries) + 1
    assert np.array_equal(tables.planes_index[0], np.arange(planes[0].size))
    assert np.array_equal(tables.actions_index[0], np.arange(game.num_actions))
    policy = np.random.default_rng(0).random(game.num_actions)
    for s, symmetry in enumerate(symmetries, 1):
        for observation in planes:
            by_table = observation.ravel()[tables.planes_index[s]].reshape(observation.shape)
            assert np.array_equal(by_table, symmetry.planes(observation))
        moved = policy[tables.actions_index[s]]
        assert all(moved[became] == policy[a] for a, became in enumerate(symmetry.actions))


def test_a_symmetry_that_loses_numbers_is_refused():
    with pytest.raises(ValueError, match="does not keep each of its planes exactly once"):
        symmetry_tables(Shifted())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("values", ["mover", "players"])
def test_averaged_answers_are_symmetric(name, values):
    game = make_game(name)
    if values == "mover" and game.num_players > 2:
        values = "auto"
    network = drawn_network(game, NetworkConfig(blocks=1, channels=8, values=values))
    plain = make_evaluator(network, game, "torch")
    averaging = AveragingEvaluator(make_evaluator(network, game, "torch"), game)
    planes, tables = observations(game, 20), symmetry_tables(game)
    logits, values = averaging(planes)
    assert logits.dtype == values.dtype == np.float32
    assert not np.allclose(logits, plain(planes)[0], atol=0.01)  # the network itself is not
    for s, actions_index in enumerate(tables.actions_index):
        turned_logits, turned_values = averaging(turned(game, planes, s))
        np.testing.assert_allclose(turned_logits, logits[:, actions_index], atol=1e-5)
        np.testing.assert_allclose(turned_values, values, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_averaging_leaves_symmetric_answers_as_they_are(name):
    game = make_game(name)
    network = drawn_network(game, SMALL)
    once = AveragingEvaluator(make_evaluator(network, game, "torch"), game)
    twice = AveragingEvaluator(once, game)
    planes = observations(game, 20)
    for first, second in zip(once(planes), twice(planes), strict=True):
        np.testing.assert_allclose(second, first, atol=TOLERANCES["torch"])


def test_new_weights_reach_the_evaluator_below():
    game = make_game("tic-tac-toe")
    old, new = (drawn_network(game, SMALL, seed) for seed in (0, 1))
    changed = AveragingEvaluator(make_evaluator(old, game, "torch"), game)
    changed.load(new)
    fresh = AveragingEvaluator(make_evaluator(new, game, "torch"), game)
    planes = observations(game, 5)
    assert np.array_equal(changed(planes)[0], fresh(planes)[0])
    assert changed.backend == "torch"
