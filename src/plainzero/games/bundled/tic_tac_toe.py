"""Tic-tac-toe, or any `size` in a row on a board of that size: the game to copy for your own."""

from typing import Any

import numpy as np

from plainzero.games.board_view import cells_in_a_row
from plainzero.games.contract import Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import grid_symmetries


class TicTacToe(Game):
    """Three in a row on a 3x3 board."""

    size: int = 3  # TicTacToe(size=4) is another game

    num_actions = property(lambda self: self.size * self.size)
    observation_shape = property(lambda self: (2, self.size, self.size))
    max_turns = num_actions  # an upper bound on the length of a game

    def __post_init__(self) -> None:
        """Refuses boards whose columns cannot be named by a letter."""
        super().__post_init__()
        if not 1 <= self.size <= 26:
            raise ValueError(f"tic-tac-toe: size must be 1 to 26, not {self.size}")

    def fields(self) -> dict[str, Field]:
        """The board: 0 empty, 1 the first player, 2 the second."""
        return {"board": field(np.int8, (self.size, self.size))}

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell, numbered row by row."""
        count = 0
        for row in range(self.size):
            for col in range(self.size):
                if state.board[row, col] == 0:
                    actions[count] = row * self.size + col
                    count += 1
        return count

    def play(self, state: Any, action: Any) -> None:
        """Puts the mover's mark on a cell."""
        row, col = action // self.size, action % self.size
        state.board[row, col] = state.to_play + 1
        if self.has_line(state, row, col):
            self.win(state, state.to_play)
        elif state.turn + 1 == self.num_actions:
            self.draw(state)
        self.end_turn(state)

    def has_line(self, state: Any, row: Any, col: Any) -> bool:
        """Whether the mark just made fills its row, its column or a diagonal."""
        mark = state.board[row, col]
        in_row = in_col = in_diagonal = in_other_diagonal = 0
        for i in range(self.size):
            in_row += state.board[row, i] == mark
            in_col += state.board[i, col] == mark
            in_diagonal += state.board[i, i] == mark
            in_other_diagonal += state.board[i, self.size - 1 - i] == mark
        return self.size in (in_row, in_col, in_diagonal, in_other_diagonal)

    def observe(self, state: Any, planes: Any) -> None:
        """Plane 0: the mover's marks; plane 1: the opponent's."""
        for row in range(self.size):
            for col in range(self.size):
                mark = state.board[row, col]
                if mark == state.to_play + 1:
                    planes[0, row, col] = 1.0
                elif mark != 0:
                    planes[1, row, col] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square."""
        return grid_symmetries(np.arange(self.num_actions).reshape(self.size, self.size))

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the top left."""
        return f"{chr(ord('a') + action % self.size)}{action // self.size + 1}"

    def view(self, state: Any) -> Grid:
        """The board, each cell clickable; a full line is marked."""
        cells = [[".xo"[mark] for mark in row] for row in state.board]
        actions = np.arange(self.num_actions).reshape(self.size, self.size).tolist()
        return Grid(cells, actions, marks=cells_in_a_row(cells, self.size))
