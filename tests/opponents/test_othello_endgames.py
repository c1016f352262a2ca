"""Othello endgames of the FFO set, solved by alpha-beta, which knows only the rules."""

import re
from pathlib import Path

import numpy as np
import pytest

from plainzero import make_game
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.alpha_beta import AlphaBeta

PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "othello" / "fforum-1-19.obf"
GAME = make_game("othello(result=discs)")
SQUARES = 64


@pytest.mark.parametrize("number", [1, 2, 5, 7, 9])
def test_every_move_of_an_ffo_problem_gets_its_score(number):
    if not PROBLEMS.exists():
        pytest.skip("the FFO problems are not part of a checkout")
    line = PROBLEMS.read_text().splitlines()[number - 1]
    squares = line[:SQUARES].replace("-", ".").lower()
    cells = [list(squares[start : start + 8]) for start in range(0, SQUARES, 8)]
    state = set_up_position(GAME, cells, "XO".index(line[SQUARES + 1]))
    expected = {
        GAME.parse_action(move): int(score) for move, score in re.findall(r"(\w\d):([+-]\d+)", line)
    }
    analysis = AlphaBeta(GAME, depth=2 * squares.count(".")).solve(state)
    assert analysis.is_exact
    found = {int(a): analysis.values[a] * SQUARES for a in np.flatnonzero(analysis.values > -2)}
    assert found == pytest.approx(expected, abs=1e-6)
