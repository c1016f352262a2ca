"""Positions set up by hand: possible and impossible ones, and how the game continues."""

import random
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stranger_games import Strangers

from plainzero.games import make_game
from plainzero.games.bundled.dots_and_boxes import DotsAndBoxes
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.bundled.twenty_forty_eight import TwentyFortyEight
from plainzero.games.check.random_play import first_difference
from plainzero.games.contract import CHANCE, Game, Grid, field
from plainzero.games.position_setup import can_set_up, cell_texts, set_up_position

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = [
    "tic-tac-toe",
    "tic-tac-toe(size=4)",
    "connect-four",
    "connect-four(rows=4,cols=5,in_a_row=3)",
    "dots-and-boxes",
    "dots-and-boxes(rows=1,cols=3)",
    "trio",
    "trio(size=5,in_a_row=4)",
    "2048",
    "2048(size=2)",
]


class DrawnBack2048(TwentyFortyEight):
    """2048 without its own set_up."""

    set_up = Game.set_up


class Countdown(TicTacToe):
    """Ends after six moves, counted in a field that nobody sees."""

    def fields(self):
        return {**super().fields(), "left": field(np.int8)}

    def reset(self, state):
        state.left = 6

    def play(self, state, action):
        super().play(state, action)
        state.left -= 1
        if state.left == 0 and not state.is_over:
            self.draw(state)


class PlusAndMinus(TicTacToe):
    """The second player's marks are -1, as many write them."""

    def play(self, state, action):
        row, col = action // self.size, action % self.size
        state.board[row, col] = 1 - 2 * state.to_play
        if self.has_line(state, row, col):
            self.win(state, state.to_play)
        elif state.turn + 1 == self.num_actions:
            self.draw(state)
        self.end_turn(state)

    def view(self, state):
        cells = [[{0: ".", 1: "x", -1: "o"}[int(mark)] for mark in row] for row in state.board]
        return Grid(cells, np.arange(9).reshape(3, 3).tolist())


class Confused(TicTacToe):
    """Its own set_up puts every piece where it does not belong, or trips over them."""

    def set_up(self, state, cells):
        if cells[2][2] == "o":
            raise KeyError("lost")
        state.board[:] = [[".xo".find(text) for text in row[::-1]] for row in cells]


class Unseen(TicTacToe):
    """It could be set up, if it were drawn."""

    def view(self, state):
        return None

    def set_up(self, state, cells):
        state.board[0, 0] = 1


class CountedBoxes(DotsAndBoxes):
    """Writes down what is played."""

    plays: ClassVar[list[int]] = []

    def play(self, state, action):
        self.plays.append(action)
        super().play(state, action)


def board(text):
    return [list(row) for row in text.split("/")]


def tiles(text):
    return [row.split() for row in text.split("/")]


@given(st.sampled_from(GAMES), st.integers(0, 2**32 - 1), st.integers(0, 60))
def test_positions_of_random_games_can_be_made_by_hand(name, seed, plies):
    game, chance = make_game(name), random.Random(seed)
    state = game.new_state()
    while not state.is_over and (state.turn < plies or state.to_play == CHANCE):
        game.apply(state, chance.choice(game.legal(state)))
    to_play = max(0, int(state.to_play))
    assume(game.num_players > 1 or not state.is_over)  # a finished board of 2048 is nobody's turn
    made = set_up_position(game, game.view(state).cells, to_play)
    if game.num_players == 1:
        made.score, made.turn = state.score, state.turn  # which the board does not tell
    assert first_difference(game, made, state) is None


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("tic-tac-toe", [".", "x", "o"]),
        ("connect-four", [".", "x", "o"]),
        ("dots-and-boxes", [" ", "x", "o", "-", "|"]),
        ("dots-and-boxes(rows=9,cols=9)", [" ", "x", "o", "-", "|"]),
        ("trio", [".", "x", "o", "z"]),
        ("2048(target=64)", [".", "2", "4", "8", "16", "32"]),
        ("2048(size=2)", [".", "2", "4", "8", "16", "32"]),
    ],
)
def test_cells_can_have_these_texts(name, texts):
    found = cell_texts(make_game(name))
    assert found[0] == texts[0]
    assert sorted(found) == sorted(texts)


@pytest.mark.parametrize("game", [TicTacToe(), PlusAndMinus()], ids=lambda game: game.name)
def test_a_board_of_numbers_needs_no_method(game):
    assert cell_texts(game) == [".", "x", "o"]
    state = set_up_position(game, board("xo./.x./..o"), 0)
    game.apply(state, 2)
    assert game.view(state).cells == board("xox/.x./..o")
    assert state.turn == 5


def test_a_board_of_tiles_needs_no_method():
    game = DrawnBack2048(target=64)
    assert cell_texts(game) == [".", "2", "4", "8", "16", "32", "64"]
    state = set_up_position(game, tiles("2 2 . ./. . . ./. . . ./. . . 8"), 0)
    game.apply(state, game.parse_action("left"))
    assert game.view(state).cells == tiles("4 . . ./. . . ./. . . ./8 . . .")


@pytest.mark.parametrize(
    "game",
    [make_game(f"{EXAMPLES / 'nim.py'}:Nim"), Strangers(), Countdown(), Unseen()],
    ids=lambda game: game.name,
)
def test_a_game_that_draws_less_than_it_knows_cannot_be_made_by_hand(game):
    assert not can_set_up(game)
    assert cell_texts(game) == []
    with pytest.raises(ValueError, match="cannot be set up by hand: its board does not show"):
        set_up_position(game, board(".../.../..."), 0)


@pytest.mark.parametrize(
    ("name", "cells", "to_play", "returns"),
    [
        ("tic-tac-toe", "xxx/oo./...", 1, [1, -1]),
        ("tic-tac-toe", "xxx/oo./...", 0, [1, -1]),
        ("tic-tac-toe", "ooo/xx./..x", 0, [-1, 1]),
        ("tic-tac-toe", "xox/xxo/oxo", 1, [0, 0]),
        ("tic-tac-toe", "xxx/oxo/oox", 0, [1, -1]),
        ("trio", "xxx./oo../zz../....", 1, [1, -0.5, -0.5]),
        ("trio", "xx../oo../zzz./x.o.", 0, [-0.5, -0.5, 1]),
        ("connect-four(rows=4,cols=4)", "..../..../ooo./xxxx", 1, [1, -1]),
        ("connect-four(rows=4,cols=4)", "o.../xo../oxo./xxxo", 0, [-1, 1]),
        ("connect-four(rows=2,cols=2,in_a_row=2)", "xo/ox", 0, None),
        ("connect-four(rows=2,cols=2,in_a_row=3)", "xo/ox", 0, [0, 0]),
        ("dots-and-boxes(rows=1,cols=2)", "+-+-+/|x|x|/+-+-+", 1, [1, -1]),
        ("dots-and-boxes(rows=1,cols=2)", "+-+-+/|x|o|/+-+-+", 1, [0, 0]),
    ],
)
def test_a_position_that_a_last_move_ended_is_over(name, cells, to_play, returns):
    state = set_up_position(make_game(name), board(cells), to_play)
    assert state.is_over
    if returns is not None:
        assert state.returns.tolist() == returns


def test_a_line_covered_by_later_stones_is_over_too():
    game = make_game("connect-four(rows=4,cols=4)")
    state = set_up_position(game, board("..../..../oooo/xxxx"), 0)
    assert state.returns.tolist() == [-1, 1]  # who moved last goes first


def test_stones_of_one_player_may_be_more_than_of_the_other():
    game = make_game("connect-four")
    cells = [["."] * 7 for _ in range(5)] + [list("xx.x..o")]
    state = set_up_position(game, cells, 0)
    assert (state.turn, state.to_play, state.is_over) == (4, 0, False)
    game.apply(state, 2)
    assert state.returns.tolist() == [1, -1]


def test_the_turn_leaves_room_for_a_move():
    game = make_game("connect-four(rows=2,cols=2,in_a_row=3)")
    state = set_up_position(game, board("x./ox"), 1)
    assert state.turn == 3
    game.apply(state, 1)
    assert state.is_over


def test_tiles_made_by_hand_score_as_if_made_from_twos():
    state = set_up_position(make_game("2048"), tiles("1024 1024 . ./. . . ./. . 2 ./4 . . ."), 0)
    assert state.score == 2 * 9 * 1024 + 4
    assert state.turn == 4


@pytest.mark.parametrize(
    ("name", "cells", "to_play", "message"),
    [
        ("tic-tac-toe", "x../...", 0, "has 3 rows of 3 cells, not 2 rows of 3"),
        ("tic-tac-toe", "x../../...", 0, "not 3 rows of 2 and 3"),
        ("tic-tac-toe", "xq./.../...", 0, "can hold 'q'; cells hold one of '.', 'x', 'o'"),
        ("tic-tac-toe", ".../.../...", 2, "to_play must be 0 to 1, not 2"),
        ("tic-tac-toe", ".../.../...", -1, "to_play must be 0 to 1, not -1"),
        ("connect-four(rows=2,cols=3)", "x../...", 0, "column 1 has nothing below it"),
        ("connect-four(rows=2,cols=3)", ".../..z", 0, "row 2, column 3 cannot hold 'z'"),
        ("dots-and-boxes(rows=1,cols=1)", "+-+/| |/+-+", 0, "between a1 and b2 has 4 sides"),
        ("dots-and-boxes(rows=1,cols=1)", "+-+/|x|/+ +", 0, "between a1 and b2 has 3 sides"),
        ("dots-and-boxes(rows=1,cols=1)", "x-+/| |/+ +", 0, "row 1, column 1 cannot hold 'x'"),
        ("dots-and-boxes(rows=1,cols=1)", "+|+/| |/+ +", 0, "row 1, column 2 cannot hold '|'"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(name, cells, to_play, message):
    with pytest.raises(ValueError) as error:
        set_up_position(make_game(name), board(cells), to_play)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "cells", "message"),
    [
        ("2048", "2048 . . ./. . . ./. . . ./. . . .", "a 2048 cannot be on this board"),
        ("2048", "3 . . ./. . . ./. . . ./. . . .", "tiles are powers of two"),
        ("2048", "1 . . ./. . . ./. . . ./. . . .", "tiles are powers of two"),
        ("2048", "two . . ./. . . ./. . . ./. . . .", "column 1 cannot hold 'two'"),
        ("2048(size=2)", "32 32/. .", "number 2 by size is at most 16"),
        ("2048(size=2)", ". ./. .", "player 1 of 1 has no legal move"),
        ("2048(size=2)", "8 8/8 8", "number 4 by size is at most 4"),
        ("2048(size=2)", "2 4/4 2", "player 1 of 1 has no legal move"),
    ],
)
def test_tiles_that_no_game_can_go_on_from_are_refused(name, cells, message):
    game = make_game(name)
    with pytest.raises(ValueError, match=message):
        set_up_position(game, tiles(cells), 0)


def test_a_large_board_takes_only_as_many_pieces_as_can_be_tried():
    game = make_game("dots-and-boxes(rows=25,cols=25)")
    cells = [list(row) for row in game.view(game.new_state()).cells]
    cells[0][1::2] = ["-"] * 25
    assert set_up_position(game, cells, 0).turn == 25
    for row in range(2, 13, 2):
        cells[row][1::2] = ["-"] * 25
    with pytest.raises(ValueError, match="at most 153 moves can be set up, not 175: each is tried"):
        set_up_position(game, cells, 0)


def test_the_pieces_of_a_large_board_are_found_without_playing_it_to_its_end():
    game = CountedBoxes(rows=25, cols=25)
    assert sorted(cell_texts(game)) == [" ", "-", "o", "x", "|"]
    assert 0 < len(game.plays) < game.num_actions


def test_faults_of_a_games_own_set_up_are_told():
    game = Confused()
    with pytest.raises(ValueError, match="row 1, column 1 cannot hold 'x'; confused would draw"):
        set_up_position(game, board("x../.../..."), 1)
    with pytest.raises(ValueError, match="confused cannot be set up like this: 'lost'"):
        set_up_position(game, board(".../.../..o"), 0)
