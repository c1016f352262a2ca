"""The rules as compiled code calls them."""

import numba
import numpy as np
import pytest

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games import make_game
from plainzero.games.contract import CHANCE
from plainzero.games.rules import awaits_chance, register


@Kernel
def _write_who_moves(states, found):
    for i in range(states.shape[0]):
        found[i] = awaits_chance(states[i])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the plain function looks at the state only")
@pytest.mark.parametrize(("name", "expected"), [("pig", True), ("tic-tac-toe", False)])
def test_chance_moves_only_in_games_with_outcomes(name, expected):
    game = make_game(name)
    states, found = np.array([game.new_state()] * 2, game.dtype), np.zeros(2, np.bool_)
    states["to_play"] = 0, CHANCE
    _write_who_moves(register(game), states, found)
    assert found.tolist() == [False, expected]
    assert [awaits_chance(state) for state in states] == [False, True]
