"""Numbers of games by depth ("perft"), from published tables."""

import numba
import numpy as np
import pytest

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games import make_game, rules

# 9·8·7·6·5 games of five plays, and so on, those that ended earlier left out.
TIC_TAC_TOE = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
CONNECT_FOUR = [7, 49, 343, 2401, 16807, 117649, 823536]
DOTS_AND_BOXES = [12, 132, 1320, 11880, 95040, 665280]

OTHELLO = [4, 12, 56, 244, 1396, 8200, 55092, 390216]


@Kernel
def _count(states, actions, visited, depth):
    """Games of `depth` plays from states[0]: a walk with a row of scratch for each play."""
    total, ply = 0, 0
    visited[0] = 0
    count = np.zeros(depth + 1, np.int64)
    count[0] = rules.legal_actions(states[0], actions[0])
    while ply >= 0:
        if visited[ply] == count[ply]:
            ply -= 1
            continue
        states[ply + 1] = states[ply]
        rules.play(states[ply + 1], actions[ply, visited[ply]])
        visited[ply] += 1
        if ply + 1 == depth:
            total += 1
        elif not states[ply + 1].is_over:
            ply += 1
            visited[ply] = 0
            count[ply] = rules.legal_actions(states[ply], actions[ply])
    return total


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tic-tac-toe", TIC_TAC_TOE),
        ("connect-four", CONNECT_FOUR),
        ("dots-and-boxes", DOTS_AND_BOXES),
        ("othello", OTHELLO),
    ],
)
def test_number_of_games_by_depth(name: str, expected: list[int]) -> None:
    game = make_game(name)
    tag = rules.register(game)
    counted = []
    if numba.config.DISABLE_JIT:
        expected = expected[:3]
    for depth in range(1, len(expected) + 1):
        states = np.zeros(depth + 1, game.dtype)
        states[0] = game.new_state()
        actions = np.zeros((depth, game.num_actions), np.int32)
        counted.append(_count(tag, states, actions, np.zeros(depth + 1, np.int64), depth))
    assert counted == expected


def test_openspiel_counts_the_same_games_of_tic_tac_toe() -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

    def count(state: object, depth: int) -> int:
        if depth == 0 or state.is_terminal():
            return int(depth == 0)
        return sum(count(state.child(action), depth - 1) for action in state.legal_actions())

    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    assert [count(state, depth) for depth in range(1, 6)] == TIC_TAC_TOE[:5]
