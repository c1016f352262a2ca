"""What a board shows besides its cells: the winning line, and texts that a page can draw."""

import itertools
import random

import pytest

from plainzero.games import bundled_games, make_game
from plainzero.games.board_view import Caption, Shape, cells_in_a_row
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.check.problems import Problems
from plainzero.games.check.random_play import Played
from plainzero.games.check.views import check_view
from plainzero.games.contract import EMPTY, PIECES, Grid


def played(name, moves):
    game = make_game(name)
    state = game.new_state()
    for move in moves.split():
        game.apply(state, game.parse_action(move))
    return game.view(state)


@pytest.mark.parametrize(
    ("game", "moves", "marks"),
    [
        ("tic-tac-toe", "a1 a2 b1 b2 c1", [(0, 0), (0, 1), (0, 2)]),
        ("tic-tac-toe", "b1 a1 a2 b2 b3 c3", [(0, 0), (1, 1), (2, 2)]),
        ("tic-tac-toe", "c1 a1 a3 b1 b2", [(0, 2), (1, 1), (2, 0)]),
        ("connect-four", "4 5 4 5 4 5 4", [(2, 3), (3, 3), (4, 3), (5, 3)]),
        ("connect-four", "1 2 2 3 3 4 3 4 4 7 4", [(2, 3), (3, 2), (4, 1), (5, 0)]),
        ("trio", "a1 a2 a3 b1 c2 b3 c1", [(0, 0), (0, 1), (0, 2)]),
    ],
)
def test_the_line_that_wins_is_marked(game, moves, marks):
    assert played(game, moves).marks == marks


@pytest.mark.parametrize(("game", "moves"), [("tic-tac-toe", "a1 a2 b1"), ("connect-four", "4 4")])
def test_nothing_is_marked_while_the_game_goes_on(game, moves):
    assert played(game, moves).marks == []


def test_two_lines_at_once_and_lines_longer_than_needed_are_marked_whole():
    cells = [list("xxxxo"), list("xo.o."), list("x...."), list("o....")]
    assert cells_in_a_row(cells, 3) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (2, 0)]


def test_empty_cells_and_lines_around_the_edge_make_no_line():
    assert cells_in_a_row([list("..x"), list("xx."), list("   ")], 3) == []


def test_a_grid_without_further_words_is_square_and_unmarked():
    grid = Grid([["."]], [[0]])
    assert (grid.marks, grid.layout) == ((), "square")


def test_pieces_are_told_apart():
    texts = (*PIECES, *EMPTY, "+", "-", "|")
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("name", bundled_games())
def test_cells_of_bundled_games_are_pieces_tiles_lines_or_empty(name):
    game, chance = make_game(name), random.Random(3)
    state = game.new_state()
    seen = set()
    while not state.is_over:
        seen |= set(itertools.chain(*game.view(state).cells))
        game.apply(state, chance.choice(game.legal(state)))
    known = {*PIECES[: game.num_players], *EMPTY, "+", "-", "|", "#"}
    assert len(seen) > 2
    assert all(text in known or text.isdecimal() for text in seen)


@pytest.mark.parametrize(
    ("around", "message"),
    [
        ({"columns": "ab"}, "columns and rows must be 3 and 3 strings"),
        ({"rows": "1234"}, "columns and rows must be 3 and 3 strings"),
        ({"edges": (0, 1)}, "edges are four players"),
        ({"edges": (0, 1, 0, 2)}, "players in a view are 0 to 1"),
        ({"owners": [[0, 1, -1]]}, "owners must be 3 rows of 3"),
        ({"shapes": [Shape("ring", [(0, 0)], player=2)]}, "players in a view are 0 to 1"),
        ({"captions": [Caption(3, 0, "lock")]}, "a caption of view is in no cell of 3x3"),
        ({"columns": "abc", "rows": "123", "edges": (0, 1, 0, -1)}, ""),
    ],
)
def test_what_is_drawn_around_the_cells_must_fit_them(around, message):
    class Drawn(TicTacToe):
        def view(self, state):
            return super().view(state)._replace(**around)

    problems = Problems(Drawn())
    check_view(problems, [Played([Drawn().new_state()], [], [])])
    assert [message in problem.message for problem in problems] == ([True] if message else [])


def test_a_craft_is_drawn_where_it_is_and_drifts_on_a_path_that_begins_there():
    game = make_game("orbit")
    state = game.new_state()
    for phase in (0, 3):
        game.apply(state, phase)
    shapes = game.view(state).shapes
    for player in range(2):
        (piece,) = [one for one in shapes if one.kind == "piece" and one.player == player]
        (path,) = [one for one in shapes if one.kind == "path" and one.player == player]
        assert path.points[0] == pytest.approx(piece.points[0])
    game.apply(state, 4)
    drifting = {one.player: one.points for one in shapes if one.kind == "path"}
    game.apply(state, 4)  # both hold, and coast for a round: four parts of the path
    moved = {one.player: one.points[0] for one in game.view(state).shapes if one.kind == "piece"}
    for player in range(2):
        assert moved[player] == pytest.approx(drifting[player][4])
