"""Gomoku: fives, forbidden points, captures and ends in positions drawn by hand.

`*` is the point to look at; `x` moves first. Random games are compared with OpenSpiel, and with
rules written slowly.
"""

import itertools
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from gomoku_oracle import STEPS, Oracle
from random_games import record_games

from plainzero.games import make_game
from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.bundled.gomoku.with_captures import Gomoku42
from plainzero.games.contract import IllegalMove
from plainzero.games.position_setup import set_up_position

PLAYTHROUGH = (
    Path(__file__).parents[4] / "shared" / "data" / "openspiel_playthroughs" / "gomoku.txt"
)
RENJU = Gomoku(size=9, rule="renju")
CAPTURES = Gomoku42(size=9)
NO_DOUBLE_THREES = Gomoku(size=9, double_three="forbidden")


def position(game, text, to_play=0):
    """The state drawn in the upper left of an empty board, and the action at `*`."""
    rows = text.split("/") + [""] * game.size
    cells = [list(row.ljust(game.size, "."))[: game.size] for row in rows[: game.size]]
    points = [(row, line.index("*")) for row, line in enumerate(cells) if "*" in line]
    for row, col in points:
        cells[row][col] = "."
    state = set_up_position(game, cells, to_play)
    return state, points[0][0] * game.size + points[0][1] if points else None


def is_legal(game, text, to_play=0):
    state, action = position(game, text, to_play)
    return action in game.legal(state)


def after(game, text, to_play=0):
    """The state after a stone on `*`."""
    state, action = position(game, text, to_play)
    game.apply(state, action)
    return state


def swapped(text):
    return text.translate(str.maketrans("xo", "ox"))


def turned(text, size):
    """The drawing with rows and columns exchanged."""
    rows = [row.ljust(size, ".") for row in text.split("/")] + ["." * size] * size
    return "/".join("".join(column) for column in zip(*rows[:size], strict=True))


def count_stones(state):
    return [sum(int(row).bit_count() for row in stones[0]) for stones in state.stones]


class TestBoard:
    """Names, planes and parameters."""

    def test_points_are_named_from_the_bottom_left(self):
        game = Gomoku()
        assert [game.action_name(action) for action in (0, 14, 112, 210)] == [
            "a15",
            "o15",
            "h8",
            "a1",
        ]
        assert game.parse_action(" H8 ") == 112
        with pytest.raises(
            IllegalMove, match=r"gomoku has no point 'p1'; its points are a1 to o15"
        ):
            game.parse_action("p1")

    def test_planes_are_the_movers_stones_and_the_opponents(self):
        state, _ = position(Gomoku(size=5), "x../.o.", to_play=1)
        planes = Gomoku(size=5).observation(state)
        assert planes.shape == (2, 5, 5)
        assert (planes[0, 1, 1], planes[1, 0, 0], planes.sum()) == (1, 1, 2)

    def test_renju_tells_the_network_who_is_restricted(self):
        assert RENJU.observation(position(RENJU, "x", to_play=0)[0])[2].min() == 1
        assert RENJU.observation(position(RENJU, "x", to_play=1)[0])[2].max() == 0

    def test_pairs_are_planes_as_parts_of_those_that_win(self):
        state = after(CAPTURES, "xoo*")
        planes = CAPTURES.observation(state)
        assert planes.shape == (4, 9, 9)
        assert (planes[2].max(), planes[3].min()) == (0, pytest.approx(1 / 5))

    def test_text_names_rows_and_columns_and_counts_pairs(self):
        lines = CAPTURES.text(after(CAPTURES, "xoo*")).split("\n")
        assert lines[0] == " 9 x . . x . . . . ."
        assert lines[-2:] == ["   a b c d e f g h i", "pairs: x 1, o 0"]

    def test_preset_is_gomoku_with_other_defaults(self):
        game = make_game("gomoku-42")
        assert (game.size, game.captures, game.double_three) == (19, 5, "forbidden")
        assert make_game("gomoku-42(captures=3)").name == "gomoku-42(captures=3)"

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"size": 4}, "size must be 5 to 26, not 4"),
            ({"size": 27}, "size must be 5 to 26, not 27"),
            ({"rule": "pente"}, "rule must be freestyle, standard or renju, not 'pente'"),
            ({"captures": 11}, "captures must be 0 to 10, not 11"),
            ({"double_three": "no"}, "double_three must be allowed or forbidden, not 'no'"),
            ({"rule": "renju", "captures": 5}, "rule=renju has its own forbidden moves"),
            ({"rule": "renju", "double_three": "forbidden"}, "rule=renju has its own forbidden"),
        ],
    )
    def test_wrong_parameters_are_refused(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            Gomoku(**parameters)


class TestFives:
    """What wins."""

    @pytest.mark.parametrize(
        "text",
        ["xxxx*", "....xx*xx", "x/x/*/x/x", "x/.x/..*/...x/....x", "....x/...x/..x/.x/*"],
    )
    def test_five_in_a_row_win_in_every_direction(self, text):
        for player, drawing in enumerate((text, swapped(text))):
            state = after(Gomoku(size=9), drawing, to_play=player)
            assert state.is_over
            assert state.returns[player] == 1
            assert len(Gomoku(size=9).view(state).marks) == 5

    def test_rows_do_not_run_on_at_the_edge(self):
        assert not after(Gomoku(size=9), ".......xx/xx*").is_over

    @pytest.mark.parametrize(
        ("rule", "player", "wins"),
        [
            ("freestyle", 0, True),
            ("freestyle", 1, True),
            ("standard", 0, False),
            ("standard", 1, False),
            ("renju", 1, True),
        ],
    )
    def test_six_in_a_row_win_where_the_rule_says_so(self, rule, player, wins):
        game = Gomoku(size=9, rule=rule)
        state = after(game, swapped(".xxx*xx") if player else ".xxx*xx", to_play=player)
        assert state.is_over == wins
        assert len(game.view(state).marks) == (6 if wins else 0)

    def test_five_and_six_at_once_win_by_the_five(self):
        state = after(Gomoku(size=9, rule="standard"), "xxx*xx/...x/...x/...x/...x")
        assert state.returns.tolist() == [1, -1]

    def test_full_board_without_a_five_is_a_draw(self):
        rows = ["xxoox", "ooxxo", "xxoox", "ooxxo", "xxoo*"]
        state = after(Gomoku(size=5), "/".join(rows))
        assert state.is_over
        assert state.returns.tolist() == [0, 0]

    def test_last_stone_that_makes_five_wins(self):
        rows = ["xxoox", "ooxxo", "xxoox", "ooxxo", "xxxx*"]
        assert after(Gomoku(size=5), "/".join(rows)).returns.tolist() == [1, -1]

    def test_player_without_a_legal_move_draws(self):
        game = Gomoku(size=6, rule="renju")
        rows = ["xxx.xx", "ooxxoo", "xxooxx", "ooxxoo", "xxooxx", "ooxxo*"]
        state = after(game, "/".join(rows), to_play=1)
        assert state.is_over
        assert state.returns.tolist() == [0, 0]


ROW_THREES = [  # with a column of three through `*`: forbidden if the row is a three as well
    ("...x*x...", True),
    ("..xx*....", True),
    ("....*xx..", True),
    (".xx.*....", True),  # broken
    (".x.x*....", True),
    ("....*.xx.", True),
    ("..o.*xx..", True),
    ("..o.*xx.o", False),  # no room for a straight four
    ("...o*xx..", False),
    ("....*xxo.", False),
    ("..x.*..x.", False),
    ("oxx.*.o..", False),
    (".xx.*o...", False),
    ("..xxo*...", False),
]


class TestThrees:
    """Double-threes, for both sides alike."""

    @pytest.mark.parametrize("player", [0, 1])
    @pytest.mark.parametrize(("row", "is_three"), ROW_THREES)
    def test_three_in_the_row_and_one_in_the_column(self, row, is_three, player):
        column = row.index("*")
        text = "/".join(["", "", "." * column + "x", "." * column + "x", row])
        drawing = swapped(text) if player else text
        assert is_legal(NO_DOUBLE_THREES, drawing, player) != is_three
        assert is_legal(NO_DOUBLE_THREES, turned(drawing, 9), player) != is_three
        assert is_legal(Gomoku(size=9), drawing, player)
        assert is_legal(RENJU, drawing, player) != (is_three and player == 0)

    def test_three_at_the_edge_is_none(self):
        assert is_legal(NO_DOUBLE_THREES, "....x/....x/..xx*")
        assert not is_legal(NO_DOUBLE_THREES, "/....x/....x/..xx*")
        assert is_legal(NO_DOUBLE_THREES, "/xx*/..x/..x")
        assert not is_legal(NO_DOUBLE_THREES, "/.xx*/...x/...x")

    def test_diagonals_count_like_rows(self):
        assert not is_legal(NO_DOUBLE_THREES, "/.x...x/..x.x/...*")
        assert not is_legal(NO_DOUBLE_THREES, "/..x.x/...xx/....*")

    def test_four_with_a_three_is_allowed(self):
        assert is_legal(NO_DOUBLE_THREES, "/....x/....x/.xxx*")
        assert is_legal(RENJU, "/....x/....x/.xxx*")

    def test_move_that_makes_five_is_never_a_double_three(self):
        threes = "////..xx*/...x/..x"
        assert not is_legal(NO_DOUBLE_THREES, threes)
        state = after(NO_DOUBLE_THREES, threes.replace("////", "....x/....x/....x/....x/"))
        assert state.returns.tolist() == [1, -1]

    def test_exact_rules_want_room_for_exactly_five(self):
        text = "/.....x/.....x/x..xx*.o"  # b6 would make six of the straight four
        assert not is_legal(NO_DOUBLE_THREES, text)
        assert is_legal(Gomoku(size=9, rule="standard", double_three="forbidden"), text)
        assert is_legal(RENJU, text)

    def test_double_three_is_forbidden_even_if_it_captures(self):
        threes = "/....x/....x/....*oox/...x/..x"
        assert not is_legal(CAPTURES, threes)
        assert after(CAPTURES, threes.removesuffix("/..x")).pairs[0] == 1


class TestRenju:
    """What only black must not do."""

    @pytest.mark.parametrize(
        "text",
        [
            "/oxxx*/....x/....x/....x/....o",  # a four in the row and one in the column
            "/x.x*x.x",  # two fours in one line
            "/xxx.*.xxx",
            "/xx.x*.xx",
            "/xxx*xx",  # six in a row
            "/.xxx*xxx",
        ],
    )
    def test_double_fours_and_overlines_are_forbidden_to_black_alone(self, text):
        assert not is_legal(RENJU, text, 0)
        assert not is_legal(RENJU, turned(text, 9), 0)
        assert is_legal(RENJU, swapped(text), 1)
        assert is_legal(NO_DOUBLE_THREES, text, 0)

    def test_straight_four_is_one_four(self):
        assert is_legal(RENJU, "/..xxx*")
        assert is_legal(RENJU, "/.xx*x.o")

    def test_four_that_can_only_become_six_is_none(self):
        assert is_legal(RENJU, "/oxxx*.x/....x/....x/....x/....o")

    @pytest.mark.parametrize(
        "text",
        ["xxxx*/....x/....x/....x", "xxx*xx/...x/...x/...x/...x", "xxxx*/...xx/..x.x/......"],
    )
    def test_five_goes_before_everything_forbidden(self, text):
        assert after(RENJU, text).returns.tolist() == [1, -1]

    def test_three_whose_straight_four_is_forbidden_is_none(self):
        assert not is_legal(RENJU, "/....x/....x/o.xx*..o")
        # The row's only straight four needs f6, which would make six in that column.
        assert is_legal(RENJU, ".....x/....xx/....xx/o.xx*..o/.....x/.....x")


class TestCaptures:
    """Pairs, and fives that can be answered."""

    @pytest.mark.parametrize("player", [0, 1])
    @pytest.mark.parametrize(
        "text",
        ["*oox", "xoo*", "*/o/o/x", "x/o/o/*", "*/.o/..o/...x", "x/.o/..o/...*", "...*/..o/.o/x",
         "...x/..o/.o/*"],
    )  # fmt: skip
    def test_enclosed_pair_is_taken_in_every_direction(self, text, player):
        state = after(CAPTURES, swapped(text) if player else text, player)
        assert state.pairs[player] == 1
        assert sorted(count_stones(state)) == [0, 2]
        assert len(CAPTURES.legal(state)) == 79

    def test_two_pairs_are_taken_at_once(self):
        state = after(CAPTURES, "xoo*oox")
        assert (state.pairs.tolist(), count_stones(state)) == ([2, 0], [3, 0])

    def test_freed_points_can_be_played_again(self):
        state = after(CAPTURES, "xoo*", to_play=0)
        CAPTURES.apply(state, 1)
        assert count_stones(state) == [2, 1]

    @pytest.mark.parametrize("text", ["xo*", "xooo*", "*ooo", "xo.*", "xoo.*"])
    def test_nothing_but_a_closed_pair_is_taken(self, text):
        assert after(CAPTURES, text).pairs.tolist() == [0, 0]

    def test_moving_into_a_sandwich_is_safe(self):
        state = after(CAPTURES, "xo*x", to_play=1)
        assert (state.pairs.tolist(), count_stones(state)) == ([0, 0], [2, 2])

    def test_nothing_is_taken_without_captures(self):
        assert count_stones(after(NO_DOUBLE_THREES, "xoo*")) == [2, 2]

    def test_last_pair_wins(self):
        state, action = position(CAPTURES, "xoo*")
        state.pairs[0] = 4
        CAPTURES.apply(state, action)
        assert state.returns.tolist() == [1, -1]

    def test_five_without_an_answer_wins_at_once(self):
        assert after(CAPTURES, "/xxxx*").returns.tolist() == [1, -1]

    BREAKABLE = "..o/xxxx*/..x"  # o on c6 takes c7 and c8

    def answered(self, text, reply, pairs=(0, 0)):
        """The state after x on `*` and o on the point of that name."""
        state, action = position(CAPTURES, text)
        state.pairs[:] = pairs
        CAPTURES.apply(state, action)
        assert not state.is_over
        assert state.is_pending
        CAPTURES.apply(state, CAPTURES.parse_action(reply))
        return state

    def test_five_that_a_capture_breaks_has_not_won(self):
        state = self.answered(self.BREAKABLE, "c6")
        assert not state.is_over
        assert not state.is_pending
        assert count_stones(state) == [4, 2]

    def test_five_that_stands_after_the_answer_wins(self):
        assert self.answered(self.BREAKABLE, "i1").returns.tolist() == [1, -1]

    def test_answer_with_a_five_of_its_own_loses(self):
        state = self.answered(self.BREAKABLE + "////oooo", "e3")
        assert state.returns.tolist() == [1, -1]

    def test_answer_that_breaks_and_makes_a_five_wins(self):
        state = self.answered("..o/xxxx*/..x/oo.oo", "c6")
        assert state.returns.tolist() == [-1, 1]

    def test_answer_that_takes_the_last_pair_wins_elsewhere(self):
        state = self.answered("xxxx*////oxx", "d5", pairs=(0, 4))
        assert state.returns.tolist() == [-1, 1]

    def test_pair_elsewhere_is_no_answer_to_a_five(self):
        assert after(CAPTURES, "xxxx*////oxx").returns.tolist() == [1, -1]

    def test_six_that_a_capture_shortens_to_five_stands(self):
        assert after(CAPTURES, "o/xxx*xx/x").returns.tolist() == [1, -1]

    def test_waiting_five_can_be_set_up(self):
        text = self.BREAKABLE.replace("*", "x")
        waiting, _ = position(CAPTURES, text, to_play=1)
        assert waiting.is_pending
        assert not waiting.is_over
        stood, _ = position(CAPTURES, text, to_play=0)
        assert stood.returns.tolist() == [1, -1]

    def test_longest_game_counts_the_points_that_captures_free(self):
        assert Gomoku(size=7, captures=3).max_turns == 49 + 8
        assert Gomoku(size=7).max_turns == 49


ORACLE_RULES = [
    {"size": 9, "rule": "renju"},
    {"size": 9, "captures": 5, "double_three": "forbidden"},
    {"size": 7, "rule": "standard", "captures": 2},
]


@pytest.mark.parametrize("parameters", ORACLE_RULES)
def test_random_games_agree_with_rules_written_slowly(parameters):
    game, rng = Gomoku(**parameters), np.random.default_rng(3)
    slow, state = Oracle(**parameters), game.new_state()
    forbidden = 0
    while not slow.is_over:
        legal = [row * game.size + col for row, col in slow.legal(slow.to_play)]
        assert game.legal(state) == legal
        forbidden += len(slow.empty()) - len(legal)
        action = int(rng.choice(legal))
        slow.play(divmod(action, game.size))
        game.apply(state, action)
        assert _stones(game, state) == slow.board
        assert state.pairs.tolist() == slow.pairs
        assert state.is_over == slow.is_over
    expected = [0, 0] if slow.winner is None else [1 - 2 * slow.winner, 2 * slow.winner - 1]
    assert state.returns.tolist() == expected
    assert (forbidden > 0) == game.has_forbidden


INCREMENTAL_RULES = [
    {"size": 9, "captures": 10, "double_three": "forbidden"},
    {"size": 12, "rule": "standard", "captures": 10, "double_three": "forbidden"},
    {"size": 19, "captures": 5, "double_three": "forbidden"},
]


@pytest.mark.parametrize("choose", ["anywhere", "captures", "threes"])
@pytest.mark.parametrize("parameters", INCREMENTAL_RULES)
def test_forbidden_points_kept_up_to_date_are_those_of_a_look_at_the_whole_board(
    parameters, choose
):
    game, rng = Gomoku(**parameters), np.random.default_rng(11)
    state, slow = game.new_state(), Oracle(**parameters)
    forbidden = captured = 0
    for _ in range(400):
        game.apply(state, _chosen(game, state, slow, choose, rng))
        slow.board, slow.to_play = _stones(game, state), int(state.to_play)
        suspects = _points_of_two_threes(game, slow.board)
        assert _points(state.suspects, game.size).tolist() == suspects.tolist()
        found = _points(state.forbidden, game.size)
        for row, col in np.argwhere(suspects[slow.to_play]):
            if (row, col) not in slow.board:
                assert found[row, col] == slow.is_forbidden(slow.to_play, (row, col))
                forbidden += found[row, col]
        assert not (found & ~suspects[slow.to_play]).any()
        if state.is_over:
            captured += state.pairs.sum()
            state, slow = game.new_state(), Oracle(**parameters)
    assert forbidden > 20
    assert captured > 20 or choose != "captures"


def _chosen(game, state, slow, choose, rng):
    """A legal action: one that captures, or one near the mover's own stones, if any."""
    legal = game.legal(state)
    places = [divmod(action, game.size) for action in legal]
    if choose == "captures":
        liked = [bool(slow.taken(slow.to_play, place)) for place in places]
    else:
        own = [place for place, owner in slow.board.items() if owner == slow.to_play]
        liked = [any(abs(r - y) <= 2 >= abs(c - x) for y, x in own) for r, c in places]
    some = [action for action, is_liked in zip(legal, liked, strict=True) if is_liked]
    return int(rng.choice(some if some and choose != "anywhere" else legal))


def _points(rows, size):
    """Rows of bits as an array of booleans."""
    return (rows[..., None].astype(np.int64) >> np.arange(size)) & 1 == 1


def _points_of_two_threes(game, stones):
    """Points where a stone of each player makes three of four cells between empty ones, twice."""
    size = game.size
    board = np.full((size + 8, size + 8), -2)  # off the board; -1: empty
    board[4:-4, 4:-4] = -1
    for (row, col), player in stones.items():
        board[row + 4, col + 4] = player
    directions = np.zeros((2, size, size), np.int64)
    for player, (down, right) in itertools.product(range(2), STEPS):
        is_three = np.zeros((size, size), np.bool_)
        for first in range(-4, 0):
            steps = [step for step in range(first, first + 6) if step != 0]
            cells = [board[4 + i * down :, 4 + i * right :][:size, :size] for i in steps]
            own = sum((cell == player).astype(int) for cell in cells[1:4])
            empty = sum((cell == -1).astype(int) for cell in cells[1:4])
            is_three |= (own == 2) & (empty == 1) & (cells[0] == -1) & (cells[4] == -1)
        directions[player] += is_three
    return directions > 1


def _stones(game, state):
    cells = game.view(state).cells
    places = np.ndindex(game.size, game.size)
    return {(r, c): "xo".index(cells[r][c]) for r, c in places if cells[r][c] != "."}


def test_compiled_random_games_agree_with_openspiel():
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    games = 5 if numba.config.DISABLE_JIT else 100
    recorded = record_games(Gomoku(), games, seed=1)
    for game in range(games):
        state = pyspiel.load_game("gomoku").new_initial_state()
        for ply in range(recorded.lengths[game]):
            assert not state.is_terminal()
            assert state.current_player() == recorded.players[game, ply]
            assert state.legal_actions() == np.flatnonzero(recorded.legal_masks[game, ply]).tolist()
            state.apply_action(int(recorded.actions[game, ply]))
        assert state.is_terminal()
        assert state.returns() == recorded.returns[game].tolist()


def test_openspiel_playthrough_is_replayed_exactly():
    if not PLAYTHROUGH.exists():
        pytest.skip("the recorded OpenSpiel playthroughs are not part of a checkout")
    game = Gomoku()
    state = game.new_state()
    for found in re.split(r"^# State \d+$", PLAYTHROUGH.read_text(), flags=re.MULTILINE)[1:]:
        legal = re.search(r"^LegalActions\(\) = (\[.*\])$", found, flags=re.MULTILINE)
        if legal:
            assert str(game.legal(state)) == legal[1]
        for action in re.findall(r"^action: (\d+)$", found, flags=re.MULTILINE):
            game.apply(state, int(action))
    assert state.is_over
    assert state.turn > 50
