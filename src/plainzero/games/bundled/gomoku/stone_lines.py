"""The stones on each line of the board as a number, and the four lines through a point.

`stones` are always those of both players, [2, 4, size]: rows, columns, and diagonals that fall or
rise to the right. Bit `col` of a row is the point in that column; on all other
lines bit `row` is the point in that row. Two diagonals whose lengths add up to `size` share a
number: where one has left the board on one side, the other begins on the other.

The four lines through a point are four *words* in one number, so that a few operations look at all
of them. Bits 0 to 10 of a word are the cells of a line up to five steps away on either side, bit 5
is the point itself; the bits above are scratch space for shifts.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

REACH = 5
WIDTH = 16  # of a word
WORDS = 1 | 1 << WIDTH | 1 << (2 * WIDTH) | 1 << (3 * WIDTH)  # times x: x in each word
CELLS = (1 << (2 * REACH + 1)) - 1
CENTRE = WORDS << REACH
ACROSS, DOWN, FALLING, RISING = range(4)  # directions


class Lines(NamedTuple):
    """The board as the functions below see it."""

    stones: Any
    size: Any
    cells: Any  # [size, size] those on the board of the lines through each point


def turn_stone(stones: Any, player: Any, size: Any, row: Any, col: Any) -> None:
    """Puts a player's stone on a point, or takes it away."""
    stones[player, ACROSS, row] ^= 1 << col
    stones[player, DOWN, col] ^= 1 << row
    stones[player, FALLING, falling_line(size, row, col)] ^= 1 << row
    stones[player, RISING, rising_line(size, row, col)] ^= 1 << row


def falling_line(size: Any, row: Any, col: Any) -> Any:
    """The index of the diagonal through a point that falls to the right."""
    return col - row if col >= row else col - row + size


def rising_line(size: Any, row: Any, col: Any) -> Any:
    """The index of the diagonal through a point that rises to the right."""
    return col + row if col + row < size else col + row - size


def line_words(lines: Any, player: Any, row: Any, col: Any) -> Any:
    """A player's stones on the lines through a point."""
    stones, size = lines.stones, lines.size
    across = word_around(stones[player, ACROSS, row], col)
    down = word_around(stones[player, DOWN, col], row)
    falling = word_around(stones[player, FALLING, falling_line(size, row, col)], row)
    rising = word_around(stones[player, RISING, rising_line(size, row, col)], row)
    words = across | (down << WIDTH) | (falling << (2 * WIDTH)) | (rising << (3 * WIDTH))
    return words & int(lines.cells[row, col])


def word_around(line: Any, place: Any) -> Any:
    """The word of a bit of a line."""
    return ((int(line) << REACH) >> place) & CELLS


def cell_at(row: Any, col: Any, bit: Any) -> Any:
    """The row and the column of a bit in the words of a point."""
    direction, step = bit >> 4, (bit & (WIDTH - 1)) - REACH
    right = ((0b00_10_01_10 >> (2 * direction)) & 0b11) - 1  # 1, 0, 1, -1
    return row + step * (direction > 0), col + step * right


def cells_around(size: int) -> NDArray[np.int64]:
    """For each point the cells of the lines through it that are on the board."""
    words = np.zeros((size, size), np.int64)
    for row, col, direction in np.ndindex(size, size, 4):
        for place in range(2 * REACH + 1):
            there, beside = cell_at(row, col, bit := direction * WIDTH + place)
            if 0 <= there < size and 0 <= beside < size:
                words[row, col] |= 1 << bit
    return words


def upper_cells(size: Any, direction: Any, line: Any) -> Any:
    """The cells on a line, as bits; of two diagonals, of the upper one."""
    length = size - line if direction == FALLING else line + 1 if direction == RISING else size
    return (1 << length) - 1
