"""Solved positions: every kind of search must find the right move."""

import functools
import random
from pathlib import Path

import numpy as np
import pytest

from plainzero import SearchConfig, make_game, search

TIC_TAC_TOE = make_game("tic-tac-toe")
CONNECT_FOUR = make_game("connect-four")
SETS = Path(__file__).parents[3] / "shared" / "data" / "connect4"


def position(game, moves):
    state = game.new_state()
    for move in moves.split():
        game.apply(state, game.parse_action(move))
    return state


@functools.cache
def minimax(board, to_play):
    """The value of a tic-tac-toe position for the player to move, by full search."""
    state = TIC_TAC_TOE.new_state()
    state.board[:] = np.reshape(board, (3, 3))
    state.to_play, state.turn = to_play, sum(mark != 0 for mark in board)
    values = action_values(state)
    return max(values.values())


def action_values(state):
    values = {}
    for action in TIC_TAC_TOE.legal(state):
        child = TIC_TAC_TOE.copy(state)
        TIC_TAC_TOE.apply(child, action)
        if child.is_over:
            values[action] = float(child.returns[state.to_play])
        else:
            values[action] = -minimax(tuple(child.board.ravel().tolist()), int(child.to_play))
    return values


@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
@pytest.mark.parametrize("selection", ["uct", "puct", "puct-log", "gumbel"])
@pytest.mark.parametrize(
    ("game", "moves", "best"),
    [
        (TIC_TAC_TOE, "a1 b1 a2 b2", "a3"),  # wins in one
        (TIC_TAC_TOE, "a1 b1 c3 b2", "b3"),  # blocks a loss in one
        (CONNECT_FOUR, "1 7 1 7 1 7", "1"),  # wins in one, a column
        (CONNECT_FOUR, "4 4 5 5 6 3", "7"),  # wins in one, a row
        (CONNECT_FOUR, "1 4 1 4 2 4", "4"),  # blocks a column
    ],
)
def test_win_in_one_is_taken_and_loss_in_one_is_blocked(game, moves, best, evaluator, selection):
    config = SearchConfig(simulations=400, selection=selection)
    result = search(game, position(game, moves), evaluator, config)
    assert game.action_name(result.best_action) == best


def play_games(first_mover, choose, games, config):
    """The search's results in `games` parallel games against `choose`."""
    states = [TIC_TAC_TOE.new_state() for _ in range(games)]
    running = list(states)
    for turn in range(9):
        if turn % 2 == first_mover:
            for state in running:
                TIC_TAC_TOE.apply(state, choose(state))
        else:
            for state, result in zip(
                running, search(TIC_TAC_TOE, running, "rollout", config, seed=turn), strict=True
            ):
                TIC_TAC_TOE.apply(state, result.best_action)
        running = [state for state in running if not state.is_over]
        if not running:
            break
    return [float(state.returns[1 - first_mover]) for state in states]


@pytest.mark.parametrize("first_mover", [0, 1])
def test_search_never_loses_tic_tac_toe_against_random_play(first_mover):
    generator = random.Random(first_mover)
    results = play_games(
        first_mover,
        lambda state: generator.choice(TIC_TAC_TOE.legal(state)),
        games=250,
        config=SearchConfig(simulations=1000),
    )
    assert len(results) == 250
    assert min(results) >= 0
    assert sum(results) > 200  # and usually wins


@pytest.mark.parametrize("first_mover", [0, 1])
def test_search_draws_tic_tac_toe_against_perfect_play(first_mover):
    generator = random.Random(first_mover)

    def perfect(state):
        values = action_values(state)
        best = max(values.values())
        return generator.choice([action for action, value in values.items() if value == best])

    results = play_games(first_mover, perfect, games=50, config=SearchConfig(simulations=4000))
    assert results == [0.0] * 50


def random_positions(count, seed, fewest=0):
    generator = random.Random(seed)
    while count:
        state = TIC_TAC_TOE.new_state()
        for _ in range(generator.randint(fewest, 6)):
            TIC_TAC_TOE.apply(state, generator.choice(TIC_TAC_TOE.legal(state)))
            if state.is_over:
                break
        else:
            count -= 1
            yield state


@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
def test_visits_converge_to_the_minimax_values(evaluator):
    states = list(random_positions(40, seed=1))
    for state, result in zip(
        states,
        search(TIC_TAC_TOE, states, evaluator, SearchConfig(simulations=20_000)),
        strict=True,
    ):
        values = action_values(state)
        assert values[result.best_action] == max(values.values())
        assert result.value == pytest.approx(max(values.values()), abs=0.25)


def test_proofs_equal_the_minimax_values():
    states = list(random_positions(60, seed=2, fewest=2))
    config = SearchConfig(simulations=200_000, proven_values=True)
    for state, result in zip(states, search(TIC_TAC_TOE, states, "uniform", config), strict=True):
        values = action_values(state)
        assert result.proven
        assert result.simulations < 200_000
        assert result.value == max(values.values())
        assert values[result.best_action] == max(values.values())
        for action, value in values.items():
            assert np.isnan(result.exact[action]) or result.exact[action] == value


@pytest.mark.skipif(not SETS.is_dir(), reason="needs the outside position sets in ../shared/data")
def test_proofs_agree_with_pons_connect_four_solver():
    states, signs = [], []
    for line in (SETS / "Test_L3_R1").read_text().splitlines()[:200]:
        moves, score = line.split()
        states.append(position(CONNECT_FOUR, " ".join(moves)))
        signs.append(np.sign(int(score)))
    config = SearchConfig(simulations=300_000, proven_values=True, max_bytes=1 << 33)
    results = search(CONNECT_FOUR, states, "uniform", config)
    assert sum(result.proven for result in results) > 190
    for result, sign in zip(results, signs, strict=True):
        assert not result.proven or result.value == sign
