"""What every game gets from the framework, uncompiled."""

import functools
from typing import Literal

import numpy as np
import pytest

from plainzero.games import make_game, rules
from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.contract import Game, IllegalMove, field, trial_rule
from plainzero.games.parameters import parameter_choices


def test_illegal_move_raises_and_changes_nothing():
    game = TicTacToe()
    state = game.new_state()
    game.apply(state, 4)
    before = game.copy(state)
    with pytest.raises(IllegalMove, match="b2 is not legal here; legal moves: a1 b1 c1"):
        game.apply(state, 4)
    with pytest.raises(IllegalMove, match="99 is not legal here"):
        game.apply(state, 99)
    assert state == before


def test_no_move_is_legal_when_the_game_is_over():
    game = TicTacToe()
    state = game.new_state()
    for action in (0, 3, 1, 4, 2):
        game.apply(state, action)
    assert state.is_over
    assert game.legal(state) == []
    with pytest.raises(IllegalMove, match="c3 cannot be played: the game is over"):
        game.apply(state, 8)


def test_illegal_outcome_is_called_by_its_name():
    game = make_game("2048")
    state = game.new_state()
    game.apply(state, 0)
    with pytest.raises(IllegalMove, match="4@a1 is not legal here; legal moves: 2@b1 4@b1"):
        game.apply(state, 1)


def test_copy_has_memory_of_its_own():
    game = TicTacToe()
    state = game.new_state()
    copied = game.copy(state)
    game.apply(copied, 0)
    assert state.board[0, 0] == 0
    assert copied.board[0, 0] == 1


def test_unknown_field_cannot_be_written():
    state = TicTacToe().new_state()
    with pytest.raises(AttributeError, match="no field 'colour'; the fields are board, returns"):
        state.colour = 1


def test_unknown_move_names_some_that_exist():
    with pytest.raises(IllegalMove, match="connect-four has no move '9'; its moves are 1, 2, 3"):
        ConnectFour().parse_action("9")


def test_subclass_changes_a_parameter_by_assignment():
    class Large(TicTacToe):
        size = 5

    assert Large().num_actions == 25
    assert Large(size=4).num_actions == 16
    assert Large().name == "large"


def test_whole_number_is_a_fraction_where_one_is_wanted():
    class Komi(TicTacToe):
        komi: float = 6.5

    assert Komi(komi=7) == Komi(komi=7.0)
    assert Komi(komi=7).name == "komi(komi=7.0)"
    with pytest.raises(TypeError, match="komi: komi must be float, not 'x'"):
        Komi(komi="x")


def test_a_parameter_with_a_few_values_refuses_others_also_in_a_subclass():
    class Ruled(TicTacToe):
        rule: Literal["free", "strict", "odd"] = "free"

    class Strict(Ruled):
        rule = "strict"

    assert Ruled(rule="odd").name == "ruled(rule=odd)"
    assert parameter_choices(Strict) == {"rule": ("free", "strict", "odd")}
    for cls in (Ruled, Strict):
        with pytest.raises(ValueError, match="rule must be free, strict or odd, not 'none'"):
            cls(rule="none")


@pytest.mark.parametrize("name", ["returns", "turn", "to_play", "is_over", "dtype", "for", "a b"])
def test_field_with_a_reserved_name_is_refused(name):
    class Named(TicTacToe):
        def fields(self):
            return {name: field(np.int8)}

    with pytest.raises(TypeError, match="a field cannot be called"):
        Named().new_state()


@pytest.mark.parametrize("attribute", ["num_actions", "observation_shape", "max_turns"])
def test_game_must_say_its_sizes(attribute):
    sizes = {"num_actions": 1, "observation_shape": (1,), "max_turns": 1}
    del sizes[attribute]
    with pytest.raises(TypeError, match=f"Silent must declare {attribute}"):
        type("Silent", (Game,), sizes)()


def test_game_with_an_init_is_refused_with_its_line():
    with pytest.raises(
        TypeError, match=r"has an __init__ \(test_contract.py, line \d+\).*size: int"
    ):

        class Made(TicTacToe):
            def __init__(self):
                self.last = 0


def test_games_that_differ_have_tags_that_differ():
    class Other(TicTacToe):
        pass

    games = [TicTacToe(), TicTacToe(size=4), Other(), ConnectFour()]
    assert len({game.tag for game in games}) == 4
    assert TicTacToe().tag == TicTacToe().tag


def test_a_cached_property_may_need_the_state_whose_type_has_the_tag():
    class Remembers(TicTacToe):
        @functools.cached_property
        def first_board(self):
            return self.new_state().board

        @functools.cached_property
        def empty_cells(self):
            return len(self.legal(self.new_state()))

    game, other = Remembers(), Remembers()
    assert (other.empty_cells, other.first_board.sum()) == (9, 0)  # before its tag
    assert game.tag == other.tag
    assert game.empty_cells == 9


def test_rules_without_the_compiler_are_the_games_own_methods():
    game = TicTacToe()
    rules.register(game)
    state = game.new_state()
    actions, planes = np.zeros(9, np.int32), np.zeros((2, 3, 3), np.float32)
    rules.play(state, 4)
    rules.observe(state, planes)
    assert (state.turn, state.to_play, state.board[1, 1]) == (1, 1, 1)
    assert rules.legal_actions(state, actions) == 8
    assert planes[1, 1, 1] == 1


def test_playouts_try_actions_only_where_the_class_that_lists_them_recognises_them():
    class Recognises(TicTacToe):
        def is_legal(self, state, action):
            return state.board[action // 3, action % 3] == 0

    class ListsOthers(Recognises):
        def legal_actions(self, state, actions):
            return super().legal_actions(state, actions)

    class PlaysOut(Recognises):
        def playout_actions(self, state, actions):
            return self.legal_actions(state, actions)

    class RecognisesBoth(PlaysOut):
        def is_playout_action(self, state, action):
            return self.is_legal(state, action)

    classes = (TicTacToe, Recognises, ListsOthers, PlaysOut, RecognisesBoth)
    rules = [trial_rule(each()) for each in classes]
    assert rules == ["", "is_legal", "", "", "is_playout_action"]


def test_any_game_says_whether_an_action_is_legal():
    game = TicTacToe()
    state = game.new_state()
    game.apply(state, 4)
    assert [game.is_legal(state, action) for action in (3, 4)] == [True, False]
    assert not game.is_playout_action(state, 4)
