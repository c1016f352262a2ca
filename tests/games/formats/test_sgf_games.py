"""SGF of the games that other programs write as well: Go, Gomoku, Othello and Hex."""

import pytest

from plainzero.games import make_game
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.formats.saved_games import SavedGame, decode_saved, read_saved, to_sgf


def written(name, moves, **changes):
    """The SGF of a game whose moves are given by name."""
    game = make_game(name)
    actions = [game.parse_action(move) for move in moves.split()]
    fields = {"cells": None, "to_play": 0, "players": [], "resigned": None} | changes
    return to_sgf(game, SavedGame(game=name, moves=actions, **fields))


def read(text):
    """The game of an SGF: its name, and the names of its moves."""
    saved = read_saved(text, make_game)
    game = make_game(saved.game)
    return saved.game, " ".join(game.action_name(action) for action in saved.moves)


@pytest.mark.parametrize(
    ("name", "moves", "root", "played"),
    [
        ("gomoku", "h8 a15 o1", "GM[4]SZ[15]", ";B[hh];W[aa];B[oo]"),
        ("gomoku-42", "j10 a19", "GM[4]SZ[19]", ";B[jj];W[aa]"),
        ("go(komi=6.5)", "a9 j1 pass", "GM[1]SZ[9]KM[6.5]", ";B[aa];W[ii];B[]"),
        ("othello", "d3 c3", "GM[2]SZ[8]", ";B[dc];W[cc]"),
        ("hex(size=5,swap=True)", "b4 swap", "GM[11]SZ[5]", ";B[b4];W[swap-pieces]"),
    ],
)
def test_games_are_written_as_other_programs_do_and_read_again(name, moves, root, played):
    text = written(name, moves)
    assert root in text
    assert played in text
    assert read(text) == (name, moves)


class Teapot(TicTacToe):
    komi: str = "a word of another game"


class Go(TicTacToe):
    """A user's own, without komi."""


@pytest.mark.parametrize("game", [Teapot(), Go()])
def test_only_games_with_komi_in_sgf_have_it_written(game):
    text = to_sgf(game, SavedGame(game.name, None, 0, [0, 4], [], None))
    assert "KM[" not in text


@pytest.mark.parametrize(
    ("text", "name", "moves"),
    [
        ("(;GM[1]SZ[9]KM[5.5];B[ee];W[];B[tt])", "go(komi=5.5)", "e5 pass pass"),
        ("(;FF[4]GM[1];B[pd];W[dp])", "go(size=19)", "q16 d4"),
        ("(;GM[1]SZ[13:13]GN[Ann v Bob]KM[0];B[aa])", "go(size=13,komi=0.0)", "a13"),
        ("(;GM[4]GN[a fine game];B[hh];W[ii])", "gomoku", "h8 i7"),
        ("(;GM[2];B[f5];W[d6])", "othello", "f5 d6"),
        ("(;GM[11]SZ[7];B[A3];W[g5])", "hex(size=7)", "a3 g5"),
        ("(;GM[1]SZ[9]HA[2];B[cc];B[gg];W[ee])", "go", "c7 pass g3 e5"),
        (
            "(;GM[2]SZ[4];B[ba];W[ca];B[dc];W[aa];W[bd])",
            "othello(size=4)",
            "b1 c1 d3 a1 pass b4",
        ),
    ],
)
def test_files_of_other_programs_are_read_by_their_number(text, name, moves):
    assert read(text) == (name, moves)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(;GM[4]SZ[19]GN[a fine game];B[jj])", "gomoku-42"),
        ("(;SZ[9];B[ee])", "gomoku-42"),
        ("(;GM[4]GN[gomoku(rule=renju)];B[hh])", "gomoku(rule=renju)"),
    ],
)
def test_a_name_that_is_given_counts_where_the_file_has_only_a_number_or_nothing(text, name):
    assert read_saved(text, make_game, "gomoku-42").game == name


@pytest.mark.parametrize(
    ("charset", "encoding", "player"),
    [
        ("", "latin-1", "Müller"),
        ("CA[ISO-8859-1]", "latin-1", "Müller"),
        ("CA[Shift_JIS]", "shift_jis", "ソ十表"),  # bytes of these are a backslash in ASCII
        ("CA[UTF-8]", "utf-8", "Müller"),
        ("", "utf-8", "Müller"),
        ("CA[no such set]", "latin-1", "Müller"),
        ("CA[hex]", "latin-1", "Müller"),
    ],
)
def test_names_are_read_in_the_character_set_of_the_file(charset, encoding, player):
    content = f"(;GM[1]{charset}SZ[5]PB[{player}]PW[x]\r\n;B[cc])".encode(encoding)
    assert read_saved(decode_saved(content), make_game).players == [player, "x"]


def test_what_is_no_text_is_refused():
    with pytest.raises(ValueError, match="not text in UTF-8"):
        decode_saved(b"\xff\x00garbage")


def test_stones_that_are_set_up_come_back_as_they_were():
    text = "(;GM[1]SZ[5]KM[0.5]AB[aa:bb][ee]AW[cc];AE[ba]PL[W];W[dd])"
    saved = read_saved(text, make_game)
    assert saved.cells == [
        list("x...."),
        list("xx..."),
        list("..o.."),
        list("....."),
        list("....x"),
    ]
    assert saved.to_play == 1
    again = to_sgf(make_game(saved.game), saved)
    assert "AB[aa][ab][bb][ee]AW[cc]PL[W]" in again
    assert read_saved(again, make_game) == saved


def test_white_begins_after_a_handicap():
    saved = read_saved("(;GM[1]SZ[9]HA[2]KM[0.5]AB[cc][gg];W[ee])", make_game)
    assert saved.to_play == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1]SZ[9:13];B[aa])", "its board must be square"),
        ("(;GM[1]SZ[99];B[aa])", "size"),
        ("(;GM[1]SZ[9]AB[zz];B[aa])", "'zz' is not a point of go"),
        ("(;GM[1]SZ[9]PL[W];W[aa])", "white begins, but no stones are set up"),
        ("(;GM[1]SZ[9]AB[aa]PL[x];W[bb])", "PL must be B or W"),
        ("(;GM[1]SZ[9];B[aa];W[bb];AB[cc])", "move 3: AB['cc'] changes the position"),
        ("(;GM[40];B[aa])", "must name the game"),
    ],
)
def test_a_bad_sgf_is_refused_with_a_sentence(text, message):
    with pytest.raises(ValueError) as error:
        read_saved(text, make_game)
    assert message in str(error.value)
