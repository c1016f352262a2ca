"""Exact search of Connect Four: every question is "is the score at least t?", for some t.

The score of a position is 0 for a draw; if the mover wins, the number of the mover's unplayed
stones plus one; if the mover loses, the same for the opponent, negated. Stones are bit boards as in
`games/bundled/connect_four.py`. Each frame of the stack is a question; a child's score is at least
1 − t unless its parent's is at least t. No frame is a position in which the mover wins at once:
moves that allow this are never tried, or the question is answered before.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.compiler.record_types import Record, record_dtype
from plainzero.opponents.connect_four.bitboard import (
    Board,
    column_cells,
    count_bits,
    playable_cells,
    winning_cells,
)

NO, YES, OPEN = 0, 1, 2
ILLEGAL = -128
"""Stands for the outcome of an illegal move."""

MOST_CELLS = 64
NOTE_BITS = 15  # of a table's word: a lower and an upper bound, 7 bits each, and whether to keep it
_OFFSET = 33  # more than any score, so that bounds are stored as positive numbers
_ONE = np.uint64(1)
_BOUND = np.uint64(127)
_NOTES = np.uint64((1 << NOTE_BITS) - 1)
_KEEP = np.uint64(1 << 14)
_KEPT_CELLS = 30  # empty: positions with more are few and expensive to solve again
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, so multiplication is invertible modulo 2^64

FRAME = record_dtype(
    own=np.uint64,  # the mover's stones
    occupied=np.uint64,
    signature=np.uint64,  # high bits of the table's word for this position
    slot=np.int64,  # of the table
    threshold=np.int64,  # t of the question
    count=np.int64,  # moves worth trying
    next=np.int64,  # index of the next one to try
    moves=(np.uint64, 32),  # one bit each, the most promising first
    weights=(np.int64, 32),  # winning cells after each
)
CURSOR = record_dtype(
    ply=np.int64,  # of the open frame with the most stones; −1: no question is open
    answer=np.int64,
    column=np.int64,  # being judged
    low=np.int64,  # the score is known to be from here …
    high=np.int64,  # … to here
    nodes=np.int64,  # positions visited
)


class Work(NamedTuple):
    """The memory of a search."""

    frames: NDArray[Any]  # [MOST_CELLS + 1] see FRAME
    table: NDArray[np.uint64]  # [2^slot_bits]
    cursor: NDArray[Any]  # [1] see CURSOR


@Kernel
def find_score(board: Board, work: Work, own: np.uint64, occupied: np.uint64, budget: int) -> bool:
    """Narrows cursor.low … cursor.high to one score; False when `budget` nodes were not enough."""
    cursor = work.cursor[0]
    left = board.cells - count_bits(occupied)
    if cursor.ply < 0 and winning_cells(board, own) & playable_cells(board, occupied):
        cursor.low = (left + 1) // 2
        cursor.high = cursor.low
    end = cursor.nodes + budget
    while cursor.low < cursor.high:
        if cursor.ply < 0:
            ask(work, own, occupied, next_threshold(cursor.low, cursor.high))
        if not search(board, work, end):
            return False
        if cursor.answer == YES:
            cursor.low = work.frames[0].threshold
        else:
            cursor.high = work.frames[0].threshold - 1
    return True


@Kernel
def find_outcomes(
    board: Board,
    work: Work,
    own: np.uint64,
    occupied: np.uint64,
    outcomes: NDArray[np.int8],
    budget: int,
) -> bool:
    """Writes +1, 0, −1 or ILLEGAL for each column; False when `budget` nodes were not enough."""
    cursor = work.cursor[0]
    end = cursor.nodes + budget
    playable, winning = playable_cells(board, occupied), winning_cells(board, own)
    while cursor.column < board.cols:
        column = cursor.column
        stone = playable & column_cells(board, column)
        if not stone:
            outcomes[column] = ILLEGAL
        elif stone & winning:
            outcomes[column] = 1
        elif not find_sign(board, work, own ^ occupied, occupied | stone, end):
            return False
        else:
            outcomes[column] = -cursor.low
        cursor.column += 1
        cursor.low, cursor.high = -1, 1
    return True


@kernel_function
def find_sign(board: Board, work: Work, own: np.uint64, occupied: np.uint64, end: int) -> bool:
    """Narrows cursor.low … cursor.high, at first −1 … 1, to the sign of the score."""
    cursor = work.cursor[0]
    if cursor.ply < 0 and winning_cells(board, own) & playable_cells(board, occupied):
        cursor.low, cursor.high = 1, 1
    while cursor.low < cursor.high:
        if cursor.ply < 0:
            ask(work, own, occupied, cursor.high)
        if not search(board, work, end):
            return False
        if cursor.answer == YES:
            cursor.low = cursor.high
        else:
            cursor.high -= 1
    return True


@kernel_function
def next_threshold(low: int, high: int) -> int:
    """A threshold in low + 1 … high: the middle, or farther from 0, where answers are cheap."""
    middle = low + (high - low + 1) // 2
    if middle <= 0:
        return min(middle, max(low + 1, -(-low // 2)))
    return max(middle, high // 2)


@kernel_function
def ask(work: Work, own: np.uint64, occupied: np.uint64, threshold: int) -> None:
    """Sets the first frame's question; `search` enters it."""
    frame = work.frames[0]
    frame.own, frame.occupied, frame.threshold = own, occupied, threshold


@kernel_function
def search(board: Board, work: Work, end: int) -> bool:
    """Writes the answer to the question in frame 0; False when cursor.nodes reached `end` first."""
    frames, cursor = work.frames, work.cursor[0]
    if cursor.ply < 0:
        cursor.ply = 0
        cursor.answer = enter(board, work, 0)
        if cursor.answer != OPEN:
            cursor.ply = -1
            return True
    ply, nodes = cursor.ply, cursor.nodes
    while nodes < end:
        frame = frames[ply]
        answer = NO
        if frame.next < frame.count:
            nodes += 1
            open_child(frame, frames[ply + 1])
            answer = enter(board, work, ply + 1)
            if answer == OPEN:
                ply += 1
                continue
            if answer == YES:  # not with this move
                continue
            answer = YES
        ply, answer = pass_up(board, work, ply, answer)
        if ply < 0:
            cursor.ply, cursor.nodes, cursor.answer = -1, nodes, answer
            return True
    cursor.ply, cursor.nodes = ply, nodes
    return False


@kernel_function
def open_child(frame: Record, child: Record) -> None:
    """The position after the frame's next move, and the question about it."""
    child.own = frame.own ^ frame.occupied
    child.occupied = frame.occupied | frame.moves[frame.next]
    child.threshold = 1 - frame.threshold
    frame.next += 1


@kernel_function
def pass_up(board: Board, work: Work, ply: int, answer: int) -> tuple[int, int]:
    """Passes an answer up to the first frame still open; returns its ply, or −1, and the answer."""
    while True:
        store(board, work.table, work.frames[ply], answer)
        ply -= 1
        if ply < 0 or answer == YES:  # a YES of the child refutes one move of its parent
            return ply, answer
        answer = YES


@kernel_function
def enter(board: Board, work: Work, ply: int) -> int:
    """The answer if it is obvious or in the table; else OPEN, with the frame's moves listed."""
    frame = work.frames[ply]
    own, occupied, threshold = frame.own, frame.occupied, frame.threshold
    left = board.cells - count_bits(occupied)
    playable = playable_cells(board, occupied)
    threats = winning_cells(board, own ^ occupied) & ~occupied
    forced = playable & threats
    if forced:
        playable = forced
        if forced & (forced - _ONE):
            return YES if threshold <= -(left // 2) else NO
    moves = playable & ~(threats >> _ONE)  # a stone below a threat allows it
    if not moves:
        return YES if threshold <= -(left // 2) else NO
    if left <= 2 or threshold <= -((left - 2) // 2):
        return YES if threshold <= 0 else NO
    if threshold > (left - 1) // 2:
        return NO
    answer = look_up(board, work.table, frame)
    if answer == OPEN:
        sort_moves(board, frame, moves)
    return answer


@kernel_function
def look_up(board: Board, table: NDArray[np.uint64], frame: Record) -> int:
    """The answer in the table; stores the position's slot in its frame."""
    # One more stone per column marks its height, so the sum identifies the position. The slot and
    # the signature together hold all bits of the product, so there are no false hits.
    mixed = (frame.own + frame.occupied + board.bottom) * _MIXER
    frame.slot = np.int64(mixed >> np.uint64(64 - board.slot_bits))
    frame.signature = mixed << np.uint64(board.slot_bits)
    word = table[frame.slot]
    if word & ~_NOTES != frame.signature:
        return OPEN
    if frame.threshold <= np.int64(word & _BOUND) - _OFFSET:
        return YES
    if frame.threshold > np.int64((word >> np.uint64(7)) & _BOUND) - _OFFSET:
        return NO
    return OPEN


@kernel_function
def store(board: Board, table: NDArray[np.uint64], frame: Record, answer: int) -> None:
    """Stores the answer as a lower or upper bound, and keeps the other bound if known."""
    word = table[frame.slot]
    low, high = np.uint64(0), np.uint64(2 * _OFFSET)
    keep = _KEEP if board.cells - count_bits(frame.occupied) >= _KEPT_CELLS else np.uint64(0)
    if word & ~_NOTES == frame.signature:
        low, high = word & _BOUND, (word >> np.uint64(7)) & _BOUND
    elif word & _KEEP > keep:
        return
    if answer == YES:
        low = np.uint64(frame.threshold + _OFFSET)
    else:
        high = np.uint64(frame.threshold - 1 + _OFFSET)
    table[frame.slot] = frame.signature | keep | (high << np.uint64(7)) | low


@kernel_function
def sort_moves(board: Board, frame: Record, moves: np.uint64) -> None:
    """Sorts the moves by the winning cells they give the mover, then from the middle outwards."""
    count = 0
    for index in range(board.cols):
        move = moves & column_cells(board, board.order[index])
        if move:
            own = frame.own | move
            weight = count_bits(winning_cells(board, own) & ~frame.occupied)
            place = count
            while place > 0 and frame.weights[place - 1] < weight:
                frame.moves[place] = frame.moves[place - 1]
                frame.weights[place] = frame.weights[place - 1]
                place -= 1
            frame.moves[place], frame.weights[place] = move, weight
            count += 1
    frame.count, frame.next = count, 0
