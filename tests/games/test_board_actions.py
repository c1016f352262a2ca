"""Where actions lie on the board: declared, or found if one numbering alone fits the game."""

import re

import numpy as np
import pytest

from plainzero import Game, field, make_game
from plainzero.games.board_actions import action_places, board_actions
from plainzero.games.bundled.breakthrough import Breakthrough
from plainzero.games.bundled.go.rules import COLUMNS
from plainzero.games.bundled.hex import Hex
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.contract import RuleFault


def cell_by_name(game, action):
    """Row and column of the observation of a cell called a1, b3, …, a1 at the bottom left."""
    column, row = re.match(r"([a-z])(\d+)", game.action_name(action)).groups()
    letters = COLUMNS if game.title() == "go" else "abcdefghijklmnopqrstuvwxyz"
    return game.observation_shape[1] - int(row), letters.index(column)


@pytest.mark.parametrize("name", ["gomoku(size=7)", "gomoku-42", "go(size=5)"])
def test_a_stone_lies_at_the_cell_of_its_name(name):
    game = make_game(name)
    (actions,) = board_actions(game)
    for row, col in np.ndindex(*actions.shape):
        assert cell_by_name(game, int(actions[row, col])) == (row, col)


@pytest.mark.parametrize(
    "name",
    [
        "tic-tac-toe",
        "trio",
        "ultimate-tic-tac-toe",
        "hex(size=5)",
        "othello(size=6)",
        "go(size=5)",
        "gomoku(size=6)",
        "gomoku(size=9,rule=renju)",
        "open_spiel:tic_tac_toe",
    ],
)
def test_a_move_changes_the_cell_where_it_lies(name):
    """Against another move in every position of a random game: both cells differ."""
    if name.startswith("open_spiel"):
        pytest.importorskip("pyspiel")
    game = make_game(name)
    actions = board_actions(game)
    places = action_places(actions, game.num_actions)
    state, generator = game.new_state(), np.random.default_rng(0)
    while True:
        action = int(generator.choice(game.legal(state)))
        other = game.copy(state)
        legal_elsewhere = [a for a in game.legal(state) if a != action and places[a] >= 0]
        game.apply(state, action)
        if state.is_over or places[action] < 0 or not legal_elsewhere:
            break
        game.apply(other, legal_elsewhere[0])
        if not other.is_over:
            differs = (game.observation(state) != game.observation(other)).any(0).ravel()
            assert differs[places[action]] and differs[places[legal_elsewhere[0]]]


@pytest.mark.parametrize(
    ("name", "beside"),
    [("go(size=5)", "pass"), ("othello(size=6)", "pass"), ("hex(size=5,swap=true)", "swap")],
)
def test_a_pass_lies_nowhere(name, beside):
    game = make_game(name)
    places = action_places(board_actions(game), game.num_actions)
    assert [game.action_name(action) for action in np.flatnonzero(places < 0)] == [beside]


def test_a_pawn_moves_from_its_cell_in_six_ways():
    game = make_game("breakthrough(rows=6,cols=5)")
    actions = board_actions(game)
    assert actions.shape == (6, 6, 5)
    state = game.new_state()
    for action in game.legal(state):
        (place,) = np.argwhere(actions == action)
        assert cell_by_name(game, action) == tuple(place[1:])


def test_lines_between_dots_lie_at_their_place_in_the_drawing():
    game = make_game("dots-and-boxes")
    (actions,) = board_actions(game)
    state = game.new_state()
    game.apply(state, int(actions[0, 1]))
    assert game.observation(state)[0, 0, 1] == 1.0
    assert actions[0, 0] == actions[1, 1] == -1


@pytest.mark.parametrize(
    "name", ["connect-four", "2048", "2048(size=2)", "pig", "orbit", "sensor-jammer"]
)
def test_games_whose_actions_are_not_cells_have_none(name):
    assert board_actions(make_game(name)) is None


class UpsideDown(Hex):
    """The first row is observed last."""

    def observe(self, state, planes):
        Hex.observe(self, state, planes[:, ::-1])


class Scrambled(TicTacToe):
    """Numbers its cells in an order of its own."""

    order = (3, 8, 1, 0, 6, 2, 7, 5, 4)

    def symmetries(self):
        return []

    def observe(self, state, planes):
        for action in range(9):
            stone = state.board.ravel()[action]
            if stone:
                cell = self.order[action]
                planes[int(stone != state.to_play + 1), cell // 3, cell % 3] = 1.0


class Unseen(TicTacToe):
    """Nothing says where a stone lies."""

    def symmetries(self):
        return []

    def observe(self, state, planes):
        planes[0] = state.turn


class Mirrored(TicTacToe):
    """A stone is seen in its own row and upside down: either may be its place."""

    def symmetries(self):
        return []

    def observe(self, state, planes):
        TicTacToe.observe(self, state, planes)
        planes += planes[:, ::-1].copy()


def test_a_board_observed_upside_down_is_found_by_its_first_moves():
    assert board_actions(UpsideDown(size=4))[0, 0].tolist() == [12, 13, 14, 15]
    assert board_actions(Hex(size=4))[0, 0].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("game", [Scrambled(), Unseen(), Mirrored()])
def test_what_fits_no_usual_numbering_or_several_is_not_guessed(game):
    assert board_actions(game) is None


class OffTheBoard(TicTacToe):
    """Plays at a column that is not there."""

    def play(self, state, action):
        state.board[action // 3, action % 4] = 1
        self.end_turn(state)


def test_faulty_rules_are_refused_before_they_are_played():
    with pytest.raises(RuleFault, match="off-the-board breaks the game contract"):
        board_actions(OffTheBoard())


class Declared(TicTacToe):
    def board_actions(self):
        return self.declared


def declaring(actions):
    return type("Declares", (Declared,), {"declared": actions})()


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.arange(6).reshape(2, 3), r"the shape is (2, 3); it must be (3, 3) or (kinds, *(3, 3))"),
        (np.arange(1, 10).reshape(3, 3), "9 is not an action; actions are 0 to 8"),
        (np.arange(-3, 6).reshape(3, 3), "-3 is not an action"),
        (np.zeros((3, 3), int), "action 0 is at 9 places; one is allowed"),
        (np.full((3, 3), -1), "there is no action on the board"),
        (np.arange(9.0).reshape(3, 3), "the type is float64"),
        (np.arange(9)[::-1].reshape(3, 3)[:, ::-1], "under symmetry 0"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(actions, message):
    with pytest.raises(ValueError) as refusal:
        board_actions(declaring(actions))
    assert str(refusal.value).startswith("board_actions of declares: ")
    assert message in str(refusal.value)


def test_a_declaration_is_used_as_it_is():
    half_turned = np.arange(9)[::-1].reshape(3, 3)
    assert np.array_equal(board_actions(declaring(half_turned))[0], half_turned)
    assert board_actions(Breakthrough()).shape == (6, 8, 8)


class Hops(Game):
    """A piece of the mover hops to any free cell: action start · 9 + end; six hops are a draw."""

    num_players = 2
    num_actions = 81
    observation_shape = (2, 3, 3)
    max_turns = 6

    def fields(self):
        return {"board": field(np.int8, 9)}

    def reset(self, state):
        state.board[0] = state.board[1] = 1
        state.board[7] = state.board[8] = 2

    def number(self, start, end):
        return start * 9 + end

    def ends(self, action):
        return action // 9, action % 9

    def legal_actions(self, state, actions):
        count = 0
        for start in range(9):
            for end in range(9):
                if state.board[start] == state.to_play + 1 and state.board[end] == 0:
                    actions[count] = self.number(start, end)
                    count += 1
        return count

    def play(self, state, action):
        start, end = self.ends(action)
        state.board[end] = state.board[start]
        state.board[start] = 0
        self.end_turn(state)
        if state.turn == 5:
            self.draw(state)

    def observe(self, state, planes):
        for cell in range(9):
            if state.board[cell]:
                planes[int(state.board[cell] != state.to_play + 1), cell // 3, cell % 3] = 1.0


class BackwardHops(Hops):
    """The same with the end first."""

    def number(self, start, end):
        return end * 9 + start

    def ends(self, action):
        return action % 9, action // 9


class ShuffledHops(Hops):
    """Ends are numbered in an order that nothing says."""

    order = (3, 8, 1, 0, 6, 2, 7, 5, 4)
    back = (3, 2, 5, 0, 8, 7, 4, 6, 1)

    def number(self, start, end):
        return start * 9 + self.order[end]

    def ends(self, action):
        return action // 9, self.back[action % 9]


def test_moves_from_a_cell_to_a_cell_lie_on_either():
    for game in (Hops(), BackwardHops()):
        actions = board_actions(game)
        assert actions.shape == (9, 3, 3)
        assert set(game.ends(actions[2, 1, 2])) == {2, 5}


def test_shuffled_ends_leave_the_start():
    actions = board_actions(ShuffledHops())
    assert {int(start) for start, _ in map(ShuffledHops().ends, actions[:, 1, 2])} == {5}
