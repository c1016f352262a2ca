"""The records of an alpha-beta search: its stack of positions, and the tables beside it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype

FRAME = record_dtype(
    alpha=np.float64,  # lower values change nothing above
    beta=np.float64,  # with higher values the position is not reached
    floor=np.float64,  # alpha when the frame was opened
    best=np.float64,
    check=np.uint64,  # see transposition_table
    slot=np.int64,
    side=np.int64,  # 1 the viewer's, −1 the other
    count=np.int64,  # of moves
    next=np.int64,  # index of the next move to try
    best_action=np.int32,
    remaining=np.int16,
    is_chance=np.bool_,
    is_complete=np.bool_,
    is_weighed=np.bool_,  # whether untried moves have their weights
    is_narrow=np.bool_,  # whether the current child has an empty window
    is_repeated=np.bool_,  # the next move proved better and is searched with the full window
)
CURSOR = record_dtype(
    ply=np.int64,  # of the current frame; −1: not begun
    nodes=np.int64,
    depth=np.int64,
    viewer=np.int64,
    salt=np.uint64,  # hides table entries made with another salt
    decay=np.float64,  # a value's factor for each ply it lies ahead
    needs_all=np.bool_,  # whether all root moves need exact values, not only the best
    has_no_action=np.bool_,  # whether the rules returned no legal action
)


class TreeWork(NamedTuple):
    """The stack and the tables: D depth, W words per state, A actions, M moves per position."""

    states: NDArray[Any]  # [D + 1]
    words: NDArray[Any]  # [D + 1, W] the same memory as words
    masks: NDArray[Any]  # [W]
    frames: NDArray[Any]  # [D + 1] see FRAME
    actions: NDArray[np.int32]  # [D + 1, M]
    weights: NDArray[np.float64]  # [D + 1, M] for move ordering, or chance's probabilities
    killers: NDArray[np.int32]  # [D + 1, 2] moves that refuted another position at this ply
    history: NDArray[np.float64]  # [2, A] refutations by each side's moves
    table: NDArray[Any]  # [2^k] see transposition_table
    root_values: NDArray[np.float64]  # [A] for the side to move at the root
    cursor: NDArray[Any]  # [1] see CURSOR
