"""Positions over the wire: replayed, shown, played on, set up, saved."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from plainzero.games.contract import CHANCE
from plainzero.games.registry import bundled_games
from plainzero.server.api.errors import is_client_error
from plainzero.server.api.schemas.games import PlayRequest, Position, Setup
from plainzero.server.game_catalogue import Catalogue
from plainzero.server.position_views import Positions, StateCache

OWN = """
import numpy as np
from plainzero import Game, field

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


FAULTY = """
class Faulty(Coins):
    fault: int = 0
    def action_name(self, action):
        return ["one"][action] if self.fault == 0 else str(action)
    def play(self, state, action):
        if self.fault == 1:
            state.left = 1000
        if self.fault == 3:
            [].index(7)
        super().play(state, action)
    def view(self, state):
        if self.fault == 2:
            open(__file__ + "/nowhere")
    def text(self, state):
        return len(5) if self.fault == 4 else ""
"""

COUNTED = """
from plainzero.games.bundled.tic_tac_toe import TicTacToe

class Counted(TicTacToe):
    made = []
    def set_up(self, state, cells):
        self.made.append(cells)
        state.board[:] = [[".xo".index(text) for text in row] for row in cells]
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
    with pytest.raises(ValueError, match="move 3: action 0 is not legal; legal actions: 2, 3, "):
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
    with pytest.raises(ValueError, match="'d9' is not legal; legal moves"):
        positions.play(PlayRequest(position=position, name="d9"))
    with pytest.raises(ValueError, match="the request has no move"):
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
    with pytest.raises(ValueError, match="player 3 is to move"):
        positions.view(Position(game="tic-tac-toe", setup=Setup(cells=cells, to_play=2)))


def test_the_last_move_is_told_apart_from_what_it_turned_and_by_both_ends_of_a_step(positions):
    board = positions.view(Position(game="othello", moves=[19])).board  # d3 turns d4
    assert [(place.row, place.col) for place in board.last] == [(2, 3)]
    assert {(place.row, place.col) for place in board.changed} == {(2, 3), (3, 3)}
    game = positions.catalogue.game("breakthrough")
    board = positions.view(Position(game="breakthrough", moves=[game.parse_action("d2c3")])).board
    assert [(place.row, place.col) for place in board.last] == [(6, 3), (5, 2)]
    assert positions.view(Position(game="connect-four", moves=[3])).board.last == []


def test_the_catalogue_tells_what_a_parameter_can_be(positions):
    (gomoku,) = [info for info in positions.catalogue.infos() if info.name == "gomoku"]
    choices = {parameter.name: parameter.choices for parameter in gomoku.parameters}
    assert choices["rule"] == ["freestyle", "standard", "renju"] and choices["size"] == []


def test_setting_up_offers_what_can_stand_in_a_cell(positions):
    options = positions.setup_options("connect-four")
    assert options.can_set_up and options.pieces == [".", "x", "o"]


def test_a_game_from_a_file_has_a_name_and_no_path(own):
    positions = Positions(Catalogue([own]))
    info = positions.catalogue.infos()[0]
    assert (info.name, info.is_own, info.summary) == ("coins", True, "Take a coin or two.")
    view = positions.view(Position(game="coins(coins=5)", moves=[0, 1]))
    assert view.game == "coins(coins=5)" and view.board is None and "left" in view.text
    with pytest.raises(ValueError, match="unknown game"):
        positions.view(Position(game=own))


def test_two_games_of_one_name_get_two_names(own, tmp_path):
    other = tmp_path / "other.py"
    other.write_text(OWN)
    catalogue = Catalogue([own, f"{other}:Coins"])
    assert [info.name for info in catalogue.infos()[:2]] == ["coins", "coins-2"]
    assert catalogue.spec("coins-2(coins=4)") == f"{other}:Coins(coins=4)"


def test_a_game_has_one_object_however_its_name_is_written():
    catalogue = Catalogue()
    game = catalogue.game("connect-four")
    for name in ("connect-four()", " connect-four( )", "connect-four(rows=6, cols=7)"):
        assert catalogue.game(name) is game


def test_however_many_parameters_were_tried_every_game_can_be_had():
    catalogue = Catalogue()
    first = catalogue.game("dots-and-boxes(rows=1,cols=1)")
    for rows in range(1, 12):
        for cols in range(2, 25):
            assert catalogue.game(f"dots-and-boxes(rows={rows},cols={cols})").rows == rows
    for name in bundled_games():
        assert catalogue.game(name).name == name
    assert catalogue.game("dots-and-boxes(rows=1,cols=1)") is not first  # it was forgotten


def test_games_may_be_added_by_many_at_once(tmp_path):
    path, numbers = tmp_path / "many.py", range(300)
    classes = [f"class Coins{number}(Coins):\n    pass\n" for number in numbers]
    path.write_text(OWN + "\n".join(classes))
    catalogue, specs = Catalogue(), [f"{path}:Coins{number}" for number in numbers]
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as others:
            asked = [others.submit(lambda: [catalogue.add(spec) for spec in specs]) for _ in "1234"]
            while not all(names.done() for names in asked):
                catalogue.infos()
    finally:
        sys.setswitchinterval(switching)
    names = [f"coins{number}" for number in numbers]
    assert [names.result() for names in asked] == 4 * [names]
    assert [info.name for info in catalogue.infos() if info.is_own] == names


def test_parameters_of_a_game_from_a_file_are_refused_without_its_path(own):
    with pytest.raises(ValueError, match="coins has no parameter 'x'") as refused:
        Catalogue([own]).game("coins(x=1)")
    assert "/" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "moves", "sentence"),
    [
        ("faulty(fault=0)", [], "the rules of faulty raise IndexError: list index out of range"),
        ("faulty(fault=1)", [0], r"the rules of faulty\(fault=1\) raise OverflowError: .*out of"),
        (
            "faulty(fault=2)",
            [],
            r"the rules of faulty\(fault=2\) raise NotADirectoryError; `",
        ),
        ("faulty(fault=3)", [0], r"the rules of faulty\(fault=3\) raise ValueError: .*not in"),
        ("faulty(fault=4)", [], r"the rules of faulty\(fault=4\) raise TypeError"),
    ],
)
def test_what_a_games_rules_raise_by_mistake_is_told_with_its_name(tmp_path, name, moves, sentence):
    path = tmp_path / "faulty.py"
    path.write_text(OWN + FAULTY)
    positions = Positions(Catalogue([f"{path}:Faulty"]))
    with pytest.raises(ValueError, match=sentence) as refused:
        positions.view(Position(game=name, moves=moves))
    assert is_client_error(refused.value) and str(tmp_path) not in str(refused.value)


def test_a_position_made_by_hand_is_made_once(tmp_path):
    path = tmp_path / "counted.py"
    path.write_text(COUNTED)
    positions = Positions(Catalogue([f"{path}:Counted"]))
    setup = Setup(cells=[["x", ".", "."], ["o", ".", "."], [".", ".", "."]], to_play=0)
    game = positions.catalogue.game("counted")
    positions.view(Position(game="counted", setup=setup))
    made = len(game.made)
    for moves in ([4], [4, 8], [4, 8, 2]):
        positions.view(Position(game="counted", setup=setup, moves=moves))
    assert made > 0 and len(game.made) == made


def test_states_are_kept_within_their_bytes_and_the_oldest_go_first():
    kept, states = StateCache(10_000), [np.zeros(1, "V1000") for _ in range(9)]
    for number, state in enumerate(states):
        kept.put(b"%d" % number, state)
        assert kept.get(b"0") is states[0]  # asked for, so it stays
    assert kept.nbytes <= 10_000
    assert kept.get(b"1") is None and kept.get(b"8") is states[8]
    kept.put(b"8", states[8])
    kept.put(b"whole", np.zeros(1, "V20000"))
    assert kept.nbytes == 0 and kept.get(b"8") is None  # too large for all of them


def test_adding_a_game_again_gives_its_name(own):
    catalogue = Catalogue([own])
    assert catalogue.add(f"{own}(coins=9)") == "coins(coins=9)"
    assert catalogue.add("connect-four(rows=7)") == "connect-four(rows=7)"


def test_a_file_is_one_game_however_its_path_is_written(own, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue([own])
    for path in ("coins.py", "./coins.py", f"../{tmp_path.name}/coins.py"):
        assert catalogue.add(f"{path}:Coins") == "coins"
