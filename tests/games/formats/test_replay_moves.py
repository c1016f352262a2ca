"""Moves found by name: what is unknown is refused with the legal moves of the position."""

import pytest

from plainzero.games import make_game
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.contract import IllegalMove, legal_names
from plainzero.games.formats.replay_moves import ReplayedGame, find_move


def after(name, moves):
    game = make_game(name)
    replay = ReplayedGame(game, None, 0)
    for move in moves.split():
        replay.play_named(move)
    return game, replay.state


@pytest.mark.parametrize(
    ("game", "moves", "unknown", "message"),
    [
        ("tic-tac-toe", "a1 c3", "z9", "tic-tac-toe has no move 'z9'; legal moves: b1 c1 a2 b2 c2"),
        ("gomoku", "a15", "p1", "gomoku has no move 'p1'; legal moves: b15 c15 d15"),
        ("2048", "2@a1", "9@a1", "chance has no outcome '9@a1' here; its outcomes: 2@b1 4@b1"),
        ("tic-tac-toe", "a1 b1 a2 b2 a3", "z9", "'z9' cannot be played: the game is over"),
    ],
)
def test_an_unknown_move_is_refused_with_those_of_the_position(game, moves, unknown, message):
    with pytest.raises(IllegalMove) as raised:
        find_move(*after(game, moves), unknown)
    assert str(raised.value).startswith(message)


def test_a_name_or_number_is_found_whether_legal_or_not():
    game, state = after("tic-tac-toe", "a1")
    assert [find_move(game, state, name) for name in ("a1", "b1", "#4", "#99")] == [0, 1, 4, 99]


def test_an_error_of_the_games_own_parser_is_an_unknown_move():
    class ByTable(TicTacToe):
        def parse_action(self, text):
            return {"middle": 4}[text]

    game = ByTable()
    assert find_move(game, game.new_state(), "middle") == 4
    with pytest.raises(IllegalMove, match="by-table has no move 'edge'; legal moves: a1 b1"):
        find_move(game, game.new_state(), "edge")


def test_legal_moves_are_listed_up_to_thirty():
    assert legal_names(*after("tic-tac-toe", "a1")) == "b1 c1 a2 b2 c2 a3 b3 c3"
    names, _, total = legal_names(*after("gomoku", "a1")).partition(" … ")
    assert (len(names.split()), total) == (30, "(224 in total)")


def test_names_with_spaces_are_listed_with_commas():
    assert "sector 1, sector 2" in legal_names(*after("sensor-jammer", ""))
