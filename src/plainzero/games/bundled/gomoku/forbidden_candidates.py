"""Points that may be forbidden, for a whole row at once, by bit operations.

No forbidden point is missing. Most of the points found are indeed forbidden; what else counts, such
as fives, room for exactly five and false threes, is left to `forbidden_points.py`.
"""

from typing import Any

from plainzero.games.bundled.gomoku.line_patterns import DIRECTIONS, DOWN, REACH, RIGHT


def suspect_points(rows: Any, player: Any, size: Any, row: Any, is_renju: Any) -> Any:
    """Points of a row on which a stone might make two threes, or in renju two fours or six.

    Args:
        rows: the stones of both players, see `line_patterns.py`.
        player: who would move.
        size: the board's.
        row: which row.
        is_renju: whether fours and overlines count too.
    """
    full = (1 << size) - 1
    threes = fours = suspects = 0
    for direction in range(DIRECTIONS):
        own = near_words(rows, player, size, row, direction, 0)
        room = near_words(rows, 1 - player, size, row, direction, full)
        three = three_makers(own, room)
        suspects |= threes & three
        threes |= three
        if is_renju:
            once, twice = four_makers(own, room)
            suspects |= twice | (fours & once) | six_makers(own)
            fours |= once
    return suspects


def near_words(rows: Any, player: Any, size: Any, row: Any, direction: Any, flipped: Any) -> Any:
    """For each point of a row the cells 4, 3, 2, 1 steps behind it and 1, 2, 3, 4 ahead.

    Eight words, of which bit `col` belongs to the point in that column. Set are a player's stones,
    or with all cells of a row `flipped`, the cells on the board without one.
    """
    return (
        near_word(rows, player, size, row, direction, -4, flipped),
        near_word(rows, player, size, row, direction, -3, flipped),
        near_word(rows, player, size, row, direction, -2, flipped),
        near_word(rows, player, size, row, direction, -1, flipped),
        near_word(rows, player, size, row, direction, 1, flipped),
        near_word(rows, player, size, row, direction, 2, flipped),
        near_word(rows, player, size, row, direction, 3, flipped),
        near_word(rows, player, size, row, direction, 4, flipped),
    )


def near_word(
    rows: Any, player: Any, size: Any, row: Any, direction: Any, step: Any, flipped: Any
) -> Any:
    """One of `near_words`."""
    there = row + step * DOWN[direction]
    if there < 0 or there >= size:
        return 0
    return ((int(rows[player, there]) ^ flipped) << REACH) >> (REACH + step * RIGHT[direction])


def three_makers(own: Any, room: Any) -> Any:
    """Points where a stone makes three of four cells whose fourth and both neighbours are empty."""
    makers = 0
    for start in range(4):
        a, b, c = own[start + 1], own[start + 2], own[start + 3]
        two = ((a & b) | ((a ^ b) & c)) & ~(a & b & c)
        two &= room[start + 1] & room[start + 2] & room[start + 3]
        makers |= two & (room[start] & ~own[start]) & (room[start + 4] & ~own[start + 4])
    return makers


def four_makers(own: Any, room: Any) -> Any:
    """Points where a stone makes four of five cells whose fifth is empty; and where in two ways."""
    once = twice = 0
    for start in range(5):
        a, b, c, d = own[start], own[start + 1], own[start + 2], own[start + 3]
        three = ((a & b & (c ^ d)) | (c & d & (a ^ b))) & room[start] & room[start + 1]
        three &= room[start + 2] & room[start + 3]
        twice |= once & three
        once |= three
    return once, twice


def six_makers(own: Any) -> Any:
    """Points where a stone may make six in a row: enough stones touch it on both sides or one."""
    behind, ahead = own[3] & own[2], own[4] & own[5]
    return (
        (behind & own[1] & own[0])
        | (ahead & own[6] & own[7])
        | (behind & ahead & (own[1] | own[6]))
    )
