"""Turns of a board: where each action goes, and those that have no place on it."""

import numpy as np
import pytest

from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.bundled.othello import Othello
from plainzero.games.check.problems import Problems
from plainzero.games.check.random_play import play_games
from plainzero.games.check.symmetries import check_symmetries
from plainzero.games.contract import Symmetry
from plainzero.games.symmetries import grid_symmetries


@pytest.mark.parametrize(("shape", "turns"), [((3, 3), 7), ((2, 3), 3)])
def test_actions_that_are_not_on_the_board_stay_what_they_are(shape, turns):
    cells = shape[0] * shape[1]
    grid = np.arange(cells).reshape(shape)
    plain = grid_symmetries(grid)
    with_pass = grid_symmetries(grid, unmoved=[cells])
    assert len(plain) == len(with_pass) == turns
    for symmetry, other in zip(plain, with_pass, strict=True):
        assert list(other.actions) == [*symmetry.actions, cells]
        assert np.array_equal(other.planes(grid), symmetry.planes(grid))


def test_an_unmoved_action_may_stand_before_those_of_the_board():
    for symmetry in grid_symmetries([[1, 2], [3, 4]], unmoved=[0]):
        assert symmetry.actions[0] == 0
        assert sorted(symmetry.actions) == [0, 1, 2, 3, 4]


class TurnedOneWayOnly(Othello):
    """Squares go where another turn takes them."""

    def symmetries(self):
        quarter, half, *_ = super().symmetries()
        return [half, Symmetry(quarter.planes, half.actions)]


class Leaning(ConnectFour):
    """Begins with a stone in the first column."""

    def reset(self, state):
        state.stones[0] = self.bit(0, 0)


def test_a_board_that_begins_otherwise_when_turned_is_set_up_so():
    problems = Problems(Othello(size=4))
    check_symmetries(problems, play_games(problems, 3, seed=1))
    assert list(problems) == []


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (TurnedOneWayOnly(size=4), "symmetry 1: planes and actions do not turn the position alike"),
        (Leaning(), "symmetry 0: planes and actions do not turn the position alike at turn 0"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_turned_games_that_go_another_way_are_found(game, message):
    problems = Problems(game)
    check_symmetries(problems, play_games(problems, 3, seed=1))
    (problem,) = problems
    assert message in problem.message
