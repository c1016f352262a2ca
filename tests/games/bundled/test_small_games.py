"""Pig, Ultimate tic-tac-toe and Breakthrough: by hand, and compared with OpenSpiel's rules."""

import numpy as np
import pytest

from plainzero.games import make_game
from plainzero.games.contract import CHANCE
from plainzero.games.position_setup import set_up_position


@pytest.fixture(scope="module")
def pyspiel():
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")


def played(game, *names):
    state = game.new_state()
    for name in names:
        game.apply(state, game.parse_action(name))
    return state


class TestPig:
    """Roll and hold; a one loses what the turn has brought."""

    def test_a_one_loses_the_turn_and_nothing_else(self):
        game = make_game("pig")
        state = game.new_state()
        for action in (0, 3, 1, 1, 0, 5, 0, 0):  # roll a 4, hold; hold; roll a 6, roll a 1
            game.apply(state, action)
        assert state.scores.tolist() == [4, 0]
        assert (state.to_play, state.total) == (1, 0)

    def test_who_has_enough_must_hold_and_wins(self):
        game = make_game("pig(target=6)")
        state = game.new_state()
        game.apply(state, 0)
        game.apply(state, 5)
        assert game.legal(state) == [1]
        game.apply(state, 1)
        assert state.returns.tolist() == [1, -1]

    def test_observation_is_the_rollers_while_the_die_rolls(self):
        game = make_game("pig(target=10,horizon=4)")
        state = set_up_position(game, [["x", "5", "."], ["o", "2", "3"]], 1)
        seen = game.observation(state)
        assert seen.tolist() == pytest.approx([0.2, 0.5, 0.3, 0.0])
        game.apply(state, 0)
        assert state.to_play == CHANCE
        assert game.observation(state).tolist() == pytest.approx([0.2, 0.5, 0.3, 0.25])

    @pytest.mark.parametrize(
        ("cells", "message"),
        [
            ([["x", "100", "0"], ["o", "0", "."]], "row 1 must hold x and points below 100"),
            ([["x", "0", "."], ["o", "0", "7"]], "belongs beside the player to move"),
            ([["x", "0", "106"], ["o", "0", "."]], "a turn cannot total 106 points"),
        ],
    )
    def test_points_that_cannot_be_are_refused(self, cells, message):
        with pytest.raises(ValueError, match=message):
            set_up_position(make_game("pig"), cells, 0)

    @pytest.mark.parametrize("parameters", ["target=1", "die=1", "horizon=0", "horizon=30001"])
    def test_wrong_parameters_are_refused(self, parameters):
        with pytest.raises(ValueError, match=f"pig: {parameters.partition('=')[0]} must be"):
            make_game(f"pig({parameters})")

    @pytest.mark.parametrize(("target", "die", "horizon"), [(20, 6, 1000), (12, 3, 9)])
    def test_random_games_agree_with_openspiel(self, pyspiel, target, die, horizon):
        game = make_game(f"pig(target={target},die={die},horizon={horizon})")
        reference = pyspiel.load_game(
            f"pig(winscore={target},diceoutcomes={die},horizon={horizon})"
        )
        generator = np.random.default_rng(3)
        for _ in range(40):
            state, expected = game.new_state(), reference.new_initial_state()
            while not expected.is_terminal():
                assert (CHANCE if expected.is_chance_node() else expected.current_player()) == (
                    state.to_play
                )
                assert game.legal(state) == expected.legal_actions()
                if state.to_play == CHANCE:
                    assert dict(game.chances(state)) == pytest.approx(
                        dict(expected.chance_outcomes())
                    )
                action = int(generator.choice(expected.legal_actions()))
                game.apply(state, action)
                expected.apply_action(action)
            assert state.is_over
            assert state.returns.tolist() == expected.returns()


class TestUltimateTicTacToe:
    """Where one moves says where the other must."""

    def test_the_cell_sends_the_opponent_to_its_board(self):
        game = make_game("ultimate-tic-tac-toe")
        state = played(game, "e5")
        assert len(game.legal(state)) == 8
        state = played(game, "a1", "b1", "d1")
        assert {game.action_name(action)[0] for action in game.legal(state)} <= set("abc")

    def test_a_closed_board_sends_anywhere_and_is_never_played_again(self):
        game = make_game("ultimate-tic-tac-toe")
        state = played(game, "a1", "a2", "a4", "b2", "d4", "c2", "g4")
        assert state.won.tolist() == [0, 1]
        assert state.forced == 9
        assert not {"b1", "c3"} & {game.action_name(action) for action in game.legal(state)}

    def test_names_are_read_in_large_and_small_letters(self):
        game = make_game("ultimate-tic-tac-toe")
        assert game.parse_action("I9") == game.parse_action("i9") == 80

    def test_random_games_agree_with_openspiel(self, pyspiel):
        game = make_game("ultimate-tic-tac-toe")
        reference = pyspiel.load_game("ultimate_tic_tac_toe")
        generator = np.random.default_rng(4)
        results = set()
        for _ in range(20):
            state, expected = game.new_state(), reference.new_initial_state()
            while not expected.is_terminal():
                assert state.to_play == expected.current_player()
                if state.forced == 9:  # OpenSpiel chooses the board first, in a separate move
                    boards = expected.legal_actions()
                    legal = {(b, c) for b in boards for c in self.cells_after(expected, b)}
                else:
                    legal = {(int(state.forced), c) for c in expected.legal_actions()}
                ours = game.legal(state)
                assert {(game.board_of(a), game.cell_of(a)) for a in ours} == legal
                action = int(generator.choice(ours))
                if state.forced == 9:
                    expected.apply_action(game.board_of(action))
                expected.apply_action(game.cell_of(action))
                game.apply(state, action)
            assert state.is_over
            assert state.returns.tolist() == expected.returns()
            results.add(expected.returns()[0])
        assert {1.0, -1.0} <= results

    @staticmethod
    def cells_after(state, board):
        chosen = state.clone()
        chosen.apply_action(board)
        return chosen.legal_actions()

    def test_a_forced_board_is_set_up_by_its_dots(self):
        game = make_game("ultimate-tic-tac-toe")
        state = played(game, "a1", "b1", "d1")
        again = set_up_position(game, game.view(state).cells, int(state.to_play))
        assert again.forced == state.forced == 0

    def test_the_last_open_board_need_not_be_forced(self):
        game = make_game("ultimate-tic-tac-toe")
        block = {"x": ["xxx", "...", "..."], "o": ["ooo", "...", "..."], ".": ["...", "...", "..."]}
        bands = ["xxo", "oox", "xo."]
        cells = [[*"".join(block[b][row] for b in band)] for band in bands for row in range(3)]
        state = set_up_position(game, cells, 0)
        assert state.forced == 9
        assert {game.board_of(action) for action in game.legal(state)} == {8}
        assert game.view(state).cells == cells

    def test_a_game_that_is_over_forces_nobody_anywhere(self):
        game = make_game("ultimate-tic-tac-toe")
        state, generator = game.new_state(), np.random.default_rng(1)
        while not state.is_over:
            game.apply(state, int(generator.choice(game.legal(state))))
        assert state.forced == 9
        assert "next move" not in game.text(state)
        assert set_up_position(game, game.view(state).cells, int(state.to_play)).is_over

    def test_a_piece_of_a_third_player_is_refused(self):
        game = make_game("ultimate-tic-tac-toe")
        cells = [["z", *"........"]] + [["."] * 9 for _ in range(8)]
        with pytest.raises(ValueError, match="row 1, column 1 cannot hold 'z'"):
            set_up_position(game, cells, 0)

    def test_lines_of_both_players_on_one_board_are_refused(self):
        game = make_game("ultimate-tic-tac-toe")
        cells = [list("xxx......"), list("ooo......")] + [["."] * 9 for _ in range(7)]
        with pytest.raises(ValueError, match="both players have a line on board 1"):
            set_up_position(game, cells, 0)


class TestBreakthrough:
    """Pawns go on, take aslant, and win on the far row."""

    @pytest.mark.parametrize(("rows", "cols"), [(8, 8), (6, 5)])
    def test_random_games_agree_with_openspiel(self, pyspiel, rows, cols):
        game = make_game(f"breakthrough(rows={rows},cols={cols})")
        reference = pyspiel.load_game(f"breakthrough(rows={rows},columns={cols})")
        generator = np.random.default_rng(5)
        for _ in range(15):
            state, expected = game.new_state(), reference.new_initial_state()
            while not expected.is_terminal():
                assert state.to_play == expected.current_player()
                # There the first player begins at the top: their rows are ours turned over.
                theirs = {
                    self.turned(expected.action_to_string(action), rows): action
                    for action in expected.legal_actions()
                }
                ours = {game.action_name(action): action for action in game.legal(state)}
                assert ours.keys() == theirs.keys()
                name = generator.choice(sorted(ours))
                game.apply(state, ours[name])
                expected.apply_action(theirs[name])
            assert state.is_over
            assert state.returns.tolist() == expected.returns()

    @staticmethod
    def turned(name, rows):
        first, second = int(name[1]), int(name[3])
        return f"{name[0]}{rows + 1 - first}{name[2]}{rows + 1 - second}"

    def test_pawns_do_not_take_straight_on(self):
        game = make_game("breakthrough(rows=4,cols=2)")
        assert {game.action_name(a) for a in game.legal(game.new_state())} == {"a2b3", "b2a3"}

    def test_steps_are_read_in_large_and_small_letters(self):
        game = make_game("breakthrough")
        assert game.parse_action("A2B3") == game.parse_action("a2b3")

    def test_two_winners_cannot_be_set_up(self):
        game = make_game("breakthrough(rows=4,cols=2)")
        with pytest.raises(ValueError, match="both players have won"):
            set_up_position(game, [list(row) for row in ("x.", "..", "..", ".o")], 0)

    def test_taking_the_last_pawn_wins(self):
        game = make_game("breakthrough(rows=4,cols=2)")
        state = set_up_position(game, [list(row) for row in ("..", ".o", "x.", "..")], 0)
        game.apply(state, game.parse_action("a2b3"))
        assert state.returns.tolist() == [1, -1]

    def test_no_game_is_longer_than_max_turns(self):
        game = make_game("breakthrough(rows=4,cols=2)")
        assert game.max_turns / 2 < longest_game(game) <= game.max_turns

    @pytest.mark.parametrize("parameters", ["rows=3", "cols=1", "rows=9,cols=8"])
    def test_boards_that_do_not_fit_are_refused(self, parameters):
        with pytest.raises(ValueError, match="do not fit"):
            make_game(f"breakthrough({parameters})")


def longest_game(game):
    """Plays in the longest of all games, found by trying everything."""
    known = {}

    def plays_left(state):
        key = (*state.pawns.tolist(), int(state.to_play))
        if key not in known:
            known[key] = 0
            for action in game.legal(state):
                after = game.copy(state)
                game.apply(after, action)
                known[key] = max(known[key], 1 + (0 if after.is_over else plays_left(after)))
        return known[key]

    return plays_left(game.new_state())
