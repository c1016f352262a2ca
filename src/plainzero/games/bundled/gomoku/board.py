"""The board of Gomoku: stones of two players on intersections, names and drawing."""

import functools
from typing import Any

import numpy as np

from plainzero.games.bundled.gomoku.stone_lines import (
    Lines,
    cells_around,
    turn_stone,
)
from plainzero.games.contract import PIECES, Field, Game, IllegalMove, Symmetry, field
from plainzero.games.symmetries import grid_symmetries


class GomokuBoard(Game):
    """A square board whose actions are its points, row by row from the top left."""

    size: int = 15

    num_actions = property(lambda self: self.size * self.size)
    max_turns = num_actions
    full_row = property(lambda self: (1 << self.size) - 1)
    cells_around = functools.cached_property(lambda self: cells_around(self.size))

    def __post_init__(self) -> None:
        """Refuses boards that are too small for a five, or too large to be named by letters."""
        super().__post_init__()
        if not 5 <= self.size <= 26:
            raise ValueError(f"{self.title()}: size must be 5 to 26, not {self.size}")

    def fields(self) -> dict[str, Field]:
        """The stones of each player on each line, see `stone_lines.py`."""
        line = np.uint16 if self.size <= 16 else np.int32
        return {"stones": field(line, (2, 4, self.size))}

    def empty_points(self, state: Any, row: Any) -> Any:
        """The empty points of a row, as bits."""
        return self.full_row & ~(int(state.stones[0, 0, row]) | int(state.stones[1, 0, row]))

    def lines(self, state: Any) -> Lines:
        """The board, as functions about lines take it."""
        return Lines(state.stones, self.size, self.cells_around)

    def turn_stone(self, state: Any, player: Any, row: Any, col: Any) -> None:
        """Puts a player's stone on a point, or takes it away."""
        turn_stone(state.stones, player, self.size, row, col)

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
            if (int(state.stones[player, 0, row]) >> col) & 1:
                return PIECES[player]
        return "."

    def put_stones(self, state: Any, cells: list[list[str]]) -> None:
        """Puts the stones of a drawing on an empty board."""
        for row, col in np.ndindex(self.size, self.size):
            if cells[row][col] in PIECES[:2]:
                self.turn_stone(state, PIECES.index(cells[row][col]), row, col)

    def text(self, state: Any) -> str:
        """The board with the names of its rows and columns."""
        rows = [
            f"{self.size - row:2d} {' '.join(cells)}"
            for row, cells in enumerate(self.draw_stones(state))
        ]
        return "\n".join([*rows, "   " + " ".join(chr(ord("a") + col) for col in range(self.size))])
