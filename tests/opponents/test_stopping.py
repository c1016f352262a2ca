"""Solvers can be stopped, and give correct results afterwards, also in other threads."""

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
    """Solvers call `stop` every few positions, so that even small searches can be stopped."""
    monkeypatch.setattr("plainzero.opponents.alpha_beta._STEPS_PER_CALL", 20)
    monkeypatch.setattr("plainzero.opponents.connect_four.solver._NODES_PER_CALL", 20)


def stop_after(calls):
    """Returns False for the first `calls` calls, then True."""
    made = itertools.count()
    return lambda: next(made) >= calls


def never():
    return False


@pytest.mark.parametrize(("name", "plies"), [("tic-tac-toe", 2), ("dots-and-boxes", 3)])
def test_stopped_alpha_beta_then_solves_correctly(short_steps, random_positions, name, plies):
    game = make_game(name)
    (state,) = random_positions(game, 1, plies, seed=4)
    agent = AlphaBeta(game, depth=8)
    for calls in range(8):
        with pytest.raises(Stopped, match="stopped before the result was found"):
            agent.solve(state, stop_after(calls))
    expected = AlphaBeta(game, depth=8).solve(state).values
    assert np.array_equal(agent.solve(state, never).values, expected, equal_nan=True)


@pytest.mark.parametrize(("name", "plies"), [("tic-tac-toe", 2), ("dots-and-boxes", 3)])
def test_stopped_alpha_beta_answers_with_the_last_whole_depth(
    short_steps, random_positions, name, plies
):
    game = make_game(name)
    (state,) = random_positions(game, 1, plies, seed=4)
    agent, depths = AlphaBeta(game, depth=5), set()
    for calls in (0, 1, 8, 40, 10_000):
        found = agent.analyse(state, stop_after(calls))
        alone = AlphaBeta(game, depth=found.depth).analyse(state)
        assert np.array_equal(found.values, alone.values, equal_nan=True)
        assert agent.choose([state], 3, stop_after(calls))[0] in game.legal(state)
        depths.add(found.depth)
    assert min(depths) < max(depths) == 5


def test_alpha_beta_reports_every_depth_but_the_last():
    reported = []
    state = TIC_TAC_TOE.new_state()
    found = AlphaBeta(TIC_TAC_TOE, depth=4).analyse(state, None, reported.append)
    assert [analysis.depth for analysis in reported] == [1, 2, 3]
    assert found.depth == 4
    assert np.array_equal(reported[1].values, AlphaBeta(TIC_TAC_TOE, depth=2).analyse(state).values)


def test_stopped_alpha_beta_is_right_about_other_positions(short_steps, random_positions):
    agent, stops = AlphaBeta(TIC_TAC_TOE, depth=9), 0
    for index, state in enumerate(random_positions(TIC_TAC_TOE, 20, 3, seed=8)):
        try:
            values = agent.solve(state, stop_after(index)).values
        except Stopped:
            stops += 1
            continue
        expected = AlphaBeta(TIC_TAC_TOE, depth=9).solve(state).values
        assert np.array_equal(values, expected, equal_nan=True)
    assert 0 < stops < 20


def test_stopped_connect_four_solver_then_gives_the_right_answers(short_steps, random_positions):
    solver = ConnectFourSolver(SMALL)
    states = random_positions(SMALL, 4, 4, seed=1)
    for state, calls in itertools.product(states, range(4)):
        with pytest.raises(Stopped):
            solver.outcomes([state], None, stop_after(calls))
        with pytest.raises(Stopped):
            solver.solve(state, stop_after(calls))
    fresh = ConnectFourSolver(SMALL)
    assert np.array_equal(solver.outcomes(states, None, never), fresh.outcomes(states))
    assert [solver.solve(s, never) for s in states] == [fresh.solve(s) for s in states]


def test_a_stopped_solver_keeps_what_it_learned(short_steps, random_positions):
    (state,) = random_positions(SMALL, 1, 4, seed=1)
    fresh = ConnectFourSolver(SMALL)
    score = fresh.solve(state)
    calls = fresh.nodes // 20 - 2  # nearly as many as the solution needs
    assert calls > 20
    solver = ConnectFourSolver(SMALL)
    with pytest.raises(Stopped):
        solver.solve(state, stop_after(calls))
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
    # Without a book the empty board takes minutes, so only the stop ends this test soon.
    game = make_game("connect-four(rows=7,cols=6)")
    is_requested = threading.Event()
    is_working = threading.Event()

    def stop():
        is_working.set()
        return is_requested.is_set()

    def request_stop():
        is_working.wait()
        is_requested.set()

    thread = threading.Thread(target=request_stop)
    thread.start()
    with pytest.raises(Stopped):
        move_outcomes(game, [game.new_state()], stop=stop)
    thread.join()


SOLVERS = {
    "alpha-beta": lambda: AlphaBeta(TIC_TAC_TOE, depth=9),
    "connect-four": lambda: ConnectFourSolver(make_game("connect-four(rows=4,cols=4)")),
}


@pytest.mark.parametrize("kind", SOLVERS)
def test_a_paused_search_does_not_block_others(short_steps, kind):
    solver = SOLVERS[kind]()
    state, other = solver.game.new_state(), solver.game.new_state()
    solver.game.apply(other, 1)
    is_pausing, may_continue, found = threading.Event(), threading.Event(), []

    def work():
        made = itertools.count()

        def pause():
            if next(made) == 3:  # in the middle of the search
                is_pausing.set()
                may_continue.wait(500)  # forever, except in a test that fails
            return False

        found.append(outcomes_by(solver, [state], stop=pause))

    thread = threading.Thread(target=work)
    thread.start()
    is_pausing.wait()
    concurrent = outcomes_by(solver, [other], stop=never)
    assert not found
    may_continue.set()
    thread.join()
    assert np.array_equal(concurrent, outcomes_by(SOLVERS[kind](), [other]))
    assert np.array_equal(found[0], outcomes_by(SOLVERS[kind](), [state]))


def test_perfect_player_can_be_stopped_and_then_plays_the_same(short_steps):
    agent, states = PerfectAgent(TIC_TAC_TOE), [TIC_TAC_TOE.new_state()] * 3
    with pytest.raises(Stopped):
        agent.choose(states, 2, stop_after(0))
    assert agent.choose(states, 2, never) == agent.choose(states, 2)


def test_an_error_leaves_the_solver_usable():
    agent = AlphaBeta(TIC_TAC_TOE)
    with pytest.raises(ValueError, match="not one of tic-tac-toe"):
        agent.solve(CONNECT_FOUR.new_state(), never)
    assert agent.solve(TIC_TAC_TOE.new_state(), never).depth == 6
