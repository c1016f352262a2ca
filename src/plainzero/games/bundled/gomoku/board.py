"""The board of Gomoku: stones of two players on intersections, names and drawing."""

from typing import Any

import numpy as np

from plainzero.games.contract import PIECES, Field, Game, IllegalMove, Symmetry, field
from plainzero.games.symmetries import grid_symmetries


class GomokuBoard(Game):
    """A square board whose actions are its points, row by row from the top left."""

    size: int = 15

    num_actions = property(lambda self: self.size * self.size)
    max_turns = num_actions
    full_row = property(lambda self: (1 << self.size) - 1)

    def __post_init__(self) -> None:
        """Refuses boards that are too small for a five, or too large to be named by letters."""
        super().__post_init__()
        if not 5 <= self.size <= 26:
            raise ValueError(f"{self.title()}: size must be 5 to 26, not {self.size}")

    def fields(self) -> dict[str, Field]:
        """The stones of each player, row by row from the top; bit 0 of a row is column a."""
        return {"stones": field(np.int32, (2, self.size))}

    def empty_points(self, state: Any, row: Any) -> Any:
        """The empty points of a row, as bits."""
        return self.full_row & ~(int(state.stones[0, row]) | int(state.stones[1, row]))

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square."""
        return grid_symmetries(np.arange(self.num_actions).reshape(self.size, self.size))

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the bottom left."""
        return f"{chr(ord('a') + action % self.size)}{self.size - action // self.size}"

    def parse_action(self, text: str) -> int:
        """The point of that name, in upper or lower case."""
        name = text.strip().lower()
        col, row = ord(name[:1] or "?") - ord("a"), name[1:]
        if 0 <= col < self.size and row.isdecimal() and 1 <= int(row) <= self.size:
            return (self.size - int(row)) * self.size + col
        last = self.action_name(self.size - 1)
        raise IllegalMove(f"{self.name} has no point {text!r}; its points are a1 to {last}")

    def draw_stones(self, state: Any) -> list[list[str]]:
        """The stones as texts, row by row from the top."""
        return [
            [self._stone(state, row, col) for col in range(self.size)] for row in range(self.size)
        ]

    def _stone(self, state: Any, row: int, col: int) -> str:
        for player in range(2):
            if (int(state.stones[player, row]) >> col) & 1:
                return PIECES[player]
        return "."

    def put_stones(self, state: Any, cells: list[list[str]]) -> None:
        """Puts the stones of a drawing on an empty board."""
        for row, col in np.ndindex(self.size, self.size):
            if cells[row][col] in PIECES[:2]:
                state.stones[PIECES.index(cells[row][col]), row] |= 1 << col

    def text(self, state: Any) -> str:
        """The board with the names of its rows and columns."""
        rows = [
            f"{self.size - row:2d} {' '.join(cells)}"
            for row, cells in enumerate(self.draw_stones(state))
        ]
        return "\n".join([*rows, "   " + " ".join(chr(ord("a") + col) for col in range(self.size))])
