"""Patterns of stones on the lines through a point, all four at once; see `stone_lines.py`.

Every question about a move is answered from these words: a five reaches four steps from the
new stone, and one step more tells whether it is longer than that.
"""

from typing import Any

from plainzero.games.bundled.gomoku.stone_lines import (
    CELLS,
    REACH,
    WIDTH,
    WORDS,
    upper_cells,
)


def has_five(own: Any, is_exact: Any) -> Any:
    """Whether five in a row hold the centre on some line; exactly five if `is_exact`."""
    return (fives(own, is_exact) & (WORDS * 0b111110)) != 0  # where those with the centre begin


def fives(own: Any, is_exact: Any) -> Any:
    """Where five in a row begin; exactly five if `is_exact`."""
    found = own & (own >> 1) & (own >> 2) & (own >> 3) & (own >> 4)
    return found & ~(own << 1) & ~(own >> 5) if is_exact else found


def has_overline(own: Any) -> Any:
    """Whether six or more in a row hold the centre on some line."""
    return (fives(own, False) & (own >> 5) & (WORDS * 0b111111)) != 0


def five_points(own: Any, free: Any, is_exact: Any) -> Any:
    """The empty cells on which one more stone makes a five with the centre.

    On a line without a five there are at most two, one on each side: between such a cell and the
    centre every cell is taken.
    """
    a, b, c, d, e = own, own >> 1, own >> 2, own >> 3, own >> 4
    starts = WORDS * 0b111110
    if is_exact:
        starts &= ~((own << 1) | (own >> 5))
    left, right = a & b & starts, d & e & starts
    return (
        (b & c & right & free)
        | ((a & c & right & (free >> 1)) << 1)
        | ((left & right & (free >> 2)) << 2)
        | ((left & c & e & (free >> 3)) << 3)
        | ((left & c & d & (free >> 4)) << 4)
    )


def count_fours(points: Any) -> Any:
    """How many fours have these `five_points`: both ends of a straight four are of one four."""
    count = 0
    for direction in range(4):
        word = (points >> (WIDTH * direction)) & CELLS
        first = word & -word
        count += (word != 0) + (word != first and word != first | (first << REACH))
    return count


def three_points(own: Any, free: Any, is_exact: Any) -> Any:
    """The empty cells on which one more stone makes a straight four with the centre.

    That is four in a row of which either neighbour is empty and makes a five. A line that holds a
    four already has none.
    """
    a, b, c, d = own, own >> 1, own >> 2, own >> 3
    starts = (WORDS * 0b111100) & (free << 1) & (free >> 4)
    if is_exact:
        starts &= ~((own << 2) | (own >> 5))
    left, right = a & b & starts, c & d & starts
    points = (
        (b & right & free)
        | ((a & right & (free >> 1)) << 1)
        | ((left & d & (free >> 2)) << 2)
        | ((left & c & (free >> 3)) << 3)
    )
    return points & ~filled(five_points(own, free, is_exact))


def filled(words: Any) -> Any:
    """All cells of the words that are not zero."""
    marks = marked(words)
    return marks - (marks >> (WIDTH - 2))


def marked(words: Any) -> Any:
    """One bit for each word that is not zero."""
    return (words + WORDS * ((1 << (WIDTH - 2)) - 1)) & (WORDS << (WIDTH - 2))


def standing_five(stones: Any, player: Any, size: Any, is_exact: Any) -> Any:
    """Whether a player has five in a row anywhere, exactly five if `is_exact`."""
    for direction in range(4):
        for line in range(size):
            cells = int(stones[player, direction, line])
            upper = cells & upper_cells(size, direction, line)
            if fives(upper, is_exact) | fives(cells ^ upper, is_exact):
                return True
    return False
