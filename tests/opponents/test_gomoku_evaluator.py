"""Threes and fours in Gomoku: drawn by hand, compared with slow rules, and in forced wins.

`*` marks the point under test; `x` is to move.
"""

import csv
import itertools
from pathlib import Path

import numba
import numpy as np
import pytest

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.gomoku_evaluator import ThreatsEvaluator
from plainzero.opponents.gomoku_evaluator_kernels import (
    ENDS,
    MAKES_FOUR,
    MAKES_FOUR_THREE,
    MAKES_THREE,
    MAKES_THREES,
    QUIET,
    WINS,
    make_sight,
)
from plainzero.opponents.gomoku_shapes import (
    CLOSED_THREE,
    CLOSED_TWO,
    DOUBLE,
    FIVE,
    FOUR,
    NOTHING,
    ONE,
    THREE,
    TWO,
)
from plainzero.search.config import SearchConfig

SHARED = Path(__file__).parents[3] / "shared" / "data" / "gomoku" / "vcf_freestyle15.csv"
SIZE = 13
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))  # down and right, in the order of directions


def planes_of(stones, size, renju_plane=()):
    """The observation [1, C, size, size] of the stones; x is the mover."""
    planes = np.zeros((1, 2 + len(renju_plane), size, size), np.float32)
    for (row, col), stone in stones.items():
        planes[0, "xo".index(stone), row, col] = 1
    for value in renju_plane:
        planes[0, 2] = value
    return planes


def drawn(text):
    """The stones of a drawing (rows separated by slashes), and the point marked `*`."""
    cells = {
        (row, col): cell
        for row, line in enumerate(text.split("/"))
        for col, cell in enumerate(line)
    }
    stars = [point for point, cell in cells.items() if cell == "*"]
    return {point: cell for point, cell in cells.items() if cell in "xo"}, *stars


def see(stones, rule="freestyle", size=SIZE, **options):
    sight = make_sight(size * size)
    evaluator = ThreatsEvaluator(Gomoku(size=size, rule=rule))
    logits, values = evaluator.judge(planes_of(stones, size, **options), sight)
    return sight, logits[0].reshape(size, size), float(values[0])


SHAPES = [
    ("xxxx*", FIVE, FIVE),
    ("xx*xx", FIVE, FIVE),
    ("xxx*xx", FIVE, NOTHING),
    (".xxx*.", DOUBLE, DOUBLE),
    ("x.xx*.x", DOUBLE, DOUBLE),
    (".xxx*.x", DOUBLE, FOUR),
    ("oxxx*.", FOUR, FOUR),
    ("xxx.*", FOUR, FOUR),
    ("xxx*o", FOUR, FOUR),
    ("oxxx*o", NOTHING, NOTHING),
    ("..xx*..", THREE, THREE),
    (".x.x*.", THREE, THREE),
    ("o.xx*.o", CLOSED_THREE, CLOSED_THREE),
    ("oxx*..", CLOSED_THREE, CLOSED_THREE),
    ("x.x.*", CLOSED_THREE, CLOSED_THREE),
    ("x*", TWO, TWO),
    ("x.*", TWO, TWO),
    ("ox*", CLOSED_TWO, CLOSED_TWO),
    ("*", ONE, ONE),
    ("o..*.o", NOTHING, NOTHING),
]


@pytest.mark.parametrize("line, free, exact", SHAPES)
def test_a_stone_makes_its_shape_in_every_direction(line, free, exact):
    for (direction, (down, right)), text in itertools.product(enumerate(STEPS), (line, line[::-1])):
        star, middle = text.index("*"), SIZE // 2
        stones = {
            (middle + (place - star) * down, middle + (place - star) * right): stone
            for place, stone in enumerate(text)
            if stone in "xo"
        }
        point = middle * SIZE + middle
        for rule, expected in (("freestyle", free), ("standard", exact)):
            sight, _, _ = see(stones, rule)
            assert sight.shapes[0, direction, point] == expected, (rule, direction, text)
        swapped = {place: "ox"["xo".index(stone)] for place, stone in stones.items()}
        assert see(swapped)[0].shapes[1, direction, point] == free


@pytest.mark.parametrize(
    "line, expected",
    [
        ("xx*", CLOSED_THREE),
        (".xx*", THREE),
        ("*xxx", FOUR),
        (".xxx*", DOUBLE),
        ("xxxx*", FIVE),
        ("x*", CLOSED_TWO),
    ],
)
def test_the_edge_is_as_good_as_a_stone_of_the_opponent(line, expected):
    last, star = SIZE - 1, line.index("*")
    for row, col, down, right in (
        (3, 0, 0, 1),
        (3, last, 0, -1),
        (0, 3, 1, 0),
        (last, 3, -1, 0),
        (0, 0, 1, 1),
        (last, last, -1, -1),
        (0, last, 1, -1),
        (last, 0, -1, 1),
    ):
        stones = {
            (row + place * down, col + place * right): "x"
            for place, stone in enumerate(line)
            if stone == "x"
        }
        point = (row + star * down) * SIZE + col + star * right
        direction = next(
            number for number, step in enumerate(STEPS) if step in ((down, right), (-down, -right))
        )
        assert see(stones)[0].shapes[0, direction, point] == expected


DEEDS = [
    ("......./..xxxx*/", ENDS),
    ("......./..xxx*./", WINS),
    ("oxxx*../....x../....x../....x../....o../", WINS),  # two fours
    ("......./oxxx*../....x../....x../......./", MAKES_FOUR_THREE),
    ("......./oxxx*../", MAKES_FOUR),
    ("......./..xx*../....x../....x../......./", MAKES_THREES),
    ("......./..xx*../", MAKES_THREE),
    ("......./...x*../", QUIET),
]


@pytest.mark.parametrize("text, deed", DEEDS)
def test_shapes_in_several_lines_combine_for_either_player(text, deed):
    stones, (row, col) = drawn(text)
    moved = {(r + 3, c + 3): stone for (r, c), stone in stones.items()}
    point = (row + 3) * SIZE + col + 3
    assert see(moved)[0].deeds[0, point] == deed
    swapped = {place: "ox"["xo".index(stone)] for place, stone in moved.items()}
    assert see(swapped)[0].deeds[1, point] == deed


def test_two_fours_at_once_win_nothing_for_black_in_renju():
    stones, (row, col) = drawn("......./oxxx*../....x../....x../....x../....o../")
    for is_black, deed in ((1, MAKES_FOUR), (0, WINS)):
        sight, _, _ = see(stones, "renju", renju_plane=(is_black,))
        assert sight.deeds[0, row * SIZE + col] == deed


def test_logits_rank_a_five_its_block_a_win_a_four_and_a_three():
    stones = {
        **{(1, col): "x" for col in (1, 2, 3, 4)},  # five at (1, 0) and (1, 5)
        **{(3, col): "o" for col in (1, 2, 3, 4)},
        **{(6, col): "x" for col in (4, 5, 6)},
    }
    _, logits, value = see(stones)
    assert value == 1 and logits.max() == logits[1, 5] == pytest.approx(logits[1, 0], abs=2)
    assert logits[1, 5] > logits[3, 5] > logits[6, 3] > logits[6, 2] > logits[12, 12]


VALUES = [
    ("......./.xxxx../", 1),
    ("......./.oooo../", -1),
    ("......./xoooo../", None),  # one answer, after which the result is open
    ("......./xoooo../......./.ooo.../......./", -1),  # … after which a straight four follows
    ("......./......./..xxx../......./", 1),
    ("......./......./..ooo../......./", None),
    ("......./oxxx.../....x../....x../......./", 1),  # a four and a three
    ("......./oxxx.../....xo./....xo./.....o./.....x./", None),  # … whose answer is a four
]


@pytest.mark.parametrize("text, value", VALUES)
def test_values_are_certain_if_fours_decide(text, value):
    stones = {(r + 2, c + 2): stone for (r, c), stone in drawn(text)[0].items()}
    seen = see(stones)[2]
    assert seen == value if value is not None else -0.9 < seen < 0.9


def test_an_answer_that_is_a_double_wins():
    stones = {
        **{(4, col): "o" for col in (2, 3, 4, 5)},
        (4, 1): "x",
        **{(row, 6): "x" for row in (5, 6, 7)},  # (4, 6) is forced, and makes a straight four
    }
    assert see(stones)[2] == 1


def random_stones(generator, size, count):
    places = generator.permutation(size * size)[:count]
    return {
        (int(place) // size, int(place) % size): "xo"[number % 2]
        for number, place in enumerate(places)
    }


def test_turning_the_board_turns_the_logits():
    generator = np.random.default_rng(5)
    evaluator = ThreatsEvaluator(Gomoku(size=9))
    for count in (0, 1, 12, 25, 40):
        planes = planes_of(random_stones(generator, 9, count), 9)
        logits, values = evaluator(planes)
        for turns, mirror in itertools.product(range(4), (False, True)):
            turned = np.rot90(planes, turns, axes=(2, 3))
            turned = turned[..., ::-1] if mirror else turned
            expected = np.rot90(logits.reshape(9, 9), turns)
            expected = expected[:, ::-1] if mirror else expected
            found, value = evaluator(turned)
            np.testing.assert_allclose(found.reshape(9, 9), expected, atol=1e-4)
            assert value == pytest.approx(values, abs=1e-4)


class SlowBoard:
    """A board that finds the shapes of a stone by playing it and counting."""

    def __init__(self, stones, size, is_exact=False):
        self.stones, self.size, self.is_exact = dict(stones), size, is_exact

    def empty(self):
        return [p for p in np.ndindex(self.size, self.size) if p not in self.stones]

    def line(self, point, step):
        down, right = step
        places = ((point[0] + k * down, point[1] + k * right) for k in range(-5, 6) if k)
        return [p for p in places if min(p) >= 0 and max(p) < self.size and p not in self.stones]

    def is_five(self, point, step):
        count = 1
        for sign in (1, -1):
            row, col = point[0] + sign * step[0], point[1] + sign * step[1]
            while self.stones.get((row, col)) == self.stones[point]:
                count, row, col = count + 1, row + sign * step[0], col + sign * step[1]
        return count == 5 if self.is_exact else count >= 5

    def after(self, point, stone):
        return SlowBoard({**self.stones, point: stone}, self.size, self.is_exact)

    def fives(self, point, step):
        """Points where the stone's owner makes a five with it."""
        stone = self.stones[point]
        return [p for p in self.line(point, step) if self.after(p, stone).is_five(point, step)]

    def shape(self, point, step, stone):
        """FIVE, DOUBLE, FOUR, THREE, or less."""
        board = self.after(point, stone)
        if board.is_five(point, step):
            return FIVE
        fives = board.fives(point, step)
        if fives:
            return DOUBLE if len(fives) > 1 else FOUR
        one_more = (board.after(p, stone) for p in board.line(point, step))
        return THREE if any(len(b.fives(point, step)) > 1 for b in one_more) else NOTHING

    def ends(self, stone):
        """Points where a player makes a five."""
        boards = ((p, self.after(p, stone)) for p in self.empty())
        return [p for p, board in boards if any(board.is_five(p, step) for step in STEPS)]

    def wins_by_fours(self, stone, most):
        """Whether a player to move wins with at most `most` fours."""
        own, other = self.ends(stone), self.ends(other_of(stone))
        if own or most == 0 or len(other) > 1:
            return bool(own)
        for point in other or self.empty():
            board = self.after(point, stone)
            answers = board.ends(stone)
            if len(answers) > 1:
                return True
            if answers and board.after(answers[0], other_of(stone)).wins_by_fours(stone, most - 1):
                return True
        return False


def other_of(stone):
    return "ox"["xo".index(stone)]


@pytest.mark.parametrize("rule", ["freestyle", "standard"])
def test_fives_fours_and_threes_equal_those_of_slow_rules(rule):
    generator, seen = np.random.default_rng(8), set()
    for count in (14, 22, 30, 30):
        stones = random_stones(generator, 8, count)
        if count == 30:
            stones = {p: "x" if generator.random() < 0.8 else s for p, s in stones.items()}
        board = SlowBoard(stones, 8, rule == "standard")
        sight, _, _ = see(stones, rule, size=8)
        for point, side in itertools.product(board.empty(), (0, 1)):
            for direction, step in enumerate(STEPS):
                expected = board.shape(point, step, "xo"[side])
                if side == 1 and sight.ends[1, 0] == 1 and expected != FIVE:
                    continue  # points on a line with the only answer are not evaluated
                found = sight.shapes[side, direction, point[0] * 8 + point[1]]
                assert found == expected or found < THREE > expected, (point, direction)
                seen.add(int(found))
    assert {FIVE, DOUBLE, FOUR, THREE, CLOSED_THREE, TWO} <= seen


def test_values_that_are_certain_are_true():
    generator, wins, losses = np.random.default_rng(3), 0, 0
    for _ in range(400):
        stones = random_stones(generator, 7, int(generator.integers(16, 26)))
        board = SlowBoard(stones, 7)
        if any(board.is_five(p, step) for p in stones for step in STEPS):
            continue
        value = see(stones, size=7)[2]
        if value == 1 and wins < 15:
            wins += 1
            assert board.wins_by_fours("x", 2)
        if value == -1 and losses < 15:
            losses += 1
            answers = board.ends("o")
            assert not board.ends("x")
            assert len(answers) > 1 or board.after(answers[0], "x").wins_by_fours("o", 2)
    assert wins > 5 and losses > 5


def test_threats_are_refused_for_other_games():
    with pytest.raises(ValueError, match="plays gomoku only, not connect-four"):
        parse_agent("threats:100", make_game("connect-four"))
    with pytest.raises(
        ValueError, match="simulations must be a whole number of 1 or more, not '0'"
    ):
        parse_agent("threats:0", make_game("gomoku"))


def test_threats_prove_values_by_default():
    agent = parse_agent("threats:100", make_game("gomoku-42"))
    assert agent.config == SearchConfig(simulations=100, proven_values=True, fpu="reduction")
    assert not parse_agent(
        "threats:9,proven_values=false", make_game("gomoku")
    ).config.proven_values


def test_a_few_simulations_find_the_shorter_forced_wins():
    if not SHARED.is_file():
        pytest.skip("the forced wins of shared/data/gomoku are not beside the checkout")
    game, states, solutions = make_game("gomoku"), [], []
    most = 2 if numba.config.DISABLE_JIT else 12
    with SHARED.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["vcf_depth"]) <= 3][:most]
    for row in rows:
        cells = [["."] * 15 for _ in range(15)]
        for stone, points in (("x", row["black"]), ("o", row["white"])):
            for point in map(game.parse_action, points.split()):
                cells[point // 15][point % 15] = stone
        states.append(set_up_position(game, cells, "BW".index(row["to_move"])))
        solutions.append(set(map(game.parse_action, row["vcf_first_moves"].split())))
    chosen = parse_agent("threats:40", game).choose(states, 0)
    assert len(rows) == most
    assert all(move in right for move, right in zip(chosen, solutions, strict=True))
