"""Go: positions drawn by hand, a slow second set of rules, OpenSpiel's, and a recorded game."""

import re
from pathlib import Path

import numba
import numpy as np
import pytest
import slow_go
from random_games import record_games

from plainzero.games import UnknownGame, make_game
from plainzero.games.bundled.go.rules import Go
from plainzero.games.bundled.go.stones import BLACK
from plainzero.games.contract import IllegalMove
from plainzero.games.position_setup import set_up_position

pytestmark = pytest.mark.slow

PLAYTHROUGHS = Path(__file__).parents[4] / "shared" / "data" / "openspiel_playthroughs"
COMPILED_GAMES = 3 if numba.config.DISABLE_JIT else 200


def position(text, to_play=0, komi=0.5):
    """The rows from the top, and the player to move."""
    cells = [list(row) for row in text.split()]
    game = Go(size=len(cells), komi=komi)
    return game, set_up_position(game, cells, to_play)


def play(game, state, moves):
    for move in moves.split():
        game.apply(state, game.parse_action(move))
    return state


def played(game, moves):
    return play(game, game.new_state(), moves)


def drawn(game, state):
    return " ".join("".join(row) for row in game.view(state).cells)


def may_play(game, state, move):
    return game.parse_action(move) in game.legal(state)


class TestTaking:
    """What a stone takes, and where it may not be put."""

    def test_a_stone_without_a_liberty_is_taken_in_the_middle_and_in_the_corner(self):
        game, state = position("..... ..o.. .oxo. ..... ox...", to_play=1)
        play(game, state, "c2 a2")
        assert drawn(game, state) == "..... ..o.. .o.o. x.o.. .x..."

    def test_one_stone_takes_several_groups_at_once(self):
        game, state = position(".x... xox.. ..... xox.. .x...")
        play(game, state, "b3")
        assert drawn(game, state) == ".x... x.x.. .x... x.x.. .x..."

    def test_a_long_group_is_taken_whole(self):
        game, state = position("oooo. oxxxx oxo.. oxo.. .xo..")
        play(game, state, "e5 pass a1")
        assert drawn(game, state) == "....x .xxxx .xo.. .xo.. xxo.."

    @pytest.mark.parametrize(
        ("text", "move"),
        [
            (".o... o.... ..... ..... .....", "a5"),
            ("..... ..o.. .o.o. ..o.. .....", "c3"),
            ("x.o.. xxo.. ooo.. ..... .....", "b5"),  # the last liberty of its own group
        ],
    )
    def test_suicide_is_illegal(self, text, move):
        game, state = position(text)
        with pytest.raises(IllegalMove, match=f"{move} is not legal"):
            play(game, state, move)

    def test_a_stone_without_liberties_that_takes_is_no_suicide(self):
        game, state = position(".ox.. oxx.. xx... ..... .....")
        play(game, state, "a5")
        assert drawn(game, state) == "x.x.. .xx.. xx... ..... ....."

    def test_a_stone_that_joins_a_group_with_liberties_is_no_suicide(self):
        game, state = position("x.o.. xxo.. .oo.. ..... .....")
        play(game, state, "b5")
        assert drawn(game, state) == "xxo.. xxo.. .oo.. ..... ....."

    def test_snapback_takes_three_stones_where_one_was_just_taken(self):
        game, state = position("..... ..... xx... oox.. ..x..")
        play(game, state, "a1 b1")
        assert drawn(game, state) == "..... ..... xx... oox.. .ox.."
        play(game, state, "a1")
        assert drawn(game, state) == "..... ..... xx... ..x.. x.x.."


class TestSuperko:
    """No play brings back an earlier position; cycles of two, three and six plays."""

    def test_ko_may_not_be_retaken_at_once_but_after_another_play(self):
        game = Go(size=3)
        state = played(game, "a3 b1 b2 a2 a1")
        assert drawn(game, state) == "x.. #x. xo."
        with pytest.raises(IllegalMove, match="a2 is not legal"):
            play(game, state, "a2")
        play(game, state, "c3 c1")
        assert drawn(game, state) == "x.o .x. x.x"

    def test_sending_two_returning_one(self):
        game = Go(size=3)
        state = played(game, "c2 b3 b1 b2 c3 c1")
        assert drawn(game, state) == ".o. .o# .xo"  # c2 would take c1: as before c3

    def test_a_play_that_takes_nothing_may_repeat_a_position_too(self):
        game = Go(size=3)
        state = played(game, "c3 c1 b1 b3 b2 c2 c3")
        assert drawn(game, state) == ".ox .x. .x#"  # as before c2

    def test_triple_ko_ends_when_the_first_position_would_come_back(self):
        middle = " ".join(["........."] * 5)
        game, state = position(f"xo.o..... .xo...... {middle} .xo...xo. xo.o.x.xo")
        play(game, state, "c1 g1 c9 b1 h1")
        assert drawn(game, state) == f"x#xo..... .xo...... {middle} .xo...xo. xo.o.x#xo"
        play(game, state, "pass e5")
        assert drawn(game, state).count("#") == 0  # with e5, no position is as before

    def test_passing_is_always_legal_and_repeats_nothing(self):
        game = Go(size=3)
        state = played(game, "b2 pass a1")
        assert may_play(game, state, "pass")

    def test_what_superko_forbids_can_be_set_up_and_holds_for_one_play(self):
        game, state = position("x.. #x. xo.", to_play=1)
        assert drawn(game, state) == "x.. #x. xo."
        assert not may_play(game, state, "a2")
        play(game, state, "c3 c2")
        assert may_play(game, state, "a2")


class TestEnd:
    """Two passes, the limit, and what is counted."""

    def test_two_passes_in_a_row_end_the_game(self):
        game, state = position("..... ..... ..x.. ..... .....", to_play=1)
        play(game, state, "pass a1 pass")
        assert not state.is_over
        play(game, state, "pass")
        assert state.is_over
        assert game.legal(state) == []

    def test_neutral_points_are_nobodys_and_eyes_their_owners(self):
        game, state = position(".xxo. xx.oo .x.o. xxxoo .xoo.")
        assert game.area_lead(state) == 12 - 11 - 0.5

    def test_in_seki_the_shared_liberties_count_for_nobody(self):
        game, state = position("xx.o xxoo xxoo xx.o", komi=2)
        assert game.area_lead(state) == 8 - 6 - 2
        play(game, state, "pass pass")
        assert state.returns.tolist() == [0, 0]

    @pytest.mark.parametrize(("komi", "winner"), [(24.5, 0), (25.5, 1), (-30, 0), (400, 1)])
    def test_a_lone_stone_owns_the_whole_board_against_komi(self, komi, winner):
        game, state = position("..... ..... ..x.. ..... .....", komi=komi)
        play(game, state, "pass pass")
        assert state.returns[winner] == 1
        assert state.returns[1 - winner] == -1

    def test_an_empty_board_belongs_to_nobody(self):
        assert played(Go(size=2, komi=0), "pass pass").returns.tolist() == [0, 0]

    def test_at_the_limit_the_position_is_scored_as_it_stands(self):
        game = Go(size=3, komi=0)
        state = played(game, "a1")
        state.turn = game.max_turns - 1
        play(game, state, "c3")
        assert state.is_over
        assert state.returns.tolist() == [0, 0]

    def test_scoring_a_position_does_not_change_it(self):
        game, state = position(".xxo. xx.oo .x.o. xxxoo .xoo.")
        before = state.tobytes()
        game.area_lead(state)
        assert state.tobytes() == before


class TestSeen:
    """Names, the observation, positions made by hand, and parameters."""

    @pytest.mark.parametrize(
        ("text", "action"), [("a1", 0), ("J9", 80), (" h8 ", 70), ("PASS", 81), ("b1", 1)]
    )
    def test_points_are_named_as_players_do(self, text, action):
        game = Go()
        assert game.parse_action(text) == action
        assert game.action_name(action) == text.strip().lower()

    @pytest.mark.parametrize("text", ["i5", "a0", "a10", "k1", "resign"])
    def test_other_names_are_refused(self, text):
        with pytest.raises(IllegalMove, match="go has no move"):
            Go().parse_action(text)

    def test_planes_are_the_movers_view(self):
        game = Go(size=3, komi=3)
        planes = game.observation(played(game, "a3 b1 b2 a2 a1"))
        rows = ["".join("1" if cell else "." for cell in row) for plane in planes for row in plane]
        assert " ".join(rows[:3]) == "... ... .1."  # white's
        assert " ".join(rows[3:6]) == "1.. .1. 1.."
        assert " ".join(rows[6:9]) == "... 1.. ..."  # the ko
        assert " ".join(rows[9:12]) == "... ... 1.."  # the last stone
        assert planes[4].sum() == 0
        assert (planes[5] == 0.5).all()
        planes = game.observation(played(game, "a3 pass"))
        assert planes[3].sum() == 0
        assert (planes[4] == 1).all()
        assert (planes[5] == -0.5).all()

    def test_a_group_without_a_liberty_cannot_be_set_up(self):
        with pytest.raises(ValueError, match="the stone at a3 has no liberty"):
            position("xo. o.. ...")

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("go(size=1)", "size must be 2 to 19, not 1"),
            ("go(size=20)", "size must be 2 to 19, not 20"),
            ("go(komi=500)", "komi must be -400 to 400, not 500"),
            ("go(komi=True)", "komi must be float"),
        ],
    )
    def test_wrong_parameters_are_refused(self, name, message):
        with pytest.raises(UnknownGame, match=message):
            make_game(name)

    def test_a_komi_that_is_no_number_is_refused(self):
        with pytest.raises(ValueError, match="komi must be -400 to 400, not nan"):
            Go(komi=float("nan"))

    def test_the_largest_board_can_be_played(self):
        game = Go(size=19)
        state = played(game, "t19 a1 s18 a2")
        assert state.stones[game.parse_action("t19")] == 1
        assert len(game.legal(state)) == 361 - 4 + 1

    def test_the_area_of_a_large_board_is_counted_without_overflow(self):
        game = Go(size=13, komi=7.5)
        state = game.new_state()
        for point in range(150):
            game.put(state, point, BLACK)
        assert game.area_lead(state) == 169 - 7.5


def playout_moves(game, state):
    actions = np.zeros(game.num_actions, np.int32)
    return actions[: game.playout_actions(state, actions)].tolist()


@pytest.mark.parametrize(("size", "games"), [(2, 20), (3, 9), (4, 4), (5, 2)])
def test_random_games_agree_with_slow_rules(size, games):
    game, rng = Go(size=size, komi=0), np.random.default_rng(size)
    forbidden = 0
    for _ in range(games):
        state, slow = game.new_state(), slow_go.start(size)
        while not state.is_over:
            points = slow_go.legal_points(slow)
            assert game.legal(state) == [*points, size**2]
            no_eyes = [point for point in points if not slow_go.is_single_eye(slow, point)]
            assert sorted(playout_moves(game, state)) == (no_eyes or [size**2])
            if state.turn % 4 == 3:
                check_groups(state, slow)
            forbidden += drawn(game, state).count("#")
            action = int(rng.choice(points)) if points and rng.random() < 0.95 else size**2
            game.apply(state, action)
            slow = slow_go.play(slow, slow_go.PASS if action == size**2 else action)
        assert state.returns[0] == np.sign(slow_go.area_lead(size, slow.board))
    assert forbidden > 0 or size > 5


def check_groups(state, slow):
    """Stones, groups and pseudo-liberties are those that a flood fill finds."""
    assert "".join(".xo"[stone] for stone in state.stones[:-1]) == "".join(slow.board)
    for point, stone in enumerate(slow.board):
        if stone != ".":
            group, _ = slow_go.region(slow.size, slow.board, point)
            assert set(np.flatnonzero(state.group == state.group[point])) == group
            near = [n for member in group for n in slow_go.neighbours(slow.size, member)]
            seen = sum(slow.board[n] == "." for n in near)
            assert state.liberties[state.group[point]] == seen


class TestOpenSpiel:
    """OpenSpiel ends a game as a draw where superko forbids the play; all else is the same."""

    @staticmethod
    def reference(size):
        pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
        limit = Go(size=size).max_turns
        name = f"go(board_size={size},komi=7.5,max_game_length={limit})"
        return pyspiel.load_game(name).new_initial_state()

    @staticmethod
    def check_legal(expected, legal):
        """What OpenSpiel allows besides repeats a position, and is a draw at once there."""
        theirs = expected.legal_actions()
        assert set(legal) <= set(theirs)
        for action in set(theirs) - set(legal):
            repeated = expected.child(action)
            assert repeated.is_terminal()
            assert repeated.returns() == [0, 0]
        return len(theirs) - len(legal)

    def test_compiled_random_games_on_9x9(self):
        recorded = record_games(Go(), COMPILED_GAMES, seed=1)
        superko = 0
        for game in range(COMPILED_GAMES):
            expected = self.reference(9)
            for ply in range(recorded.lengths[game]):
                assert not expected.is_terminal()
                assert expected.current_player() == recorded.players[game, ply]
                legal = np.flatnonzero(recorded.legal_masks[game, ply]).tolist()
                superko += self.check_legal(expected, legal)
                expected.apply_action(int(recorded.actions[game, ply]))
            assert expected.is_terminal()
            assert expected.returns() == recorded.returns[game].tolist()
        assert superko > 0 or numba.config.DISABLE_JIT

    @pytest.mark.parametrize("size", [5, 7])
    def test_uncompiled_random_games(self, size):
        game, rng = Go(size=size), np.random.default_rng(size)
        for _ in range(4):
            state, expected = game.new_state(), self.reference(size)
            while not state.is_over:
                self.check_legal(expected, game.legal(state))
                action = int(rng.choice(game.legal(state)))
                game.apply(state, action)
                expected.apply_action(action)
            assert expected.is_terminal()
            assert expected.returns() == state.returns.tolist()


def test_openspiel_playthrough_is_replayed_exactly():
    path = PLAYTHROUGHS / "go.txt"
    if not path.exists():
        pytest.skip("the recorded OpenSpiel playthroughs are not part of a checkout")
    game = Go(size=7, komi=4.5)
    state = game.new_state()
    plays = 0
    for text in re.split(r"^# State \d+$", path.read_text(), flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^#  ?\d+ ([+XO]+)$", text, flags=re.MULTILINE)
        legal = re.search(r"^LegalActions\(\) = (\[.*\])$", text, flags=re.MULTILINE)
        returns = re.search(r"^Returns\(\) = \[(.*)\]$", text, flags=re.MULTILINE)
        if rows:
            shown = drawn(game, state).replace("#", ".")
            assert shown == " ".join(rows).translate(str.maketrans("+XO", ".xo"))
        if legal:
            assert str(game.legal(state)) == legal[1]
        if returns:
            assert state.returns.tolist() == [float(value) for value in returns[1].split(",")]
        for action in re.findall(r"^action: (\d+)$", text, flags=re.MULTILINE):
            game.apply(state, int(action))
            plays += 1
    assert plays > 40
