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

from plainzero.compiler.bit_numbers import lowest_bit
from plainzero.games.bundled.gomoku.line_patterns import (
    count_fours,
    five_points,
    has_five,
    has_overline,
    marked,
    three_points,
)
from plainzero.games.bundled.gomoku.stone_lines import (
    CELLS,
    CENTRE,
    REACH,
    WIDTH,
    cell_at,
    line_words,
)

DEPTH = 5
ALLOWED, FORBIDDEN, FIVE, UNDECIDED = 0, 1, 2, 3


class Side(NamedTuple):
    """Who would move, and by which rules."""

    lines: Any  # the board, see stone_lines.py
    suspects: Any  # points that may be forbidden, see forbidden_candidates.py
    player: Any
    is_renju: Any  # whether double-fours and overlines are forbidden too
    is_exact: Any  # whether six or more in a row are no five


def forbidden_points(side: Any, row: Any, empty: Any) -> Any:
    """Those of a row's empty points that are forbidden, as bits."""
    points = empty & int(side.suspects[side.player, row])
    forbidden = 0
    while points:
        col = lowest_bit(points)
        points &= points - 1
        if judge_move(side, row, col) == FORBIDDEN:
            forbidden |= 1 << col
    return forbidden


def has_plain_threes(side: Any, row: Any, col: Any, found: Any) -> Any:
    """Whether two of the threes that these points extend are seen to count without following them.

    A point that is no suspect may be played unless it makes a five. The only stone supposed is on
    the line of the straight four, which the point makes in any case.
    """
    has_one = False
    while found and not side.is_renju:
        place = lowest_bit(found)
        found &= found - 1
        there, beside = cell_at(row, col, place)
        if not (int(side.suspects[side.player, there]) >> beside) & 1:
            own = line_words(side.lines, side.player, there, beside) | CENTRE
            if not has_five(own & ~word_of(place), side.is_exact):
                if has_one:
                    return True
                has_one = True
                found &= ~word_of(place)
    return False


def judge_move(side: Any, row: Any, col: Any) -> Any:
    """ALLOWED, FORBIDDEN or FIVE for one more stone.

    Points that extend threes are tried depth first, each with stones supposed on those before it.
    Compiled rules cannot call themselves, so this is a loop, and each of DEPTH + 1 depths an entry
    of tuples.
    """
    points = (row * side.lines.size + col, -1, -1, -1, -1, -1)  # on which stones are supposed
    fours = (-1, -1, -1, -1, -1, -1)  # the bit by which each makes a straight four
    extensions = threes = (0, 0, 0, 0, 0, 0)  # points still to be tried, and threes found
    depth = 0
    while True:
        verdict, found = judge_lines(side, points, fours[depth], depth)
        if depth == 0 and has_plain_threes(side, row, col, found):
            return FORBIDDEN
        extensions, threes = put(extensions, depth, found), put(threes, depth, 0)
        verdict = conclude(verdict, depth, extensions[depth], threes[depth])
        while verdict != UNDECIDED:
            if depth == 0:
                return verdict
            depth -= 1
            if verdict == ALLOWED:
                rest = extensions[depth] & ~word_of(fours[depth + 1])
                extensions = put(extensions, depth, rest)
                threes = put(threes, depth, threes[depth] + 1)
            verdict = conclude(UNDECIDED, depth, extensions[depth], threes[depth])
        place = lowest_bit(extensions[depth])
        size = side.lines.size
        row, col = cell_at(points[depth] // size, points[depth] % size, place)
        extensions = put(extensions, depth, extensions[depth] & (extensions[depth] - 1))
        points = put(points, depth + 1, row * size + col)
        fours = put(fours, depth + 1, place)
        depth += 1


def judge_lines(side: Any, points: Any, four: Any, depth: Any) -> Any:
    """The verdict as far as fives, fours and overlines tell, and points to ask about.

    Where it depends on threes it is UNDECIDED, and the points are those that extend them. The line
    of a straight four is left out: it holds nothing else.
    """
    row, col = points[depth] // side.lines.size, points[depth] % side.lines.size
    own = line_words(side.lines, side.player, row, col) | CENTRE
    for earlier in range(depth - 1):  # the last one is on the line of the straight four
        own |= stone_on_line(side.lines.size, row, col, points[earlier])
    if four >= 0:
        own &= ~word_of(four)
    if has_five(own, side.is_exact):
        return FIVE, 0
    other = line_words(side.lines, 1 - side.player, row, col)
    free = int(side.lines.cells[row, col]) & ~(own | other)
    if side.is_renju:
        fours = count_fours(five_points(own, free, side.is_exact)) + (four >= 0)
        if has_overline(own) or fours > 1:
            return FORBIDDEN, 0
    found = three_points(own, free, side.is_exact)
    lines = marked(found)
    return (UNDECIDED, found) if lines & (lines - 1) else (ALLOWED, 0)


def word_of(place: Any) -> Any:
    """The cells of the word with that bit."""
    return CELLS << (place & -WIDTH)


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


def stone_on_line(size: Any, row: Any, col: Any, point: Any) -> Any:
    """The bit of a point in the words of another; 0 if it is not near on a line."""
    down, right = point // size - row, point % size - col
    step = down if down != 0 else right
    if abs(step) > REACH or not (down == 0 or right == 0 or abs(down) == abs(right)):
        return 0
    direction = 0 if down == 0 else 1 if right == 0 else 2 if right == down else 3
    return 1 << (step + REACH + WIDTH * direction)
