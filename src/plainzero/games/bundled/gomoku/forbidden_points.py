"""Points on which the rules of Gomoku forbid a player to place a stone.

A *four* is four stones that one more stone makes a five, a *straight four* one that has two such
points, its neighbours. A *three* is three stones that one more stone, on a point where the player
may put it and without making a five, turns into a straight four; a line with a four is no three.
The new stone is always one of them. A move that makes a five is never forbidden; otherwise

* double-three forbids a move that makes threes in two lines or more,
* renju (its first player only) also a move that makes two fours or more, in one line or in several,
  or six or more in a row.

So whether a three counts depends on whether the point that extends it is forbidden in turn, and so
on. This is followed for `DEPTH` stones after the move; any three found there counts. Captures are
ignored: the new stone is added and nothing is removed.
"""

from typing import Any, NamedTuple

from plainzero.games.bundled.gomoku.forbidden_candidates import suspect_points
from plainzero.games.bundled.gomoku.line_patterns import (
    CENTRE,
    DIRECTIONS,
    DOWN,
    REACH,
    RIGHT,
    WORD,
    board_word,
    count_fours,
    five_points,
    has_five,
    has_overline,
    line_words,
    three_points,
)

DEPTH = 5
WIDTH = 2 * REACH + 1  # of a word
ALLOWED, FORBIDDEN, FIVE, UNDECIDED = 0, 1, 2, 3


class Side(NamedTuple):
    """Who would move, and by which rules."""

    rows: Any  # [2, size] the stones of both, see line_patterns.py
    player: Any
    size: Any
    is_renju: Any  # whether double-fours and overlines are forbidden too
    is_exact: Any  # whether six or more in a row are no five


def forbidden_points(side: Any, row: Any, empty: Any) -> Any:
    """Those of a row's empty points that are forbidden, as bits."""
    points = empty & suspect_points(side.rows, side.player, side.size, row, side.is_renju)
    forbidden = 0
    while points:
        col = lowest_bit(points)
        points &= points - 1
        if judge_move(side, row, col) == FORBIDDEN:
            forbidden |= 1 << col
    return forbidden


def lowest_bit(bits: Any) -> Any:
    """The number of the lowest bit that is set."""
    number = 0
    while not (bits >> number) & 1:
        number += 1
    return number


def judge_move(side: Any, row: Any, col: Any) -> Any:
    """ALLOWED, FORBIDDEN or FIVE for one more stone.

    Points that extend threes are tried depth first, each with stones supposed on those before it.
    Compiled rules cannot call themselves, so this is a loop, and each of DEPTH + 1 depths an entry
    of tuples.
    """
    points = (row * side.size + col, -1, -1, -1, -1, -1)  # on which stones are supposed
    fours = (-1, -1, -1, -1, -1, -1)  # the direction in which each makes a straight four
    extensions = threes = (0, 0, 0, 0, 0, 0)  # points still to be tried, and threes found
    depth = 0
    while True:
        verdict, found = judge_lines(side, points, fours[depth], depth)
        extensions, threes = put(extensions, depth, found), put(threes, depth, 0)
        verdict = conclude(verdict, depth, extensions[depth], threes[depth])
        while verdict != UNDECIDED:
            if depth == 0:
                return verdict
            depth -= 1
            if verdict == ALLOWED:
                rest = extensions[depth] & ~(WORD << (fours[depth + 1] * WIDTH))
                extensions = put(extensions, depth, rest)
                threes = put(threes, depth, threes[depth] + 1)
            verdict = conclude(UNDECIDED, depth, extensions[depth], threes[depth])
        place = lowest_bit(extensions[depth])
        direction, step = place // WIDTH, place % WIDTH - REACH
        stride = DOWN[direction] * side.size + RIGHT[direction]
        extensions = put(extensions, depth, extensions[depth] & (extensions[depth] - 1))
        points = put(points, depth + 1, points[depth] + step * stride)
        fours = put(fours, depth + 1, direction)
        depth += 1


def judge_lines(side: Any, points: Any, four: Any, depth: Any) -> Any:
    """The verdict as far as fives, fours and overlines tell, and points to ask about.

    Where it depends on threes it is UNDECIDED, and the points are those that extend them, a word
    for each direction. The line of a straight four is left out: it holds nothing else.
    """
    row, col = points[depth] // side.size, points[depth] % side.size
    words = line_words(side.rows, side.player, side.size, row, col)
    others = line_words(side.rows, 1 - side.player, side.size, row, col)
    fours = 1 if four >= 0 else 0
    overlines = lines = extensions = 0
    for direction in range(DIRECTIONS):
        if direction == four:
            continue
        own = words[direction] | CENTRE
        for earlier in range(depth):
            own |= stone_on_line(side.size, row, col, direction, points[earlier])
        free = board_word(side.size, row, col, direction) & ~(own | others[direction])
        if has_five(own, side.is_exact):
            return FIVE, 0
        overlines += has_overline(own)
        fours += count_fours(five_points(own, free, side.is_exact))
        found = three_points(own, free, side.is_exact)
        extensions |= found << (direction * WIDTH)
        lines += found != 0
    if side.is_renju and (overlines > 0 or fours > 1):
        return FORBIDDEN, 0
    return (UNDECIDED, extensions) if lines > 1 else (ALLOWED, 0)


def conclude(verdict: Any, depth: Any, extensions: Any, threes: Any) -> Any:
    """The verdict once threes are counted, UNDECIDED while there are points left to try."""
    if verdict == UNDECIDED and (depth == DEPTH or threes > 1):
        return FORBIDDEN
    return ALLOWED if verdict == UNDECIDED and extensions == 0 else verdict


def put(values: Any, place: Any, value: Any) -> Any:
    """The tuple with another value in one place."""
    return (
        value if place == 0 else values[0],
        value if place == 1 else values[1],
        value if place == 2 else values[2],
        value if place == 3 else values[3],
        value if place == 4 else values[4],
        value if place == 5 else values[5],
    )


def stone_on_line(size: Any, row: Any, col: Any, direction: Any, point: Any) -> Any:
    """The bit of a point in a word through another; 0 if it is not near on that line."""
    down, right = point // size - row, point % size - col
    step = down if DOWN[direction] else right
    is_on_line = down == step * DOWN[direction] and right == step * RIGHT[direction]
    return 1 << (step + REACH) if is_on_line and abs(step) <= REACH else 0
