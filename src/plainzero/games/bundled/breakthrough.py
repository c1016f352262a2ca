"""Breakthrough: pawns step forward, capture diagonally, and the first on the far row wins.

Each player's pawns are one 64-bit integer; bit `row * cols + col` is the cell in that row, counted
from the bottom, where the first player begins. An action is six times the cell that a pawn leaves,
plus 0, 1, 2 for a step up and to the left, straight, to the right, or 3, 4, 5 for one down.
"""

from typing import Any

import numpy as np

from plainzero.compiler.bit_numbers import lowest_bit
from plainzero.games.contract import Field, Game, Grid, Step, Symmetry, field

ONE = np.uint64(1)


class Breakthrough(Game):
    """Move pawns forward; whoever reaches the other side or captures all pawns wins."""

    rows: int = 8
    cols: int = 8

    num_cells = property(lambda self: self.rows * self.cols)
    num_actions = property(lambda self: 6 * self.num_cells)
    first_column = property(lambda self: self.column(0))
    last_column = property(lambda self: self.column(self.cols - 1))
    observation_shape = property(lambda self: (3, self.rows, self.cols))
    set_up_knows_the_end = True

    @property
    def max_turns(self) -> int:
        """The steps of all pawns to the row before the last, and one more."""
        steps: int = 2 * self.cols * (self.rows - 2 + self.rows - 3)
        return steps + 1

    def __post_init__(self) -> None:
        """Refuses boards without room, and those that do not fit 64 bits."""
        super().__post_init__()
        if not (self.rows >= 4 and self.cols >= 2 and self.num_cells <= 64):
            raise ValueError(
                f"breakthrough: {self.rows} rows x {self.cols} columns do not fit; there must be 4 "
                "rows or more, 2 columns or more, and 64 cells at most, as with 8x8, 6x6 or 7x9"
            )

    def fields(self) -> dict[str, Field]:
        """The pawns of each player as a bit board."""
        return {"pawns": field(np.uint64, (2,))}

    def reset(self, state: Any) -> None:
        """Two rows at the bottom for the first player, two at the top for the second."""
        for cell in range(2 * self.cols):
            state.pawns[0] |= self.bit(cell)
            state.pawns[1] |= self.bit(self.num_cells - 1 - cell)

    def column(self, col: int) -> np.uint64:
        """The cells of a column."""
        return np.uint64(sum(1 << (row * self.cols + col) for row in range(self.rows)))

    def bit(self, cell: Any) -> Any:
        """The cell as a bit."""
        return ONE << np.uint64(cell)

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Straight to an empty cell; diagonally to any cell without a pawn of the mover."""
        own, other = state.pawns[state.to_play], state.pawns[1 - state.to_play]
        left = own & ~self.first_column & ~self.behind(state, own, 0)
        straight = own & ~self.behind(state, own | other, 1)
        right = own & ~self.last_column & ~self.behind(state, own, 2)
        pawns, count = left | straight | right, 0
        while pawns:
            cell = lowest_bit(pawns)
            pawns &= pawns - ONE
            action = 6 * cell + 3 * int(state.to_play)
            actions[count] = action  # stands only if it is counted; so do the next two
            count += self.has(left, cell)
            actions[count] = action + 1
            count += self.has(straight, cell)
            actions[count] = action + 2
            count += self.has(right, cell)
        return count

    def behind(self, state: Any, cells: Any, side: Any) -> Any:
        """The cells from which the mover's step to a side leads to one of these cells."""
        if state.to_play == 0:
            return cells >> np.uint64(self.cols + side - 1)
        return cells << np.uint64(self.cols + 1 - side)

    def has(self, cells: Any, cell: Any) -> Any:
        """1 if the cell is one of these, else 0."""
        return int(cells >> np.uint64(cell)) & 1

    def target(self, action: Any) -> Any:
        """The cell to which a pawn goes."""
        ahead = self.cols if action % 6 < 3 else -self.cols
        return action // 6 + ahead + action % 3 - 1

    def play(self, state: Any, action: Any) -> None:
        """Moves a pawn, and captures a pawn on its new cell."""
        mover, target = state.to_play, self.target(action)
        state.pawns[mover] ^= self.bit(action // 6) | self.bit(target)
        state.pawns[1 - mover] &= ~self.bit(target)
        goal = self.rows - 1 if mover == 0 else 0
        if target // self.cols == goal or state.pawns[1 - mover] == 0:
            self.win(state, mover)
        self.end_turn(state)

    def observe(self, state: Any, planes: Any) -> None:
        """The mover's pawns, the opponent's, and ones if the mover moves down; top row first."""
        own, other = state.pawns[state.to_play], state.pawns[1 - state.to_play]
        for cell in range(self.num_cells):
            row, col = self.rows - 1 - cell // self.cols, cell % self.cols
            if own & self.bit(cell):
                planes[0, row, col] = 1.0
            elif other & self.bit(cell):
                planes[1, row, col] = 1.0
            planes[2, row, col] = state.to_play

    def symmetries(self) -> list[Symmetry]:
        """Left and right exchanged."""
        cells = np.arange(self.num_cells).reshape(self.rows, self.cols)[:, ::-1].ravel()
        actions = [
            6 * int(cells[action // 6]) + action % 6 // 3 * 3 + 2 - action % 3
            for action in range(self.num_actions)
        ]
        return [Symmetry(lambda planes: planes[..., ::-1], actions)]

    def action_name(self, action: int) -> str:
        """The cell it leaves and the one it goes to, as in chess: a2b3.

        Steps that would leave the board are never legal, and are named after the number only.
        """
        row, col = divmod(action // 6, self.cols)
        to_row, to_col = row + (1 if action % 6 < 3 else -1), col + action % 3 - 1
        if not (0 <= to_row < self.rows and 0 <= to_col < self.cols):
            return f"-{action}"
        letters = [chr(ord("a") + column) for column in (col, to_col)]
        return f"{letters[0]}{row + 1}{letters[1]}{to_row + 1}"

    def parse_action(self, text: str) -> int:
        """The step of that name, in upper or lower case."""
        return super().parse_action(text.lower())

    def view(self, state: Any) -> Grid:
        """The board from the top row down; a move is a step from cell to cell."""
        cells = [
            [self._mark(state, row * self.cols + col) for col in range(self.cols)]
            for row in reversed(range(self.rows))
        ]
        steps = [
            Step(action, self._place(action // 6), self._place(self.target(action)))
            for action in self.legal(state)
        ]
        letters = [chr(ord("a") + col) for col in range(self.cols)]
        numbers = [str(row) for row in range(self.rows, 0, -1)]
        actions = [[-1] * self.cols for _ in range(self.rows)]
        return Grid(cells, actions, steps=steps, columns=letters, rows=numbers)

    def _place(self, cell: int) -> tuple[int, int]:
        """Row and column in the drawing."""
        return self.rows - 1 - cell // self.cols, cell % self.cols

    def _mark(self, state: Any, cell: int) -> str:
        bit = self.bit(cell)
        return "x" if state.pawns[0] & bit else "o" if state.pawns[1] & bit else "."

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Pawns anywhere; a pawn on the far row wins, and so do the only pawns left."""
        for cell in range(self.num_cells):
            row, col = self._place(cell)
            if cells[row][col] in ("x", "o"):
                state.pawns["xo".index(cells[row][col])] |= self.bit(cell)
        tops = ((0, "x"), (self.rows - 1, "o"))
        arrived = [piece for row, piece in tops if piece in cells[row]]
        arrived += [piece for player, piece in ((1, "x"), (0, "o")) if not state.pawns[player]]
        if len(set(arrived)) == 2:
            raise ValueError("both players have won; at most one of them can have")
        if arrived:
            self.win(state, "xo".index(arrived[0]))

    def text(self, state: Any) -> str:
        """The board with the names of its rows and columns."""
        letters = " ".join(chr(ord("a") + col) for col in range(self.cols))
        rows = [
            f"{self.rows - row} {' '.join(cells)}"
            for row, cells in enumerate(self.view(state).cells)
        ]
        return "\n".join([*rows, f"  {letters}"])
