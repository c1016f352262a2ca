"""Connect Four's board as bits: where stones can go, and where they make four in a row.

Bit `col * (rows + 1) + row` is a cell, as in `games/bundled/connect_four.py`; the cell on top of
each column stays empty.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function

_ONE = np.uint64(1)

Bits = TypeVar("Bits", np.uint64, NDArray[np.uint64])
"""Cells of one board as bits, or of many boards."""


class Board(NamedTuple):
    """The board's geometry."""

    rows: int
    cols: int
    cells: int
    all_cells: np.uint64
    bottom: np.uint64  # the lowest cell of each column
    order: NDArray[np.int64]  # [cols] columns, the middle one first
    slot_bits: int  # the table has 2^slot_bits words


def make_board(rows: int, cols: int, slot_bits: int = 0) -> Board:
    """The geometry of a board of that size, for a table of that size if there is one."""
    bottom = sum(1 << (col * (rows + 1)) for col in range(cols))
    middle_first = sorted(range(cols), key=lambda col: abs(2 * col + 1 - cols))
    return Board(
        rows=rows,
        cols=cols,
        cells=rows * cols,
        all_cells=np.uint64(bottom * ((1 << rows) - 1)),
        bottom=np.uint64(bottom),
        order=np.array(middle_first, np.int64),
        slot_bits=slot_bits,
    )


@kernel_function
def playable_cells(board: Board, occupied: Bits) -> Bits:
    """The lowest empty cell of each column that is not full."""
    return (occupied + board.bottom) & board.all_cells


@kernel_function
def column_cells(board: Board, column: int) -> np.uint64:
    """All cells of a column."""
    full = (_ONE << np.uint64(board.rows)) - _ONE
    return full << np.uint64(column * (board.rows + 1))


@kernel_function
def winning_cells(board: Board, stones: Bits) -> Bits:
    """The cells, also occupied ones, where a stone would make four in a row."""
    rows = np.uint64(board.rows)
    cells = (stones << _ONE) & (stones << np.uint64(2)) & (stones << np.uint64(3))
    cells |= completing_cells(stones, rows)
    cells |= completing_cells(stones, rows + _ONE)
    cells |= completing_cells(stones, rows + np.uint64(2))
    return cells & board.all_cells


@kernel_function
def completing_cells(stones: Bits, step: np.uint64) -> Bits:
    """The cells that complete four in the direction of `step`, from either end or in a gap."""
    before, after = stones << step, stones >> step
    near_before, near_after = before & (before << step), after & (after >> step)
    from_before = near_before & ((before << (step + step)) | after)
    from_after = near_after & (before | (after >> (step + step)))
    return from_before | from_after  # type: ignore[return-value]  # NumPy's stubs say bool


@kernel_function
def count_bits(bits: np.uint64) -> int:
    """How many bits are set."""
    count = 0
    while bits:
        bits &= bits - _ONE
        count += 1
    return count
