"""Gomoku: five in a row on a board of crossings.

Each player's stones are rows of bits, so that a line through a point is a word that a few
operations judge, see `gomoku_lines.py`.
"""

from typing import Any

import numpy as np

from tesuji.games.contract import Field, Game, Grid, IllegalMove, Symmetry, field
from tesuji.games.gomoku_lines import has_five, line_words
from tesuji.games.lines import cells_in_a_row
from tesuji.games.symmetries import grid_symmetries


class Gomoku(Game):
    """Five in a row, column or diagonal win."""

    size: int = 15

    num_actions = property(lambda self: self.size * self.size)
    observation_shape = property(lambda self: (2, self.size, self.size))
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

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point, row by row from the top left."""
        count = 0
        for row in range(self.size):
            points = self.empty_points(state, row)
            for col in range(self.size):
                actions[count] = row * self.size + col  # stands only if it is counted
                count += (points >> col) & 1
        return count

    def empty_points(self, state: Any, row: Any) -> Any:
        """The points of a row on which no stone stands."""
        return self.full_row & ~(int(state.stones[0, row]) | int(state.stones[1, row]))

    def play(self, state: Any, action: Any) -> None:
        """Puts a stone on a point."""
        row, col = action // self.size, action % self.size
        state.stones[state.to_play, row] |= 1 << col
        if self.makes_five(state, row, col):
            self.win(state, state.to_play)
        elif state.turn + 1 == self.num_actions:
            self.draw(state)
        self.end_turn(state)

    def makes_five(self, state: Any, row: Any, col: Any) -> Any:
        """Whether the mover's stone on this point stands in a five."""
        across, down, falling, rising = line_words(state.stones, state.to_play, self.size, row, col)
        return (
            has_five(across, False)
            or has_five(down, False)
            or has_five(falling, False)
            or has_five(rising, False)
        )

    def observe(self, state: Any, planes: Any) -> None:
        """Plane 0: the mover's stones; plane 1: the opponent's."""
        for row in range(self.size):
            own = int(state.stones[state.to_play, row])
            other = int(state.stones[1 - state.to_play, row])
            for col in range(self.size):
                planes[0, row, col] = (own >> col) & 1
                planes[1, row, col] = (other >> col) & 1

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square."""
        return grid_symmetries(np.arange(self.num_actions).reshape(self.size, self.size))

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the bottom left."""
        return f"{chr(ord('a') + action % self.size)}{self.size - action // self.size}"

    def parse_action(self, text: str) -> int:
        """The point of that name, in small letters or large ones."""
        name = text.strip().lower()
        col, row = ord(name[:1] or "?") - ord("a"), name[1:]
        if 0 <= col < self.size and row.isdecimal() and 1 <= int(row) <= self.size:
            return (self.size - int(row)) * self.size + col
        last = self.action_name(self.size - 1)
        raise IllegalMove(f"{self.name} has no point {text!r}; its points are a1 to {last}")

    def view(self, state: Any) -> Grid:
        """The board, each point clickable; a five is marked."""
        places = range(self.size)
        cells = [[self._stone(state, row, col) for col in places] for row in places]
        actions = np.arange(self.num_actions).reshape(self.size, self.size).tolist()
        return Grid(cells, actions, marks=cells_in_a_row(cells, 5), layout="points")

    def _stone(self, state: Any, row: int, col: int) -> str:
        for player in range(2):
            if (int(state.stones[player, row]) >> col) & 1:
                return "xo"[player]
        return "."

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Any stones, as many of each as one likes; a five has won."""
        for row, col in np.ndindex(self.size, self.size):
            if cells[row][col] in ("x", "o"):
                state.stones["xo".index(cells[row][col]), row] |= 1 << col

    def text(self, state: Any) -> str:
        """The board with the names of its rows and columns."""
        rows = [
            f"{self.size - row:2d} {' '.join(cells)}"
            for row, cells in enumerate(self.view(state).cells)
        ]
        return "\n".join([*rows, "   " + " ".join(chr(ord("a") + col) for col in range(self.size))])
