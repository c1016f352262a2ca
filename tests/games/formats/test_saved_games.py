"""Saved games: they survive the round trip, and handwritten files are read or refused."""

import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sensible_games import Nim

from plainzero import __version__
from plainzero.games import UnknownGame, bundled_games, make_game
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.bundled.twenty_forty_eight import TwentyFortyEight
from plainzero.games.contract import has_chance
from plainzero.games.formats.saved_games import (
    SavedGame,
    read_all_saved,
    read_saved,
    to_json,
    to_moves,
    to_sgf,
)
from plainzero.games.formats.sgf_syntax import main_lines

pytestmark = pytest.mark.slow

OPENING = SavedGame("tic-tac-toe", None, 0, [4, 0, 8], ["Ann", "Bob"], None)
STUDY = SavedGame(
    "connect-four(rows=4,cols=4)",
    [list("...."), list("...."), list("...."), list("x..o")],
    1,
    [1, 1],
    [],
    0,
)


class Tiles(TwentyFortyEight):
    """2048 in which people call all new tiles the same."""

    def outcome_name(self, outcome):
        return "a tile"


class Brackets(TicTacToe):
    """Names of moves that need care in SGF."""

    def action_name(self, action):
        return rf"[{action}\] ;("


def make_any(name):
    own = {"nim": Nim(), "tiles": Tiles(size=2), "brackets": Brackets()}
    return own[name] if name in own else make_game(name)


def play_at_random(name, seed, plies):
    """The moves of a random game, and the position they lead to."""
    game, chance = make_any(name), random.Random(seed)
    state, moves = game.new_state(), []
    while not state.is_over and len(moves) < plies:
        moves.append(chance.choice(game.legal(state)))
        game.apply(state, moves[-1])
    return moves, state


def has_sgf(name):
    game = make_any(name)
    return game.num_players <= 2 and not has_chance(game)


@given(
    st.sampled_from([*bundled_games(), "nim", "tiles", "brackets"]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 150),
    st.text(),
    st.booleans(),
)
@example("2048", 5, 150, 'a "quoted" name', True)
@example("brackets", 1, 9, "back\\slash ] bracket", False)
def test_what_is_written_comes_back(name, seed, plies, player, resigns):
    moves, state = play_at_random(name, seed, plies)
    game = make_any(name)
    players = [f"{player}{seat}" for seat in range(game.num_players)]
    resigned = seed % game.num_players if resigns and not state.is_over else None
    saved = SavedGame(name, None, 0, moves, players, resigned)
    assert read_saved(to_json(game, saved), make_any) == saved
    if has_sgf(name):
        # SGF keeps names on one line.
        plain = [name.translate(dict.fromkeys(map(ord, "\t\n\v\f\r"), " ")) for name in players]
        expected = SavedGame(name, None, 0, moves, plain, resigned)
        assert read_saved(to_sgf(game, saved), make_any) == expected


@given(
    st.sampled_from(["tic-tac-toe", "connect-four", "dots-and-boxes", "trio", "2048"]),
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
)
def test_a_game_from_a_position_made_by_hand_comes_back(name, seed, plies):
    moves, state = play_at_random(name, seed, plies)
    game = make_game(name)
    while state.to_play < 0 or game.legal(state) == []:  # back to where a player is to move
        moves.pop()
        state = game.new_state()
        for move in moves:
            game.apply(state, move)
    following = game.legal(state)[:1]
    saved = SavedGame(name, game.view(state).cells, int(state.to_play), following, [], None)
    assert read_saved(to_json(game, saved), make_game) == saved
    if has_sgf(name):
        assert read_saved(to_sgf(game, saved), make_game) == saved


def test_json_can_be_read_by_people():
    assert to_json(TicTacToe(), OPENING).splitlines() == [
        "{",
        '  "format": "plainzero-game",',
        '  "version": 1,',
        '  "game": "tic-tac-toe",',
        '  "setup": null,',
        '  "moves": ["b2", "a1", "c3"],',
        '  "players": ["Ann", "Bob"],',
        '  "result": null',
        "}",
    ]


def test_sgf_says_what_other_programs_expect():
    assert to_sgf(TicTacToe(), OPENING) == (
        f"(;FF[4]CA[UTF-8]AP[PlainZero:{__version__}]GN[tic-tac-toe]PB[Ann]PW[Bob]\n"
        ";B[b2];W[a1];B[c3])\n"
    )


def test_sgf_keeps_a_position_made_by_hand_and_who_resigned():
    text = to_sgf(make_game(STUDY.game), STUDY)
    assert "RE[W+R]" in text
    assert '"to_play": 1' in text
    assert ";W[2];B[2]" in text
    assert read_saved(text, make_game) == STUDY


@pytest.mark.parametrize(
    ("moves", "result", "returns"),
    [([0, 3, 1, 4, 2], "B+", [1, -1]), ([8, 0, 3, 1, 4, 2], "W+", [-1, 1])],
)
def test_the_winner_is_written(moves, result, returns):
    saved = SavedGame("tic-tac-toe", None, 0, moves, [], None)
    assert f"RE[{result}]" in to_sgf(TicTacToe(), saved)
    assert json.loads(to_json(TicTacToe(), saved))["result"] == {"returns": returns}


def test_a_draw_is_written():
    saved = SavedGame("tic-tac-toe", None, 0, [0, 1, 2, 4, 3, 5, 7, 6, 8], [], None)
    assert "RE[0]" in to_sgf(TicTacToe(), saved)


def test_outcomes_of_chance_are_named_or_numbered_where_names_do_not_tell_them_apart():
    saved = SavedGame("2048(size=2)", None, 0, [0, 7], [], None)
    assert json.loads(to_json(make_game("2048(size=2)"), saved))["moves"] == ["2@a1", "4@b2"]
    saved = SavedGame("tiles", None, 0, [0, 7], [], None)
    assert json.loads(to_json(Tiles(size=2), saved))["moves"] == ["a tile", "#7"]


@pytest.mark.parametrize(
    ("name", "why"), [("trio", "3 players"), ("2048", "chance"), ("tiles", "chance")]
)
def test_sgf_is_refused_where_it_has_no_place(name, why):
    saved = SavedGame(name, None, 0, [], [], None)
    with pytest.raises(ValueError, match=f"a game with {why}; save it as JSON instead"):
        to_sgf(make_any(name), saved)
    with pytest.raises(ValueError, match=f"a game with {why}"):
        read_saved(f"(;GN[{name}])", make_any)


def test_the_main_line_of_a_commented_sgf_is_read():
    text = r"""
      (;FF[4] GM[4] GN[tic-tac-toe] PB[Ann \] \\ (x\)] C[a comment; with (marks) [and \]]
       ; B[b2] C[good
         move] LB[aa:1][bb:2]
       ; White[a1]
       ( ; B[c3] ( ;W[b1] ) ( ;W[c1];B[b1] ) )
       ( ; B[zz];W[never read] )
      ) (;GN[another game])
    """
    saved = read_saved(text, make_game)
    assert saved.moves == [4, 0, 8, 1]
    assert saved.players == ["Ann ] \\ (x)", ""]


def test_all_games_of_a_collection_are_read():
    text = "(;GN[tic-tac-toe];B[b2](;W[a1])(;W[c1]))\n(;GN[connect-four];B[4])\n"
    games = list(read_all_saved(text, make_game))
    assert [saved.moves for saved in games] == [[4, 0], [3]]
    assert [saved.game for saved in games] == ["tic-tac-toe", "connect-four"]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("game: tic-tac-toe\nb2 a1 c3\n", [4, 0, 8]),
        ("# a comment\n\nGame : tic-tac-toe\n1. b2 a1\n2. c3", [4, 0, 8]),
        ("b2\na1\n# or so\n#8", [4, 0, 8]),
    ],
)
def test_a_list_of_moves_is_read(text, moves):
    assert read_saved(text, make_game, "tic-tac-toe").moves == moves


@pytest.mark.parametrize("name", ["tic-tac-toe", "trio", "2048(size=2)", "brackets"])
def test_a_list_of_moves_comes_back_the_same(name):
    moves, _ = play_at_random(name, 5, 12)
    saved = SavedGame(name, None, 0, moves, [], None)
    assert read_saved(to_moves(make_any(name), saved), make_any) == saved


def test_a_list_of_moves_refuses_a_position_made_by_hand():
    with pytest.raises(ValueError, match="cannot hold a position set up by hand"):
        to_moves(make_game(STUDY.game), STUDY)


def test_a_backslash_at_the_end_of_a_line_joins_lines():
    assert main_lines("(;C[one \\\ntwo\nthree])") == [[{"C": ["one two three"]}]]


def json_of(**changes):
    content = json.loads(to_json(TicTacToe(), OPENING)) | changes
    return json.dumps({key: value for key, value in content.items() if value != "left out"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "JSON begins with {, SGF with ("),
        ("hello", "JSON begins with {, SGF with ("),
        ("[1, 2]", "JSON begins with {, SGF with ("),
        ('{"format": ', "this saved game is not JSON"),
        ('{"a":' * 100_000, "this saved game is not JSON"),
        ("{}", 'its "format" must be "plainzero-game"'),
        (json_of(version=2), 'its "version" must be 1, not 2'),
        (json_of(comment="nice"), "it must not contain 'comment'"),
        (json_of(game=None), 'its "game" must be a string'),
        (json_of(game="checkers"), "there is no game 'checkers'"),
        (json_of(moves="left out"), 'its "moves" must be a list of strings'),
        (json_of(moves=[1]), 'its "moves" must be a list of strings'),
        (json_of(moves=["b2", "q9"]), "move 2: tic-tac-toe has no move 'q9'"),
        (json_of(moves=["b2", "a1", "b2"]), "move 3: b2 is not legal here"),
        (json_of(moves=["#4", "#99"]), "move 2: 99 is not legal here"),
        (json_of(moves=["a1", "a2", "b1", "b2", "c1", "c2"]), "move 6: 'c2' cannot be played"),
        (json_of(players=["Ann"]), "has 2 players, but 1 names are given"),
        (json_of(players="Ann"), 'its "players" must be a list of strings'),
        (json_of(setup=[]), "a setup has exactly the keys cells and to_play"),
        (json_of(setup={"cells": [], "to_play": 0}), "has 3 rows of 3 cells, not 0 rows"),
        (json_of(setup={"cells": ["..."], "to_play": 0}), "each a list of strings"),
        (json_of(setup={"cells": [["."]], "to_play": True}), "must be a whole number, not True"),
        (json_of(result="won"), "its result is unknown"),
        (json_of(result={"resigned": "Bob"}), "must be a whole number, not 'Bob'"),
        (json_of(result={"resigned": 2}), "must be 0 to 1, not 2"),
        (json_of(result={"returns": [1, -1]}), "after move 3 nobody has won"),
        (
            json_of(moves=["a1", "a2", "b1", "b2", "c1"], result={"returns": [-1, 1]}),
            "has the returns [-1, 1], but its moves lead to [1.0, -1.0]",
        ),
        (
            json_of(moves=["a1", "a2", "b1", "b2", "c1"], result={"resigned": 1}),
            "player 1 cannot have resigned: the game was over already",
        ),
        ("(;", "the SGF ends in the middle: a ) is missing"),
        ("(;GN[tic-tac-toe", "cannot be read from 'GN[tic-tac-toe' on"),
        ("()", "no node begins with ;"),
        ("(GN[tic-tac-toe])", "GN outside of a node"),
        ("(;B[b2])", "must name the game, as in GN[connect-four]"),
        ("(;GN[tic-tac-toe];B[b2];W[b2])", "move 2: b2 is not legal here"),
        ("(;GN[tic-tac-toe];B[])", "move 1: tic-tac-toe has no move ''"),
        ("(;GN[tic-tac-toe];W[b2])", "move 1: W[b2] cannot be played: it is the turn of B"),
        ("(;GN[tic-tac-toe];B[b2]W[a1])", "move 1: one node holds 2 moves"),
        ("(;GN[tic-tac-toe]AB[aa];B[b2])", "AB['aa'] changes the position"),
        ("(;GN[tic-tac-toe]PLAINZEROSETUP[x])", "this saved game is not JSON"),
        ("(;GN[tic-tac-toe]PLAINZEROSETUP[7])", "a setup has exactly the keys cells and to_play"),
    ],
)
def test_a_bad_file_is_refused_with_a_sentence(text, message):
    with pytest.raises(ValueError) as error:
        read_saved(text, make_game)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text(alphabet='(;)[]\\ BWGN:a1{}\n"', max_size=60))
def test_nothing_but_a_sentence_comes_of_noise(noise):
    for text in (noise, f"(;GN[tic-tac-toe]{noise}", f"(;GN[tic-tac-toe];B[a1]{noise})"):
        try:
            saved = read_saved(text, make_game)
        except ValueError as error:
            assert str(error)
        else:
            assert saved.moves in ([], [0])


def test_a_file_cannot_load_code(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")

    def known_games_only(name):
        if name not in bundled_games():
            raise UnknownGame(f"there is no game {name!r} here")
        return make_game(name)

    with pytest.raises(UnknownGame, match="there is no game"):
        read_saved(json_of(game=f"{tmp_path}/evil.py:Evil"), known_games_only)


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (SavedGame("tic-tac-toe", None, 0, [4, 4], [], None), "move 2: b2 is not legal here"),
        (SavedGame("tic-tac-toe", None, 0, [], ["Ann"], None), "but 1 names are given"),
        (SavedGame("tic-tac-toe", None, 0, [], [], 3), "must be 0 to 1, not 3"),
        (SavedGame("tic-tac-toe", [["x"]], 0, [], [], None), "has 3 rows of 3 cells"),
    ],
)
@pytest.mark.parametrize("write", [to_json, to_sgf])
def test_a_game_that_cannot_have_been_played_is_not_written(write, saved, message):
    with pytest.raises(ValueError, match=message):
        write(TicTacToe(), saved)
