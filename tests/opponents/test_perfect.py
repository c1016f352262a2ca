"""Perfect play and random play."""

import random
from pathlib import Path

import numpy as np
import pytest
from minimax import minimax_values

from plainzero import Game, make_game
from plainzero.opponents.connect_four.kernels import ILLEGAL
from plainzero.opponents.perfect import PerfectAgent, best_moves, has_perfect, move_outcomes
from plainzero.opponents.random_agent import RandomAgent

PONS = Path(__file__).parents[3] / "shared" / "data" / "connect4"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tic-tac-toe", True),
        ("connect-four", True),
        ("connect-four(rows=4,cols=5)", True),
        ("connect-four(rows=7,cols=8)", False),
        ("connect-four(in_a_row=3)", False),
        ("dots-and-boxes", True),
        ("dots-and-boxes(rows=3,cols=3)", True),
        ("dots-and-boxes(rows=4,cols=3)", False),
        ("trio(size=3)", False),  # three players
        ("2048(size=2,target=8)", False),  # chance
    ],
)
def test_small_games_of_two_players_have_a_solver(name, expected):
    game = make_game(name)
    assert has_perfect(game) == expected
    if not expected:
        with pytest.raises(ValueError, match="there is no solver for"):
            PerfectAgent(game)
        with pytest.raises(ValueError, match="there is no solver for"):
            move_outcomes(game, [game.new_state()])


@pytest.mark.parametrize(
    ("name", "plies"), [("tic-tac-toe", 3), ("dots-and-boxes", 6), ("connect-four", 36)]
)
def test_outcomes_equal_those_of_plain_minimax(random_positions, name, plies):
    game = make_game(name)
    states = random_positions(game, 5, plies, seed=2)
    for state, row in zip(states, move_outcomes(game, states), strict=True):
        values = minimax_values(game, state, game.max_turns)
        expected = [int(np.sign(values.get(a, ILLEGAL))) for a in range(game.num_actions)]
        assert np.sign(row).tolist() == expected
        assert (row == ILLEGAL).tolist() == [a not in values for a in range(game.num_actions)]


def play_game(game, agents, seed):
    generator, state = random.Random(seed), game.new_state()
    while not state.is_over:
        (action,) = agents[state.to_play].choose([state], generator.getrandbits(30))
        game.apply(state, action)
    return float(state.returns[0])


def test_perfect_agents_draw_tic_tac_toe():
    game = make_game("tic-tac-toe")
    agent = PerfectAgent(game)
    assert [play_game(game, [agent, agent], seed) for seed in range(20)] == [0.0] * 20


@pytest.mark.parametrize("seat", [0, 1])
def test_perfect_play_beats_random_play(seat):
    game = make_game("tic-tac-toe")
    agents = [RandomAgent(game), RandomAgent(game)]
    agents[seat] = PerfectAgent(game)
    results = [play_game(game, agents, seed) * (1 - 2 * seat) for seed in range(40)]
    assert min(results) >= 0.0
    assert sum(results) > 20


def test_perfect_play_varies_only_with_the_seed():
    game = make_game("tic-tac-toe")
    agent, states = PerfectAgent(game), [make_game("tic-tac-toe").new_state()] * 4
    chosen = {tuple(agent.choose(states, seed)) for seed in range(10)}
    assert len(chosen) > 5
    assert agent.choose(states, 3) == agent.choose(states, 3)


def after(game, names):
    state = game.new_state()
    for name in names:
        game.apply(state, game.parse_action(name))
    return state


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ("112233", "4"),  # wins at once, though other moves win later
        ("11223", "4"),  # the only move that does not lose at once
        ("3344", "25"),  # an open three wins with the next stone
    ],
)
def test_the_quickest_win_and_the_only_defence_are_played(moves, best):
    game = make_game("connect-four")
    assert best_moves(game, after(game, moves)) == [int(column) - 1 for column in best]


def test_a_lost_opening_prevents_the_open_three():
    game = make_game("connect-four")
    state = after(game, "413")  # the second player has lost, and 2 or 5 threatens two fours
    assert move_outcomes(game, [state]).max() == -1
    assert set(best_moves(game, state)) <= {1, 4, 5}


def test_a_lost_position_of_tic_tac_toe_blocks_the_line():
    game = make_game("tic-tac-toe")
    state = game.new_state()
    for action in (0, 1, 4):
        game.apply(state, action)
    assert move_outcomes(game, [state]).max() == -1
    assert best_moves(game, state) == [8]


def plies_to_the_end(game, state):
    """The plies that the game lasts with perfect play, by plain minimax."""

    def judge(state):
        if state.is_over:
            return float(state.returns[0]), 0
        sign = 1 if state.to_play == 0 else -1
        found = []
        for action in game.legal(state):
            child = game.copy(state)
            game.apply(child, action)
            value, plies = judge(child)
            found.append((sign * value, plies + 1))
        best = max(value for value, _ in found)
        lengths = [plies for value, plies in found if value == best]
        return sign * best, (min if best > 0 else max)(lengths)

    return judge(state)


@pytest.mark.parametrize(
    ("name", "plies"), [("tic-tac-toe", 4), ("connect-four(rows=4,cols=4)", 8), ("hex(size=3)", 3)]
)
def test_decided_games_last_as_long_as_minimax_says(random_positions, name, plies):
    game = make_game(name)
    checked = 0
    for state in random_positions(game, 30, plies, seed=4):
        value, length = plies_to_the_end(game, state)
        for action in best_moves(game, state) if value else []:
            child = game.copy(state)
            game.apply(child, action)
            assert plies_to_the_end(game, child) == (value, length - 1)
            checked += 1
    assert checked >= 8


@pytest.mark.parametrize("name", ["Test_L3_R1", "Test_L2_R1"])
def test_perfect_games_last_as_long_as_the_published_scores_say(name):
    if not (PONS / name).exists():
        pytest.skip("needs Pascal Pons' positions in ../shared/data")
    game = make_game("connect-four")
    agent = PerfectAgent(game)
    lines = [line.split() for line in (PONS / name).read_text().splitlines()]
    decided = [(moves, int(score)) for moves, score in lines if score != "0"][:40]
    for moves, score in decided:
        state = after(game, moves)
        mover = int(state.to_play)
        while not state.is_over:
            game.apply(state, agent.choose([state], seed=1)[0])
        assert np.sign(state.returns[mover]) == np.sign(score)
        winner = int(np.argmax(state.returns))
        # A win with the last stone scores 1, with the one before it 2, and so on.
        assert 22 - int(state.stones[winner]).bit_count() == abs(score), moves


def test_random_play_uses_every_legal_move_and_its_seed():
    game = make_game("connect-four")
    agent, states = RandomAgent(game), [make_game("connect-four").new_state()] * 100
    assert set(agent.choose(states, seed=0)) == set(range(7))
    assert agent.choose(states, seed=0) == agent.choose(states, seed=0)
    assert agent.choose(states, seed=0) != agent.choose(states, seed=1)


def test_positions_without_a_choice_are_refused():
    game: Game = make_game("tic-tac-toe")
    state = game.new_state()
    for action in (0, 3, 1, 4, 2):
        game.apply(state, action)
    for agent in (RandomAgent(game), PerfectAgent(game)):
        with pytest.raises(ValueError, match="no move can be chosen in position 1: the game is"):
            agent.choose([game.new_state(), state], seed=0)
