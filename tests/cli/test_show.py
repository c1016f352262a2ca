"""`plainzero show`: saved games in the terminal."""

import json
import py_compile

import pytest

GAME = "(;GN[tic-tac-toe]PB[Ann]PW[Bob];B[b2];W[a1];B[c3])\n(;GN[connect-four];B[4])\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text(GAME)
    return path


def test_every_position_is_printed_where_nobody_presses_keys(plainzero, file):
    shown = plainzero("show", str(file))
    assert shown.code == 0
    assert shown.out.count("tic-tac-toe, Ann – Bob") == 4
    assert "move 0 of 3  the start" in shown.out
    assert "move 2 of 3  second player: a1" in shown.out
    assert "The game was not finished." in shown.out


def test_one_position_is_printed(plainzero, file):
    shown = plainzero("show", str(file), "--move", "1")
    assert shown.out.count("move ") == 1
    assert "[x]" in shown.out


def test_another_game_of_the_file_is_shown(plainzero, file):
    assert "connect-four" in plainzero("show", str(file), "--number", "2", "--move", "1").out


def test_a_list_of_moves_needs_the_name_of_its_game(plainzero, tmp_path):
    path = tmp_path / "moves.txt"
    path.write_text("4 4 3 5\n")
    assert "a list of moves with the name of its game" in plainzero("show", str(path)).err
    assert "move 4 of 4" in plainzero("show", str(path), "--game", "connect-four").out


@pytest.mark.parametrize("suffix", [".json", ".sgf", ".txt"])
def test_a_game_is_written_anew_and_shown_the_same(plainzero, file, tmp_path, suffix):
    copy = tmp_path / f"copy{suffix}"
    assert plainzero("show", str(file), "--save", str(copy)).code == 0
    assert "move 3 of 3  first player: c3" in plainzero("show", str(copy), "--move", "3").out


def test_games_of_a_match_are_shown(plainzero, tmp_path):
    path = tmp_path / "games.jsonl"
    arguments = (
        "match",
        "random",
        "random",
        "--game",
        "tic-tac-toe",
        "--games",
        "4",
        "--save",
        str(path),
    )
    assert plainzero(*arguments).code == 0
    row = json.loads(path.read_text().splitlines()[2])
    shown = plainzero("show", str(path), "--number", "3")
    assert f"move {len(row['actions'])} of {len(row['actions'])}" in shown.out
    assert "random – random" in shown.out


def test_a_file_of_other_programs_is_shown_by_the_game_that_is_named(plainzero, tmp_path):
    path = tmp_path / "other.sgf"
    path.write_bytes("(;GM[4]SZ[6]PB[Müller];B[cc])".encode("latin-1"))
    assert "gomoku(size=6), Müller" in plainzero("show", str(path), "--move", "1").out
    named = ("--game", "gomoku(size=6,rule=renju)")
    assert "gomoku(size=6,rule=renju)" in plainzero("show", str(path), "--move", "1", *named).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--move", "9"], "the game has 3 moves; there is no move 9"),
        (["--number", "3"], "holds 2 games; there is no game 3"),
        (["--save", "game.pdf"], "it must be .json, .sgf or .txt"),
    ],
)
def test_what_cannot_be_shown_is_refused(plainzero, file, arguments, message):
    shown = plainzero("show", str(file), *arguments)
    assert (shown.code, shown.out) == (2, "")
    assert message in shown.err


def test_a_file_cannot_run_code_unless_it_is_named(plainzero, tmp_path):
    (tmp_path / "own.py").write_text(
        "from plainzero.games.bundled.tic_tac_toe import TicTacToe\n\n"
        "class Own(TicTacToe):\n    size = 2\n"
    )
    path, name = tmp_path / "game.txt", f"{tmp_path / 'own.py'}:Own"
    path.write_text(f"game: {tmp_path / 'own.py'}\na1 b1\n")
    assert "if you trust it, add --game" in plainzero("show", str(path)).err
    path.write_text(f"game: {name}\na1 b1\n")
    assert "if you trust it, add --game" in plainzero("show", str(path)).err
    assert "move 2 of 2" in plainzero("show", str(path), "--game", name).out
    py_compile.compile(str(tmp_path / "own.py"), str(tmp_path / "own.pyc"))
    path.write_text(f"game: {tmp_path / 'own.pyc'}:Own\na1 b1\n")
    assert "if you trust it, add --game" in plainzero("show", str(path)).err
