"""The exact solver, compared with published scores, and with plain minimax on small boards."""

import functools
from pathlib import Path

import numpy as np
import pytest

from plainzero import make_game
from plainzero.opponents.connect_four.kernels import ILLEGAL
from plainzero.opponents.connect_four.solver import ConnectFourSolver

GAME = make_game("connect-four")
SETS = Path(__file__).parents[4] / "shared" / "data" / "connect4"
NAMES = ("Test_L3_R1", "Test_L2_R1", "Test_L2_R2")


def position(moves, game=GAME):
    state = game.new_state()
    for move in moves:
        game.apply(state, game.parse_action(move))
    return state


@pytest.fixture(scope="module")
def compiled():
    solver = ConnectFourSolver(GAME)
    late = position("2252576253462244111563365343671351441")
    assert solver.solve(late) == -1
    solver.outcomes([late])


@pytest.mark.skipif(not SETS.is_dir(), reason="needs the outside position sets in ../shared/data")
@pytest.mark.parametrize("name", NAMES)
def test_all_published_scores_agree(compiled, name):
    lines = [line.split() for line in (SETS / name).read_text().splitlines()]
    states = [position(moves) for moves, _ in lines]
    solver = ConnectFourSolver(GAME)
    scores = [solver.solve(state) for state in states]
    assert len(scores) == 1000
    assert scores == [int(score) for _, score in lines]


@pytest.mark.skipif(not SETS.is_dir(), reason="needs the outside position sets in ../shared/data")
@pytest.mark.parametrize("name", ["Test_L3_R1", "Test_L2_R1"])
def test_best_outcome_is_the_sign_of_the_published_score(compiled, name):
    lines = [line.split() for line in (SETS / name).read_text().splitlines()][:300]
    outcomes = ConnectFourSolver(GAME).outcomes([position(moves) for moves, _ in lines])
    assert outcomes.max(axis=1).tolist() == [np.sign(int(score)) for _, score in lines]


def plain_score(game):
    """The score by full search, cached by the stones."""

    @functools.cache
    def score(own, other, turn):
        state = game.new_state()
        state.to_play, state.turn = turn % 2, turn
        state.stones[state.to_play], state.stones[1 - state.to_play] = own, other
        best = -game.max_turns
        for action in game.legal(state):
            best = max(best, after(state, action, score))
        return best

    return lambda state: score(
        int(state.stones[state.to_play]), int(state.stones[1 - state.to_play]), int(state.turn)
    )


def after(state, action, score):
    """The mover's score of a move, from the `score` of the position after it."""
    game = next(game for game in (SMALL, WIDE, GAME) if game.dtype == state.dtype)
    child = game.copy(state)
    game.apply(child, action)
    if child.is_over:
        stones_left = (game.max_turns - int(state.turn) + 1) // 2
        return stones_left if child.returns[state.to_play] > 0 else 0
    return -score(
        int(child.stones[child.to_play]), int(child.stones[1 - child.to_play]), int(child.turn)
    )


SMALL = make_game("connect-four(rows=4,cols=4)")
WIDE = make_game("connect-four(rows=2,cols=6)")


@pytest.mark.parametrize(("game", "plies"), [(SMALL, 6), (SMALL, 9), (WIDE, 3)])
def test_other_boards_agree_with_plain_minimax(random_positions, game, plies):
    score, solver = plain_score(game), ConnectFourSolver(game)
    states = random_positions(game, 12, plies, seed=plies)
    outcomes = solver.outcomes(states)
    for state, row in zip(states, outcomes, strict=True):
        assert solver.solve(state) == score(state)
        legal = set(game.legal(state))
        for action in range(game.num_actions):
            if action not in legal:
                assert row[action] == ILLEGAL
                continue
            child = game.copy(state)
            game.apply(child, action)
            value = np.sign(child.returns[state.to_play] if child.is_over else -score(child))
            assert row[action] == value


def test_boards_that_fill_64_bits_are_solved(random_positions):
    game = make_game("connect-four(rows=7,cols=8)")
    for state in random_positions(game, 5, 44, seed=3):
        small, large = ConnectFourSolver(game, 1 << 18), ConnectFourSolver(game, 1 << 24)
        assert small.solve(state) == large.solve(state)
        assert np.array_equal(small.outcomes([state]), large.outcomes([state]))
        assert small.outcomes([state]).max() == np.sign(small.solve(state))


def test_table_of_another_size_changes_no_outcome(random_positions):
    states = random_positions(GAME, 40, 20, seed=5)
    small, large = ConnectFourSolver(GAME, 1 << 18), ConnectFourSolver(GAME, 1 << 24)
    assert np.array_equal(small.outcomes(states), large.outcomes(states))


def test_a_search_in_slices_gives_the_same_result(monkeypatch, random_positions):
    states = random_positions(GAME, 5, 18, seed=6)
    whole = ConnectFourSolver(GAME)
    scores, outcomes = [whole.solve(state) for state in states], whole.outcomes(states)
    monkeypatch.setattr("plainzero.opponents.connect_four.solver._NODES_PER_CALL", 97)
    sliced = ConnectFourSolver(GAME)
    assert [sliced.solve(state) for state in states] == scores
    assert np.array_equal(sliced.outcomes(states), outcomes)
    assert sliced.nodes > 970


def test_invalid_boards_and_positions_are_refused():
    with pytest.raises(ValueError, match="in_a_row must be 4"):
        ConnectFourSolver(make_game("connect-four(in_a_row=3)"))
    with pytest.raises(ValueError, match="too small; give 262144"):
        ConnectFourSolver(GAME, table_bytes=1000)
    with pytest.raises(ValueError, match="over"):
        ConnectFourSolver(GAME).solve(position("1212121"))
    with pytest.raises(ValueError, match="not one of connect-four"):
        ConnectFourSolver(GAME).solve(make_game("tic-tac-toe").new_state())
