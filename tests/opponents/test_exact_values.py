"""Exact values of Pig and sensor-jammer against plain expectiminimax and published results."""

import random

import numpy as np
import pytest

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.games.bundled.pig import HOLD, ROLL
from plainzero.games.contract import CHANCE
from plainzero.opponents.exact_values import exact_values, has_exact_values

SMALL = (
    "pig(target=7,die=3,horizon=9)",
    "pig(target=6,die=4,horizon=1)",
    "sensor-jammer(sectors=5,rings=2,fixes=2,energy=1,rounds=3)",
)


def expectiminimax(game, state, known):
    """The first player's expected return, by recursion over everything that can follow."""
    key = state.tobytes()
    if key not in known:
        known[key] = follow(game, state, known)
    return known[key]


def follow(game, state, known):
    if state.is_over:
        return float(state.returns[0])
    if state.to_play == CHANCE:
        return sum(
            p * expectiminimax(game, after(game, state, a), known) for a, p in game.chances(state)
        )
    values = [expectiminimax(game, after(game, state, a), known) for a in game.legal(state)]
    return max(values) if state.to_play == 0 else min(values)


def after(game, state, action):
    state = game.copy(state)
    game.apply(state, action)
    return state


@pytest.mark.parametrize("name", SMALL)
def test_values_equal_those_of_plain_expectiminimax(name):
    game, known, generator = make_game(name), {}, random.Random(1)
    values = exact_values(game)
    expectiminimax(game, game.new_state(), known)
    assert values.value(game.new_state()) == pytest.approx(known[game.new_state().tobytes()])
    for _ in range(30):
        state = game.new_state()
        while not state.is_over:
            assert values.value(state) == pytest.approx(expectiminimax(game, state, known))
            actions = (
                [a for a, _ in game.chances(state)]
                if state.to_play == CHANCE
                else game.legal(state)
            )
            game.apply(state, generator.choice(actions))


@pytest.mark.slow
def test_pig_to_100_has_the_published_value_and_first_hold():
    """Neller and Presser: the first player wins 53.06 %; at 0 to 0, roll at 20 and hold at 21."""
    game = make_game("pig")
    values, state = exact_values(game), game.new_state()
    assert round((1 + values.value(state)) / 2, 4) == 0.5306
    best = []
    for state.total in (20, 21):
        best.append(int(np.nanargmax(values.moves(state))))
    assert best == [ROLL, HOLD]


def test_a_pig_that_runs_out_of_time_counts_its_last_decisions():
    game = make_game("pig(target=20,horizon=1000)")
    values, state = exact_values(game), game.new_state()
    state.scores[:] = 18, 18
    early = values.value(state)
    state.decisions = 998  # roll, then hold what wins
    assert values.value(state) == pytest.approx(5 / 6)
    assert early < values.value(state)  # the opponent has no turn
    state.decisions = 999
    assert values.value(state) == 0.0


@pytest.mark.slow
def test_the_attacker_wins_as_often_as_the_games_page_says():
    game = make_game("sensor-jammer")
    assert (1 + exact_values(game).value(game.new_state())) / 2 == pytest.approx(0.519, abs=5e-4)


def test_perfect_plays_the_best_moves_of_a_solved_game_with_chance():
    game = make_game(SMALL[2])
    agent, values = parse_agent("perfect", game), exact_values(game)
    state = after(game, after(game, game.new_state(), 0), 2)
    moves = values.moves(state)
    assert moves[agent.choose([state], 3)[0]] == pytest.approx(np.nanmax(moves))
    assert np.isnan(moves).sum() == game.num_actions - len(game.legal(state))


def test_other_games_have_no_exact_values():
    for name in ("tic-tac-toe", "2048", "pig(target=201)"):
        assert not has_exact_values(make_game(name))
        with pytest.raises(ValueError, match="there are no exact values of"):
            exact_values(make_game(name))
