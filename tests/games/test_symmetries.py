"""Turns of a board: where each action goes, and those that have no place on it."""

import numpy as np
import pytest

from tesuji.games.symmetries import grid_symmetries


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
