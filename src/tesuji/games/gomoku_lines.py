"""The four lines through a point as words of eleven bits, and what stands in such a word.

Bit 5 of a word is the point itself, the others are the cells up to five steps away on either side.
Everything that Gomoku asks of a move is asked of these words: a five reaches four steps from the
new stone, and one step more tells whether it is longer than that.
"""

from typing import Any

REACH = 5
CENTRE = 1 << REACH
WORD = (1 << (2 * REACH + 1)) - 1
DIRECTIONS = 4  # across, down, falling to the right, falling to the left


def line_words(rows: Any, player: Any, size: Any, row: Any, col: Any) -> Any:
    """A player's stones on the lines through a point, one word for each direction.

    Args:
        rows: the stones, [2, size], bit `col` of a row for each cell.
        player: whose stones.
        size: rows and columns of the board; a constant.
        row: of the point.
        col: of the point.
    """
    across = ((int(rows[player, row]) << REACH) >> col) & WORD
    down = falling = rising = 0
    for step in range(max(-REACH, -row), min(REACH, size - 1 - row) + 1):
        # Zeros to the right of column 0 as well, so that no column is outside.
        cells = int(rows[player, row + step]) << REACH
        place = step + REACH
        down |= ((cells >> (col + REACH)) & 1) << place
        falling |= ((cells >> (col + place)) & 1) << place
        rising |= ((cells >> (col - step + REACH)) & 1) << place
    return across, down, falling, rising


def has_five(word: Any, is_exact: Any) -> Any:
    """Whether five stones in a row, the centre's among them, stand in a word.

    Args:
        word: the player's stones.
        is_exact: whether six or more in a row do not count.
    """
    fives = word & (word >> 1) & (word >> 2) & (word >> 3) & (word >> 4)
    if is_exact:
        fives &= ~(word << 1) & ~(word >> 5)
    return (fives & (0b11111 << 1)) != 0  # those that begin in bits 1 to 5 hold the centre
