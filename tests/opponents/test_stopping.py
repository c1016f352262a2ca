"""Stopped solvers: they stop, and give correct results afterwards, in other threads too."""

import itertools
import threading

import numpy as np
import pytest

from plainzero import make_game
from plainzero.opponents.agent import Stopped
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.opponents.connect_four.solver import ConnectFourSolver
from plainzero.opponents.perfect import PerfectAgent, make_solver, move_outcomes, outcomes_by

CONNECT_FOUR = make_game("connect-four")
SMALL = make_game("connect-four(rows=4,cols=5)")
TIC_TAC_TOE = make_game("tic-tac-toe")


@pytest.fixture
def short_steps(monkeypatch):
    """Solvers ask after a few positions, so that small searches are stopped in their middle."""
    monkeypatch.setattr("plainzero.opponents.alpha_beta._STEPS_PER_CALL", 20)
    monkeypatch.setattr("plainzero.opponents.connect_four.solver._NODES_PER_CALL", 20)


def stop_after(questions):
    """Returns False for the first `questions` calls, then True."""
    asked = itertools.count()
    return lambda: next(asked) >= questions


def go_on():
    return False


@pytest.mark.parametrize(("name", "plies"), [("tic-tac-toe", 2), ("dots-and-boxes", 3)])
def test_stopped_alpha_beta_then_solves_rightly(short_steps, random_positions, name, plies):
    game = make_game(name)
    (state,) = random_positions(game, 1, plies, seed=4)
    player = AlphaBeta(game, depth=8)
    for questions in range(8):
        with pytest.raises(Stopped, match="stopped before the result was found"):
            player.solve(state, stop_after(questions))
    expected = AlphaBeta(game, depth=8).solve(state).values
    assert np.array_equal(player.solve(state, go_on).values, expected, equal_nan=True)


@pytest.mark.parametrize(("name", "plies"), [("tic-tac-toe", 2), ("dots-and-boxes", 3)])
def test_stopped_alpha_beta_answers_with_the_last_whole_depth(
    short_steps, random_positions, name, plies
):
    game = make_game(name)
    (state,) = random_positions(game, 1, plies, seed=4)
    player, depths = AlphaBeta(game, depth=5), set()
    for questions in (0, 1, 8, 40, 10_000):
        found = player.analyse(state, stop_after(questions))
        alone = AlphaBeta(game, depth=found.depth).analyse(state)
        assert np.array_equal(found.values, alone.values, equal_nan=True)
        assert player.choose([state], 3, stop_after(questions))[0] in game.legal(state)
        depths.add(found.depth)
    assert min(depths) < max(depths) == 5


def test_alpha_beta_tells_of_every_depth_but_the_last():
    told = []
    state = TIC_TAC_TOE.new_state()
    found = AlphaBeta(TIC_TAC_TOE, depth=4).analyse(state, None, told.append)
    assert [analysis.depth for analysis in told] == [1, 2, 3]
    assert found.depth == 4
    assert np.array_equal(told[1].values, AlphaBeta(TIC_TAC_TOE, depth=2).analyse(state).values)


def test_stopped_alpha_beta_is_right_about_other_positions(short_steps, random_positions):
    player, stops = AlphaBeta(TIC_TAC_TOE, depth=9), 0
    for index, state in enumerate(random_positions(TIC_TAC_TOE, 20, 3, seed=8)):
        try:
            values = player.solve(state, stop_after(index)).values
        except Stopped:
            stops += 1
            continue
        expected = AlphaBeta(TIC_TAC_TOE, depth=9).solve(state).values
        assert np.array_equal(values, expected, equal_nan=True)
    assert 0 < stops < 20


def test_stopped_connect_four_solver_then_gives_the_right_answers(short_steps, random_positions):
    solver = ConnectFourSolver(SMALL)
    states = random_positions(SMALL, 4, 4, seed=1)
    for state, questions in itertools.product(states, range(4)):
        with pytest.raises(Stopped):
            solver.outcomes([state], None, stop_after(questions))
        with pytest.raises(Stopped):
            solver.solve(state, stop_after(questions))
    fresh = ConnectFourSolver(SMALL)
    assert np.array_equal(solver.outcomes(states, None, go_on), fresh.outcomes(states))
    assert [solver.solve(s, go_on) for s in states] == [fresh.solve(s) for s in states]


def test_a_stopped_solver_keeps_what_it_learned(short_steps, random_positions):
    (state,) = random_positions(SMALL, 1, 4, seed=1)
    fresh = ConnectFourSolver(SMALL)
    score = fresh.solve(state)
    questions = fresh.nodes // 20 - 2  # nearly as many as it takes
    assert questions > 20
    solver = ConnectFourSolver(SMALL)
    with pytest.raises(Stopped):
        solver.solve(state, stop_after(questions))
    before = solver.nodes
    assert solver.solve(state) == score
    assert solver.nodes - before < fresh.nodes // 2


@pytest.mark.parametrize("game", [TIC_TAC_TOE, SMALL])
def test_positions_before_the_stop_were_reported(random_positions, game):
    states, done = random_positions(game, 5, 5, seed=1), []
    with pytest.raises(Stopped):
        outcomes_by(
            make_solver(game), states, lambda count, _: done.append(count), lambda: len(done) == 2
        )
    assert done == [1, 2]


def test_a_stop_from_another_thread_is_seen(short_steps):
    # The empty board takes minutes without a book, so this test ends soon only by the stop.
    game = make_game("connect-four(rows=7,cols=6)")
    wanted = threading.Event()
    is_working = threading.Event()

    def stop():
        is_working.set()
        return wanted.is_set()

    def stop_it():
        is_working.wait()
        wanted.set()

    thread = threading.Thread(target=stop_it)
    thread.start()
    with pytest.raises(Stopped):
        move_outcomes(game, [game.new_state()], stop=stop)
    thread.join()


SOLVERS = {
    "alpha-beta": lambda: AlphaBeta(TIC_TAC_TOE, depth=9),
    "connect-four": lambda: ConnectFourSolver(make_game("connect-four(rows=4,cols=4)")),
}


@pytest.mark.parametrize("kind", SOLVERS)
def test_a_question_that_pauses_keeps_no_other_waiting(short_steps, kind):
    solver = SOLVERS[kind]()
    state, other = solver.game.new_state(), solver.game.new_state()
    solver.game.apply(other, 1)
    is_pausing, may_go_on, found = threading.Event(), threading.Event(), []

    def work():
        asked = itertools.count()

        def pause():
            if next(asked) == 3:  # in the middle of the work
                is_pausing.set()
                may_go_on.wait(60)
            return False

        found.append(outcomes_by(solver, [state], stop=pause))

    thread = threading.Thread(target=work)
    thread.start()
    is_pausing.wait()
    meanwhile = outcomes_by(solver, [other], stop=go_on)
    assert not found
    may_go_on.set()
    thread.join()
    assert np.array_equal(meanwhile, outcomes_by(SOLVERS[kind](), [other]))
    assert np.array_equal(found[0], outcomes_by(SOLVERS[kind](), [state]))


def test_perfect_player_can_be_stopped_and_then_plays_the_same(short_steps):
    player, states = PerfectAgent(TIC_TAC_TOE), [TIC_TAC_TOE.new_state()] * 3
    with pytest.raises(Stopped):
        player.choose(states, 2, stop_after(0))
    assert player.choose(states, 2, go_on) == player.choose(states, 2)


def test_an_error_leaves_the_solver_usable():
    player = AlphaBeta(TIC_TAC_TOE)
    with pytest.raises(ValueError, match="not one of tic-tac-toe"):
        player.solve(CONNECT_FOUR.new_state(), go_on)
    assert player.solve(TIC_TAC_TOE.new_state(), go_on).depth == 6
