"""Points that may be forbidden, kept up to date as stones come and go.

No forbidden point is missing. Most of the points found are indeed forbidden; what else counts, such
as fives, room for exactly five and false threes, is left to `forbidden_points.py`.
"""

from typing import Any

from plainzero.compiler.bit_numbers import lowest_bit
from plainzero.games.bundled.gomoku.stone_lines import CENTRE, cell_at, line_words


def update_suspects(
    lines: Any, suspects: Any, player: Any, row: Any, col: Any, is_renju: Any
) -> None:
    """Looks again at points near a player's stone that has just come or gone.

    Args:
        lines: the board.
        suspects: points on which a stone of each player might make two threes, or in renju two
            fours or six; [2, size], bit `col` of a row.
        player: whose stone it is.
        row: its row.
        col: its column.
        is_renju: whether fours and overlines count too.
    """
    cells = int(lines.cells[row, col])
    words = line_words(lines, 0, row, col), line_words(lines, 1, row, col)
    for side in range(2):
        own, other = (words[0], words[1]) if side == 0 else (words[1], words[0])
        three, once, twice = makers(own, cells & ~other, is_renju)
        own, other = (own ^ CENTRE, other) if side == player else (own, other ^ CENTRE)
        old_three, old_once, old_twice = makers(own, cells & ~other, is_renju)
        changed = (three ^ old_three) | (once ^ old_once) | (twice ^ old_twice)
        changed &= cells & ~CENTRE
        while changed:
            place = lowest_bit(changed)
            changed &= changed - 1
            there, beside = cell_at(row, col, place)
            was_suspect = (int(suspects[side, there]) >> beside) & 1
            # One three more makes no point innocent, and one less makes none a suspect.
            if is_renju or was_suspect != (three >> place) & 1:
                if is_suspect(lines, side, there, beside, is_renju) != was_suspect:
                    suspects[side, there] ^= 1 << beside


def is_suspect(lines: Any, player: Any, row: Any, col: Any, is_renju: Any) -> Any:
    """Whether a player's stone on a point might be forbidden."""
    own = line_words(lines, player, row, col)
    other = line_words(lines, 1 - player, row, col)
    three, once, twice = makers(own, int(lines.cells[row, col]) & ~other, is_renju)
    three, once = three & CENTRE, once & CENTRE
    return ((three & (three - 1)) | (once & (once - 1)) | (twice & CENTRE)) != 0


def makers(own: Any, room: Any, is_renju: Any) -> Any:
    """Cells where a stone makes a three; in renju also where a four, and where two or six."""
    near, space = near_cells(own), near_cells(room)
    three = three_makers(near, space)
    if not is_renju:
        return three, 0, 0
    once, twice = four_makers(near, space)
    return three, once, twice | six_makers(near)


def near_cells(words: Any) -> Any:
    """For each cell of a line those 4, 3, 2, 1 steps behind it and 1, 2, 3, 4 ahead."""
    return (
        words << 4,
        words << 3,
        words << 2,
        words << 1,
        words >> 1,
        words >> 2,
        words >> 3,
        words >> 4,
    )


def three_makers(own: Any, room: Any) -> Any:
    """Cells where a stone makes three of four cells whose fourth and both neighbours are empty."""
    makers = 0
    for start in range(4):
        a, b, c = own[start + 1], own[start + 2], own[start + 3]
        two = ((a & b) | ((a ^ b) & c)) & ~(a & b & c)
        two &= room[start + 1] & room[start + 2] & room[start + 3]
        makers |= two & (room[start] & ~own[start]) & (room[start + 4] & ~own[start + 4])
    return makers


def four_makers(own: Any, room: Any) -> Any:
    """Cells where a stone makes four of five cells whose fifth is empty; and where in two ways."""
    once = twice = 0
    for start in range(5):
        a, b, c, d = own[start], own[start + 1], own[start + 2], own[start + 3]
        three = ((a & b & (c ^ d)) | (c & d & (a ^ b))) & room[start] & room[start + 1]
        three &= room[start + 2] & room[start + 3]
        twice |= once & three
        once |= three
    return once, twice


def six_makers(own: Any) -> Any:
    """Cells where a stone may make six in a row: enough stones touch it on both sides or one."""
    behind, ahead = own[3] & own[2], own[4] & own[5]
    return (
        (behind & own[1] & own[0])
        | (ahead & own[6] & own[7])
        | (behind & ahead & (own[1] | own[6]))
    )
