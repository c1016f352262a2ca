"""Othello: flips, passes, endings and scores, in positions drawn by hand."""

import re
from pathlib import Path

import numpy as np
import pytest

from plainzero.games import make_game
from plainzero.games.bundled.othello import Othello
from plainzero.games.check.random_play import first_difference
from plainzero.games.contract import IllegalMove
from plainzero.games.position_setup import cell_texts, set_up_position

PLAYTHROUGH = (
    Path(__file__).parents[4] / "shared" / "data" / "openspiel_playthroughs" / "othello.txt"
)


def board(text):
    return [list(row) for row in text.split("/")]


def drawn(game, state):
    return "/".join("".join(row) for row in game.view(state).cells)


def names(game, state):
    return [game.action_name(action) for action in game.legal(state)]


def after(game, cells, to_play, *moves):
    state = set_up_position(game, board(cells), to_play)
    for move in moves:
        game.apply(state, game.parse_action(move))
    return state


def slow_turned(cells, row, col, own):
    """The squares that a disc of `own` turns over, found by walking square by square."""
    found = []
    for down, right in [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]:
        line, r, c = [], row + down, col + right
        while 0 <= r < len(cells) and 0 <= c < len(cells) and cells[r][c] not in (".", own):
            line.append((r, c))
            r, c = r + down, c + right
        if line and 0 <= r < len(cells) and 0 <= c < len(cells) and cells[r][c] == own:
            found += line
    return found


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_game_begins_with_four_discs_and_four_moves(size):
    game = Othello(size=size)
    state = game.new_state()
    middle = [row[size // 2 - 1 : size // 2 + 1] for row in game.view(state).cells]
    assert middle[size // 2 - 1 : size // 2 + 1] == [["o", "x"], ["x", "o"]]
    assert len(game.legal(state)) == 4
    assert state.to_play == 0


@pytest.mark.parametrize("size", [4, 6, 8])
def test_moves_and_turned_discs_are_those_of_a_walk_over_the_board(size):
    game, rng = Othello(size=size), np.random.default_rng(size)
    for _ in range(40):
        cells = rng.choice([".", "x", "o"], (size, size), p=[0.3, 0.35, 0.35]).tolist()
        own = "xo"[to_play := int(rng.integers(2))]
        turned = {
            (row, col): slow_turned(cells, row, col, own)
            for row, col in np.ndindex(size, size)
            if cells[row][col] == "."
        }
        state = set_up_position(game, cells, to_play)
        if state.is_over:
            assert not any(turned.values())
            continue
        expected = [row * size + col for (row, col), discs in turned.items() if discs]
        assert game.legal(state) == (expected or [game.pass_action])
        for action in expected:
            played, wanted = game.copy(state), [list(row) for row in cells]
            game.apply(played, action)
            row, col = divmod(action, size)
            for r, c in [(row, col), *turned[row, col]]:
                wanted[r][c] = own
            assert game.view(played).cells == wanted


def test_a_disc_turns_over_lines_in_all_eight_directions():
    game = Othello()
    cells = "x..x..x./.o.o.o../..ooo.../xoo.oox./..ooo.../.o.o.o../x..x..x./........"
    state = after(game, cells, 0, "d4")
    assert drawn(game, state).count("o") == 0
    assert drawn(game, state).count("x") == 25


def test_lines_do_not_run_around_the_edge():
    game = Othello()
    cells = "......xo/o......./......../......../......../......../......../......xo"
    state = set_up_position(game, board(cells), 0)
    assert names(game, state) == ["pass"]  # no line wraps around from the other edge
    assert names(game, set_up_position(game, board(cells), 1)) == ["f1", "f8"]


def test_a_pass_is_legal_only_where_no_disc_can_be_placed():
    game = Othello(size=4)
    state = set_up_position(game, board("xo../..../..../...."), 1)
    assert names(game, state) == ["pass"]
    game.apply(state, game.parse_action("PASS"))
    assert names(game, state) == ["c1"]
    assert state.to_play == 0
    assert drawn(game, state) == "xo../..../..../...."
    with pytest.raises(IllegalMove, match="pass is not legal here; legal moves: c1"):
        game.apply(state, game.pass_action)


@pytest.mark.parametrize(
    ("result", "returns"), [("win", [1, -1]), ("discs", [1, -1])], ids=["win", "discs"]
)
def test_the_game_ends_at_once_when_neither_can_move(result, returns):
    game = Othello(size=4, result=result)
    state = after(game, "xo../..../..../....", 0, "c1")  # all discs are x now
    assert state.is_over
    assert state.returns.tolist() == returns  # 3 discs and 13 empty squares are 16


@pytest.mark.parametrize(
    ("cells", "to_play", "move", "discs"),
    [
        ("xxxx/xxxx/oooo/ooo.", 0, "d4", 6),  # a full board: 11 to 5
        ("xxxx/oooo/oooo/oox.", 1, "d4", -8),
        ("xxxx/xxxx/oooo/oxo.", 0, "d4", 10),
    ],
)
def test_the_result_by_discs_is_the_difference(cells, to_play, move, discs):
    state = after(Othello(size=4, result="discs"), cells, to_play, move)
    assert state.is_over
    assert (state.returns * 16).tolist() == [discs, -discs]
    state = after(Othello(size=4), cells, to_play, move)
    assert state.returns.tolist() == [np.sign(discs), -np.sign(discs)]


@pytest.mark.parametrize(
    ("cells", "returns"),
    [
        ("xxxx/xxxx/oooo/oooo", [0, 0]),
        ("xx../..../..../..oo", [0, 0]),  # empty squares are nobody's in a draw
        ("xx../..../..../...o", [14 / 16, -14 / 16]),
        ("x.../..../..../.ooo", [-14 / 16, 14 / 16]),
        ("..../..../..../....", [0, 0]),
    ],
)
@pytest.mark.parametrize("to_play", [0, 1])
def test_a_position_in_which_nobody_can_move_is_over(cells, returns, to_play):
    state = set_up_position(Othello(size=4, result="discs"), board(cells), to_play)
    assert state.is_over
    assert state.returns.tolist() == returns
    assert (
        set_up_position(Othello(size=4), board(cells), to_play).returns.tolist()
        == np.sign(returns).tolist()
    )


def test_the_mover_and_his_moves_have_planes_of_their_own():
    game = Othello(size=4)
    state = after(game, "..../.ox./.xo./....", 0, "b1")
    planes = [["".join("01"[int(x)] for x in row) for row in p] for p in game.observation(state)]
    assert planes[0] == ["0000", "0000", "0010", "0000"]  # of the second player, to move now
    assert planes[1] == ["0100", "0110", "0100", "0000"]
    assert planes[2] == ["1010", "0000", "1000", "0000"]


def test_names_are_read_in_large_and_small_letters():
    game = Othello()
    assert [game.action_name(action) for action in (0, 7, 8, 63, 64)] == [
        *("a1", "h1", "a2", "h8"),
        "pass",
    ]
    assert [game.parse_action(text) for text in ("A1", "h8", "Pass")] == [0, 63, 64]
    with pytest.raises(IllegalMove, match="othello has no move 'i9'"):
        game.parse_action("I9")


def test_discs_of_both_players_can_be_set_up():
    assert cell_texts(Othello(size=4)) == [".", "x", "o"]
    with pytest.raises(ValueError, match="row 1, column 1 cannot hold 'z'"):
        set_up_position(Othello(size=4), board("z.../.ox./.xo./...."), 0)


@pytest.mark.parametrize("name", ["othello(size=4)", "othello(size=4,result=discs)"])
def test_positions_of_random_games_come_back_but_for_their_passes(name):
    game, rng = make_game(name), np.random.default_rng(3)
    num_passes = 0
    for _ in range(8):
        state, passes = game.new_state(), 0
        while True:
            made = set_up_position(game, game.view(state).cells, int(state.to_play))
            assert made.turn == state.turn - passes
            made.turn = state.turn
            assert first_difference(game, made, state) is None
            if state.is_over:
                break
            action = int(rng.choice(game.legal(state)))
            passes += action == game.pass_action
            game.apply(state, action)
        num_passes += passes
    assert num_passes > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"size": 5}, "size must be 4, 6 or 8, not 5"),
        ({"size": 10}, "size must be 4, 6 or 8, not 10"),
        ({"result": "points"}, "result must be win or discs, not 'points'"),
    ],
)
def test_other_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Othello(**parameters)
    text = ",".join(f"{key}={value}" for key, value in parameters.items())
    with pytest.raises(ValueError, match=message):
        make_game(f"othello({text})")


def test_openspiel_playthrough_of_othello_is_replayed_exactly():
    if not PLAYTHROUGH.exists():
        pytest.skip("the recorded OpenSpiel playthroughs are not part of a checkout")
    game = Othello()
    state = game.new_state()
    positions = re.split(r"^# State \d+$", PLAYTHROUGH.read_text(), flags=re.MULTILINE)[1:]
    for position in positions:
        rows = re.findall(r"^# \d ((?:[-xo] ){8})\d$", position, flags=re.MULTILINE)
        legal = re.search(r"^LegalActions\(\) = (\[.*\])$", position, flags=re.MULTILINE)
        called = re.search(r"^StringLegalActions\(\) = (\[.*\])$", position, flags=re.MULTILINE)
        returns = re.search(r"^Returns\(\) = \[(.*)\]$", position, flags=re.MULTILINE)
        if rows:
            assert game.text(state).split("\n") == [r.strip().replace("-", ".") for r in rows]
        if legal and called:
            assert str(game.legal(state)) == legal[1]
            assert str(names(game, state)).replace("'", '"') == called[1]
        if returns:
            assert state.returns.tolist() == [float(value) for value in returns[1].split(",")]
        for action in re.findall(r"^action: (\d+)$", position, flags=re.MULTILINE):
            game.apply(state, int(action))
    assert state.is_over
