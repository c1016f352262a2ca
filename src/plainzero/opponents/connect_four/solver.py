"""The exact solver of Connect Four, for any board size with four in a row."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import NO_TAG, Kernel
from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.opponents.agent import Stop, check_stop
from plainzero.opponents.connect_four import kernels
from plainzero.opponents.connect_four.bitboard import make_board
from plainzero.opponents.connect_four.kernels import CURSOR, FRAME, MOST_CELLS, NOTE_BITS, Work

TABLE_BYTES = 1 << 26
_NODES_PER_CALL = 250_000  # about 40 ms, then Python checks for Ctrl-C and calls `stop`
_BYTES_PER_WORD = 8

Progress = Callable[[int, int], None]
"""Called with the positions done and to do."""


class ConnectFourSolver:
    """Scores and outcomes of positions; its table is reused from call to call.

    Every method takes a `stop`, called many times per second; when it returns true, `Stopped` is
    raised. The table keeps its entries, so a repeated call takes less time. Several threads may
    search at once: each search has its own stack, and they take turns using the table, for some
    milliseconds each; none holds the table while it calls `stop`.

    Args:
        game: connect-four of any size with four in a row.
        table_bytes: size of the transposition table, rounded down to a power of two. A larger one
            speeds up positions with few stones.

    Raises:
        ValueError: for another number in a row, or a table that is too small.
    """

    def __init__(self, game: ConnectFour, table_bytes: int = TABLE_BYTES) -> None:  # noqa: D107
        if game.in_a_row != 4:
            raise ValueError(f"{game.name} cannot be solved: in_a_row must be 4")
        slot_bits = (table_bytes // _BYTES_PER_WORD).bit_length() - 1
        if slot_bits < NOTE_BITS:
            raise ValueError(
                f"a table of {table_bytes} bytes is too small; "
                f"give {_BYTES_PER_WORD << NOTE_BITS} or more"
            )
        self.game = game
        self._board = make_board(game.rows, game.cols, slot_bits)
        self._table = np.zeros(1 << slot_bits, np.uint64)
        self._lock = threading.Lock()  # of the table
        self.nodes = 0  # visited since the solver was created

    def solve(
        self, state: Any, stop: Stop | None = None, low: int | None = None, high: int | None = None
    ) -> int:
        """The score for the mover, as defined by Pascal Pons.

        0 is a draw; a win counts the winner's unplayed stones plus one, so that quicker wins score
        higher; a loss counts the same for the opponent, negated.

        Args:
            state: the position.
            stop: see the class.
            low: scores below this one count as this one, which takes less time.
            high: scores above this one count as this one.

        Raises:
            ValueError: when the game is over or the state is of another game.
        """
        own, occupied = self._stones(state)
        left = self._board.cells - occupied.bit_count()
        least, most = -(left // 2), (left + 1) // 2
        low, high = least if low is None else low, most if high is None else high
        work = self._make_work(max(least, low), min(most, high))
        self._run(kernels.find_score, stop, work, np.uint64(own), np.uint64(occupied))
        return min(high, max(low, int(work.cursor[0].low)))

    def outcomes(
        self,
        states: Sequence[Any] | NDArray[Any],
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> NDArray[np.int8]:
        """The outcome of each move with perfect play: +1, 0, −1 for the mover, [n, cols].

        ILLEGAL marks full columns.

        Raises:
            ValueError: when a game is over or a state is of another game.
        """
        boards = [self._stones(state) for state in states]
        outcomes = np.empty((len(boards), self._board.cols), np.int8)
        for row, (own, occupied) in enumerate(boards):
            arguments = np.uint64(own), np.uint64(occupied), outcomes[row]
            self._run(kernels.find_outcomes, stop, self._make_work(-1, 1), *arguments)
            if progress is not None:
                progress(row + 1, len(boards))
        return outcomes

    def _stones(self, state: Any) -> tuple[int, int]:
        """The mover's stones and all stones."""
        if getattr(state, "dtype", None) != self.game.dtype:
            raise ValueError(f"the state is not one of {self.game.name}")
        if state.is_over:
            raise ValueError("the game is over, so there is nothing to solve")
        return int(state.stones[state.to_play]), int(state.stones[0] | state.stones[1])

    def _make_work(self, low: int, high: int) -> Work:
        """The memory of one search: its own stack, and the shared table."""
        cursor = np.zeros(1, CURSOR)
        cursor[0].ply, cursor[0].low, cursor[0].high = -1, low, high
        return Work(np.zeros(MOST_CELLS + 1, FRAME), self._table, cursor)

    def _run(self, kernel: Kernel, stop: Stop | None, work: Work, *question: Any) -> None:
        """Calls the kernel until it is done or `stop` returns true."""
        is_done = False
        while not is_done:
            check_stop(stop)
            before = int(work.cursor[0].nodes)
            # Without the compiler, products wrap with a warning.
            with self._lock, np.errstate(over="ignore"):
                is_done = kernel(NO_TAG, self._board, work, *question, _NODES_PER_CALL)
                self.nodes += int(work.cursor[0].nodes) - before
