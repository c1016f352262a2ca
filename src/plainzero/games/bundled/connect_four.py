"""Connect Four on boards of any size that fits 64 bits: each player's stones are one integer.

Bit `col * (rows + 1) + row` is the cell in that column, counted from the bottom. The extra cell on
top of each column stays empty, so that a line never runs from one column into the next.
"""

from typing import Any

import numpy as np

from plainzero.games.board_view import cells_in_a_row
from plainzero.games.contract import Field, Game, Grid, Symmetry, field

ONE = np.uint64(1)


class ConnectFour(Game):
    """Drop stones into columns; four in a row, column or diagonal win."""

    rows: int = 6
    cols: int = 7
    in_a_row: int = 4

    num_actions = property(lambda self: self.cols)
    observation_shape = property(lambda self: (2, self.rows, self.cols))
    max_turns = property(lambda self: self.rows * self.cols)

    def __post_init__(self) -> None:
        """Refuses boards that do not fit."""
        super().__post_init__()
        if not (self.rows >= 1 and self.cols >= 1 and (self.rows + 1) * self.cols <= 64):
            raise ValueError(
                f"connect-four: {self.rows} rows x {self.cols} columns do not fit; "
                "(rows + 1) x cols must be at most 64, as with 6x7, 7x8 or 6x9"
            )
        if self.in_a_row < 2:
            raise ValueError(f"connect-four: in_a_row must be 2 or more, not {self.in_a_row}")

    def fields(self) -> dict[str, Field]:
        """The stones of each player as a bit board."""
        return {"stones": field(np.uint64, (2,))}

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every column whose top cell is empty."""
        occupied = state.stones[0] | state.stones[1]
        count = 0
        for col in range(self.cols):
            if not occupied & self.bit(self.rows - 1, col):
                actions[count] = col
                count += 1
        return count

    def play(self, state: Any, action: Any) -> None:
        """Drops a stone: adding the bottom cell carries into the first empty one above it."""
        occupied = state.stones[0] | state.stones[1]
        stone = (occupied + self.bit(0, action)) & ~occupied
        stones = state.stones[state.to_play] | stone
        state.stones[state.to_play] = stones
        if self.has_line(stones):
            self.win(state, state.to_play)
        elif state.turn + 1 == self.max_turns:
            self.draw(state)
        self.end_turn(state)

    def has_line(self, stones: Any) -> bool:
        """Whether the stones hold enough in a row in one of the four directions."""
        for step in (1, self.rows, self.rows + 1, self.rows + 2):
            line = stones
            for _ in range(self.in_a_row - 1):
                line = stones & (line >> np.uint64(step))
            if line:
                return True
        return False

    def bit(self, row: Any, col: Any) -> Any:
        """The cell as a bit."""
        return ONE << np.uint64(col * (self.rows + 1) + row)

    def observe(self, state: Any, planes: Any) -> None:
        """Plane 0: the mover's stones; plane 1: the opponent's; row 0 is the top."""
        own, other = state.stones[state.to_play], state.stones[1 - state.to_play]
        for row in range(self.rows):
            for col in range(self.cols):
                cell = self.bit(self.rows - 1 - row, col)
                if own & cell:
                    planes[0, row, col] = 1.0
                elif other & cell:
                    planes[1, row, col] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """Left and right exchanged."""
        return [Symmetry(lambda planes: planes[..., ::-1], list(range(self.cols))[::-1])]

    def action_name(self, action: int) -> str:
        """The column, counted from 1 at the left."""
        return str(action + 1)

    def view(self, state: Any) -> Grid:
        """The board from the top row down; a click on a cell plays its column."""
        cells = [
            [self._mark(state, self.bit(row, col)) for col in range(self.cols)]
            for row in reversed(range(self.rows))
        ]
        actions = [list(range(self.cols)) for _ in range(self.rows)]
        return Grid(cells, actions, marks=cells_in_a_row(cells, self.in_a_row))

    def _mark(self, state: Any, cell: Any) -> str:
        return "x" if state.stones[0] & cell else "o" if state.stones[1] & cell else "."

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Stones that rest on the ground or on each other; any number of each."""
        for col, column in enumerate(zip(*reversed(cells), strict=True)):
            stones = "".join(column).rstrip(".")  # from the bottom up
            if "." in stones:
                raise ValueError(
                    f"a stone in column {col + 1} has nothing below it; stones fall to the bottom"
                )
            for row, stone in enumerate(stones):
                state.stones["xo".find(stone)] |= self.bit(row, col)
        for player in (1 - state.to_play, state.to_play):
            if self.has_line(state.stones[player]) and not state.is_over:
                self.win(state, player)
