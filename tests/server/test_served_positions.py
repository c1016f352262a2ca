"""Positions over the wire: replayed, shown, played on, set up, saved."""

import pytest

from tesuji.games.contract import CHANCE
from tesuji.games.registry import bundled_games
from tesuji.server.catalogue import Catalogue
from tesuji.server.messages.games import PlayRequest, Position, Setup
from tesuji.server.positions import Positions

OWN = """
import numpy as np
from tesuji import Game, field

class Coins(Game):
    '''Take a coin or two.'''
    coins: int = 3
    num_actions = 2
    observation_shape = (1,)
    max_turns = property(lambda self: self.coins)
    def fields(self):
        return {"left": field(np.int8)}
    def reset(self, state):
        state.left = self.coins
    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, 1
        return min(2, state.left)
    def play(self, state, action):
        state.left -= action + 1
        if state.left == 0:
            self.win(state, state.to_play)
        self.end_turn(state)
    def observe(self, state, planes):
        planes[0] = state.left
"""


@pytest.fixture
def positions():
    return Positions(Catalogue())


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "coins.py"
    path.write_text(OWN)
    return f"{path}:Coins"


def test_every_bundled_game_can_be_shown(positions):
    for name in bundled_games():
        view = positions.view(Position(game=name))
        assert view.game == name and view.board is not None
        assert view.moves == [] and not view.is_over


def test_a_view_says_what_the_rules_say(positions):
    view = positions.view(Position(game="connect-four", moves=[3, 3, 2, 2, 1, 1, 0]))
    assert view.is_over and view.returns == [1.0, -1.0]
    assert [move.name for move in view.moves] == ["4", "4", "3", "3", "2", "2", "1"]
    assert [move.player for move in view.moves] == [0, 1, 0, 1, 0, 1, 0]
    assert [(place.row, place.col) for place in view.board.changed] == [(5, 0)]
    assert sorted((place.row, place.col) for place in view.board.marks) == [
        (5, c) for c in range(4)
    ]
    assert view.legal == []


def test_an_illegal_move_is_named_with_its_number(positions):
    with pytest.raises(ValueError, match="move 3: a1 is not legal here"):
        positions.view(Position(game="tic-tac-toe", moves=[0, 1, 0]))


def test_a_game_that_is_not_in_the_catalogue_is_refused(positions, own):
    for name in ("chess", own, "../x.py:Y", "connect-four(rows=", "tic-tac-toe(size=1000000)"):
        with pytest.raises(ValueError):
            positions.view(Position(game=name))


def test_names_lose_parameters_that_are_the_default(positions):
    view = positions.view(Position(game="connect-four(rows=6, cols=8)"))
    assert view.game == "connect-four(cols=8)"


def test_a_move_can_be_made_by_name_or_number(positions):
    position = Position(game="tic-tac-toe")
    assert positions.play(PlayRequest(position=position, name="B2")).moves[0].action == 4
    assert positions.play(PlayRequest(position=position, action=4)).moves[0].name == "b2"
    with pytest.raises(ValueError, match="'d9' is not legal here"):
        positions.play(PlayRequest(position=position, name="d9"))
    with pytest.raises(ValueError, match="no move was given"):
        positions.play(PlayRequest(position=position))


def test_chance_moves_by_itself(positions):
    view = positions.play(PlayRequest(position=Position(game="2048")))
    assert {move.player for move in view.moves} == {CHANCE} and view.to_play == 0
    action = view.legal[0].action
    moves = [move.action for move in view.moves]
    after = positions.play(PlayRequest(position=Position(game="2048", moves=moves), action=action))
    assert [move.player for move in after.moves[len(moves) :]] == [0, CHANCE]


def test_states_that_are_kept_are_not_changed_by_those_who_got_them(positions):
    position = Position(game="tic-tac-toe", moves=[4])
    game, state = positions.game_and_state(position)
    game.apply(state, 0)
    assert positions.game_and_state(position)[1].turn == 1


def test_a_long_game_is_the_same_from_its_end_and_from_its_beginning(positions):
    moves = [0, 1, 2, 3, 4, 5, 6, 0, 1, 2]
    for count in range(len(moves) + 1):
        step_by_step = positions.view(Position(game="connect-four", moves=moves[:count]))
    at_once = Positions(Catalogue()).view(Position(game="connect-four", moves=moves))
    assert step_by_step == at_once


def test_a_position_made_by_hand_goes_on(positions):
    cells = [["x", "x", "."], ["o", "o", "."], [".", ".", "."]]
    setup = Setup(cells=cells, to_play=0)
    view = positions.view(Position(game="tic-tac-toe", setup=setup, moves=[2]))
    assert view.is_over and view.returns == [1.0, -1.0] and view.setup == setup
    with pytest.raises(ValueError, match="player 3 is to play"):
        positions.view(Position(game="tic-tac-toe", setup=Setup(cells=cells, to_play=2)))


def test_setting_up_offers_what_can_stand_in_a_cell(positions):
    options = positions.setup_options("connect-four")
    assert options.can_set_up and options.pieces == [".", "x", "o"]


def test_a_game_from_a_file_has_a_name_and_no_path(own):
    positions = Positions(Catalogue([own]))
    info = positions.catalogue.infos()[0]
    assert (info.name, info.is_own, info.summary) == ("coins", True, "Take a coin or two.")
    view = positions.view(Position(game="coins(coins=5)", moves=[0, 1]))
    assert view.game == "coins(coins=5)" and view.board is None and "left" in view.text
    with pytest.raises(ValueError, match="there is no game"):
        positions.view(Position(game=own))


def test_two_games_of_one_name_get_two_names(own, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(OWN)
    catalogue = Catalogue([own, f"{other}:Coins"])
    assert [info.name for info in catalogue.infos()[:2]] == ["coins", "coins-2"]
    assert catalogue.spec("coins-2(coins=4)") == f"{other}:Coins(coins=4)"


def test_adding_a_game_again_gives_its_name(own):
    catalogue = Catalogue([own])
    assert catalogue.add(f"{own}(coins=9)") == "coins(coins=9)"
    assert catalogue.add("connect-four(rows=7)") == "connect-four(rows=7)"
