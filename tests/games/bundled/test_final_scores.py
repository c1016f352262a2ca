"""Scores and ownership of finished games: by hand, by slow rules, and by OpenSpiel's boards."""

import math

import numpy as np
import pytest
import slow_go

from plainzero import make_game
from plainzero.games.check.final_scores import owned_cells
from plainzero.games.contract import has_ownership, has_score
from plainzero.games.position_setup import set_up_position


def finished(game, seed):
    """The end of a random game, and its moves."""
    generator, state, moves = np.random.default_rng(seed), game.new_state(), []
    while not state.is_over:
        moves.append(int(generator.choice(game.legal(state))))
        game.apply(state, moves[-1])
    return state, moves


def test_games_say_what_they_have():
    both = ["go", "othello", "dots-and-boxes"]
    assert all(has_score(make_game(name)) and has_ownership(make_game(name)) for name in both)
    assert has_ownership(make_game("hex")) and not has_score(make_game("hex"))
    assert not has_score(make_game("gomoku")) and not has_ownership(make_game("gomoku"))


def test_a_go_board_worked_out_by_hand():
    game = make_game("go(size=5,komi=0.5)")
    board = """
        . x . o .
        x x . o o
        . x . o .
        x x . o o
        . x . o .
    """
    cells = [line.split() for line in board.split("\n") if line.strip()]
    state = set_up_position(game, cells, 0)
    for _ in range(2):
        game.apply(state, game.num_points)  # a pass
    assert state.is_over and game.score(state) == -0.5  # ten points each
    expected = np.array([[1, 1, 0, -1, -1]] * 5).ravel()
    np.testing.assert_array_equal(owned_cells(game, state), expected)
    assert game.score(state) == -0.5  # it can be counted again


@pytest.mark.parametrize("size", [3, 5, 6])
def test_go_is_scored_as_by_the_slow_rules(size):
    game = make_game(f"go(size={size},komi=2.5)")
    for seed in range(12):
        state, _ = finished(game, seed)
        board = tuple(".xo"[stone] for stone in state.stones[:-1].tolist())
        before = game.copy(state)
        assert game.score(state) == slow_go.area_lead(size, board) - 2.5
        owned = owned_cells(game, state).reshape(size, size)[::-1].ravel()  # from a1
        assert owned.sum() == slow_go.area_lead(size, board)
        for point, stone in enumerate(board):
            if stone != ".":
                assert owned[point] == {"x": 1, "o": -1}[stone]
                continue
            inside, around = slow_go.region(size, board, point)
            colours = {board[near] for near in around}
            assert {owned[p] for p in inside} == {
                {"x": 1, "o": -1}[min(colours)] if len(colours) == 1 else 0
            }
        assert state == before  # counting leaves no trace
        assert abs(game.score(state)) <= game.largest_score == size * size + 2.5


@pytest.mark.parametrize("size", [4, 6, 8])
def test_othello_is_scored_by_the_discs_that_are_drawn(size):
    game = make_game(f"othello(size={size})")
    for seed in range(10):
        state, _ = finished(game, seed)
        drawn = [text for row in game.view(state).cells for text in row]
        x, o, empty = (drawn.count(text) for text in "xo.")
        lead = x - o + empty * int(np.sign(x - o))
        assert game.score(state) == lead and np.sign(lead) == state.returns[0]
        owned = [{"x": 1, "o": -1, ".": 0}[text] for text in drawn]
        assert owned_cells(game, state).tolist() == owned


def test_an_othello_without_discs_of_one_side_is_won_by_the_whole_board():
    game = make_game("othello(size=4)")
    state = set_up_position(game, [[*"xxx."], [*"xxxx"], [*"x..."], [*"...."]], 1)
    assert state.is_over and game.score(state) == 16 == game.largest_score


@pytest.mark.slow
def test_othello_is_scored_as_openspiel_draws_it():
    pyspiel = pytest.importorskip("pyspiel")
    game = make_game("othello")
    for seed in range(5):
        state, moves = finished(game, seed)
        theirs = pyspiel.load_game("othello").new_initial_state()
        for move in moves:
            theirs.apply_action(move)
        rows = [line.split()[1:9] for line in str(theirs).splitlines() if line[:1].isdigit()]
        discs = [text for row in rows for text in row]
        assert theirs.is_terminal() and len(discs) == 64
        owned = [{"x": 1, "o": -1, "-": 0}[text] for text in discs]
        assert owned_cells(game, state).tolist() == owned
        assert np.sign(game.score(state)) == np.sign(sum(owned)) == np.sign(theirs.returns()[0])


@pytest.mark.parametrize("shape", ["rows=2,cols=2", "rows=1,cols=3", "rows=3,cols=2"])
def test_dots_and_boxes_are_scored_by_the_boxes_that_are_drawn(shape):
    game = make_game(f"dots-and-boxes({shape})")
    for seed in range(10):
        state, _ = finished(game, seed)
        drawn = np.array(game.view(state).cells)
        x, o = (drawn == "x").sum(), (drawn == "o").sum()
        assert x + o == game.rows * game.cols == game.largest_score
        assert game.score(state) == x - o
        expected = (drawn == "x").astype(int) - (drawn == "o")
        np.testing.assert_array_equal(owned_cells(game, state), expected.ravel())


@pytest.mark.parametrize("name", ["hex(size=4)", "hex(size=5,swap=true)"])
def test_the_stones_of_hex_are_owned(name):
    game = make_game(name)
    for seed in range(5):
        state, _ = finished(game, seed)
        drawn = [text for row in game.view(state).cells for text in row]
        owned = [{"x": 1, "o": -1, ".": 0}[text] for text in drawn]
        assert owned_cells(game, state).tolist() == owned
        assert math.prod(game.observation_shape[1:]) == len(owned)
