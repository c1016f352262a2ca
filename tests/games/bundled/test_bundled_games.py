"""Bundled games in cases that random play rarely reaches: positions drawn as text."""

import functools

import numpy as np
import pytest

from plainzero.games.bundled.dots_and_boxes import DotsAndBoxes
from plainzero.games.bundled.trio import Trio
from plainzero.games.bundled.twenty_forty_eight import TwentyFortyEight
from plainzero.games.contract import CHANCE


def played(game, *names):
    state = game.new_state()
    for name in names:
        game.apply(state, game.parse_action(name))
    return state


def tiles(game, text):
    """A 2048 position with the player to move, from rows of tiles, 0 for empty."""
    state = game.new_state()
    values = [int(tile) for tile in text.replace("/", " ").split()]
    state.board = [tile.bit_length() - 1 if tile else 0 for tile in values]
    state.to_play, state.turn = 0, 2
    return state


def drawn(game, state):
    rows = game.view(state).cells
    return " / ".join(" ".join("0" if cell == "." else cell for cell in row) for row in rows)


class TestDotsAndBoxes:
    """Who closes a box moves again, also when one line closes two."""

    FIRST_BOX = ("a1-b1", "b1-c1", "a1-a2", "c1-c2", "a2-b2", "b2-c2")

    def test_one_line_may_close_two_boxes_and_keeps_the_turn(self):
        game = DotsAndBoxes(rows=1, cols=2)
        state = played(game, *self.FIRST_BOX)
        assert state.to_play == 0
        game.apply(state, game.parse_action("b1-b2"))
        assert state.score.tolist() == [2, 0]
        assert state.is_over
        assert state.returns.tolist() == [1.0, -1.0]

    def test_closing_a_box_keeps_the_turn_until_a_line_closes_none(self):
        game = DotsAndBoxes()
        state = played(game, "a1-b1", "a2-b2", "a1-a2")
        assert state.to_play == 1
        game.apply(state, game.parse_action("b1-b2"))
        assert (state.to_play, state.score.tolist()) == (1, [0, 1])
        game.apply(state, game.parse_action("c1-c2"))
        assert state.to_play == 0

    def test_boxes_of_the_mover_and_of_the_opponent_are_different_planes(self):
        game = DotsAndBoxes()
        state = played(game, "a1-b1", "a2-b2", "a1-a2", "b1-b2")
        assert game.observation(state)[1, 1, 1] == 1
        game.apply(state, game.parse_action("c1-c2"))
        assert game.observation(state)[1].sum() == 0
        assert game.observation(state)[2, 1, 1] == 1

    def test_text_shows_lines_boxes_and_score(self):
        game = DotsAndBoxes(rows=1, cols=2)
        state = played(game, "a1-b1", "a2-b2", "a1-a2", "b1-b2")
        assert game.text(state).split("\n") == [
            "   a   b   c",
            " 1 +---+   +",
            "   | o |",
            " 2 +---+   +",
            "x 0, o 1, o to play",
        ]

    def test_large_board_has_sixty_lines(self):
        assert DotsAndBoxes(rows=5, cols=5).num_actions == 60


class TestTrio:
    """Three players; the two who did not win share the loss."""

    @pytest.mark.parametrize(
        "line", [("a1", "b1", "c1"), ("b2", "b3", "b4"), ("a1", "b2", "c3"), ("d1", "c2", "b3")]
    )
    def test_three_in_a_row_win_in_every_direction(self, line):
        game = Trio()
        others = [name for name in ("a4", "c4", "d4", "a2") if name not in line]
        state = played(game, line[0], others[0], others[1], line[2], others[2], others[3], line[1])
        assert state.is_over
        assert state.returns.tolist() == [1.0, -0.5, -0.5]

    def test_third_player_can_win(self):
        game = Trio()
        state = played(game, "a1", "a2", "a3", "c1", "c2", "b3", "d1", "d2", "c3")
        assert state.returns.tolist() == [-0.5, -0.5, 1.0]

    def test_full_board_without_a_line_is_a_draw(self):
        state = played(Trio(size=3), "a1", "c1", "b2", "b1", "a2", "a3", "c2", "b3", "c3")
        assert (state.turn, state.is_over) == (9, True)
        assert state.returns.tolist() == [0.0, 0.0, 0.0]

    def test_planes_are_the_players_in_the_order_of_their_turns(self):
        game = Trio()
        state = played(game, "a1", "b1")
        planes = game.observation(state)
        assert planes[0].sum() == 0
        assert planes[1, 0, 0] == 1
        assert planes[2, 0, 1] == 1


class Test2048:
    """Tiles slide, merge once, and luck adds another."""

    @pytest.mark.parametrize(
        ("before", "direction", "after", "score"),
        [
            ("2 2 2 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "left", "4 4 0 0", 8),
            ("2 2 2 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "left", "4 2 0 0", 4),
            ("2 2 2 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "right", "0 0 2 4", 4),
            ("4 2 2 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "left", "4 4 0 0", 4),
            ("2 0 0 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "right", "0 0 0 4", 4),
            ("8 4 2 8 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0", "down", "0 0 0 0", 0),
        ],
    )
    def test_each_tile_merges_once_and_those_at_the_wall_first(
        self, before, direction, after, score
    ):
        game = TwentyFortyEight()
        state = tiles(game, before)
        game.apply(state, game.parse_action(direction))
        assert drawn(game, state).split(" / ")[0] == after
        assert (state.score, state.to_play) == (score, CHANCE)

    @pytest.mark.parametrize(
        ("direction", "after"),
        [("up", "4 2 / 0 0"), ("down", "0 0 / 4 2"), ("left", "4 0 / 2 0"), ("right", "0 4 / 0 2")],
    )
    def test_directions_are_what_they_are_called(self, direction, after):
        game = TwentyFortyEight(size=2)
        state = tiles(game, "2 2 / 2 0")
        game.apply(state, game.parse_action(direction))
        assert drawn(game, state) == after

    def test_two_tiles_come_before_the_first_move(self):
        game = TwentyFortyEight()
        state = game.new_state()
        for turn in range(2):
            assert (state.turn, state.to_play) == (turn, CHANCE)
            chances = dict(game.chances(state))
            assert len(chances) == 2 * (16 - turn)
            assert sum(chances.values()) == pytest.approx(1)
            assert chances[2 * 5] == pytest.approx(0.9 / (16 - turn))
            assert chances[2 * 5 + 1] == pytest.approx(0.1 / (16 - turn))
            game.apply(state, 2 * turn + turn)
        assert state.to_play == 0
        assert drawn(game, state).startswith("2 4 0 0")

    def test_game_is_over_when_nothing_moves(self):
        game = TwentyFortyEight(size=2)
        state = tiles(game, "2 4 / 0 8")
        game.apply(state, game.parse_action("left"))
        assert drawn(game, state) == "2 4 / 8 0"
        game.apply(state, 2 * 3)
        assert state.is_over
        assert game.legal(state) == []

    def test_target_tile_ends_the_game(self):
        game = TwentyFortyEight(size=2, target=8)
        state = tiles(game, "4 4 / 0 2")
        game.apply(state, game.parse_action("left"))
        assert state.is_over
        assert state.returns[0] == pytest.approx((8 - 16) / (8 + 16))

    def test_return_grows_with_the_score_and_stays_in_range(self):
        game = TwentyFortyEight()
        returns = []
        for score in (0, 4, 500, 20480, 40000, 3_932_156):
            state = game.new_state()
            state.score = score
            game.end_game(state)
            returns.append(float(state.returns[0]))
        assert returns == sorted(set(returns))
        assert returns[0] == -1
        assert returns[3] == 0
        assert returns[-1] < 1

    @pytest.mark.parametrize(("target", "bound"), [(8, 15), (16, 31), (2048, 59)])
    def test_no_game_is_longer_than_max_turns(self, target, bound):
        game = TwentyFortyEight(size=2, target=target)
        assert game.max_turns == bound
        assert bound / 2 < longest_game(game) <= bound


def longest_game(game):
    """Plays in the longest of all games, found by trying everything."""

    @functools.cache
    def plays_left(board, to_play, turn):
        state = game.new_state()
        state.board, state.to_play, state.turn = np.array(board), to_play, turn
        longest = 0
        for action in game.legal(state):
            after = game.copy(state)
            game.apply(after, action)
            left = 0
            if not after.is_over:
                left = plays_left(tuple(after.board.tolist()), int(after.to_play), min(turn + 1, 2))
            longest = max(longest, 1 + left)
        return longest

    return plays_left((0,) * game.num_cells, CHANCE, 0)
