"""Trio: three players, three in a row. Everybody wants a threat blocked, by somebody else."""

from typing import Any

import numpy as np

from plainzero.games.board_view import cells_in_a_row
from plainzero.games.contract import Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import grid_symmetries


class Trio(Game):
    """Three players put stones on a square board; the first with three in a row wins."""

    size: int = 4
    in_a_row: int = 3

    num_players = 3
    num_actions = property(lambda self: self.size * self.size)
    observation_shape = property(lambda self: (3, self.size, self.size))
    max_turns = num_actions

    def __post_init__(self) -> None:
        """Refuses boards that cannot be named, and lines that do not fit."""
        super().__post_init__()
        if not 1 <= self.size <= 26:
            raise ValueError(f"trio: size must be 1 to 26, not {self.size}")
        if not 2 <= self.in_a_row <= self.size:
            raise ValueError(
                f"trio: in_a_row must be 2 to size, here {self.size}, not {self.in_a_row}"
            )

    def fields(self) -> dict[str, Field]:
        """The board: 0 for empty, otherwise the player's number, from 1."""
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
        """Places the mover's stone; a full board without a line is a draw."""
        row, col = action // self.size, action % self.size
        state.board[row, col] = state.to_play + 1
        if self.has_line(state, row, col):
            self.win(state, state.to_play)
        elif state.turn + 1 == self.num_actions:
            self.draw(state)
        self.end_turn(state)

    def has_line(self, state: Any, row: Any, col: Any) -> bool:
        """Whether enough stones in a row run through the new one."""
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            ahead = self.run(state, row, col, down, right)
            behind = self.run(state, row, col, -down, -right)
            if ahead + behind + 1 >= self.in_a_row:
                return True
        return False

    def run(self, state: Any, row: Any, col: Any, down: Any, right: Any) -> int:
        """How many stones of the same player follow this one in that direction."""
        stone = state.board[row, col]
        length = 0
        row, col = row + down, col + right
        while 0 <= row < self.size and 0 <= col < self.size and state.board[row, col] == stone:
            length += 1
            row, col = row + down, col + right
        return length

    def observe(self, state: Any, planes: Any) -> None:
        """Plane 0: the mover's stones; plane 1: the next player's; plane 2: the third player's."""
        for row in range(self.size):
            for col in range(self.size):
                stone = state.board[row, col]
                if stone != 0:
                    planes[(stone + 2 - state.to_play) % 3, row, col] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square."""
        return grid_symmetries(np.arange(self.num_actions).reshape(self.size, self.size))

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the top left."""
        return f"{chr(ord('a') + action % self.size)}{action // self.size + 1}"

    def view(self, state: Any) -> Grid:
        """The board, each cell clickable; the winning line is marked."""
        cells = [[".xoz"[stone] for stone in row] for row in state.board]
        actions = np.arange(self.num_actions).reshape(self.size, self.size).tolist()
        return Grid(cells, actions, marks=cells_in_a_row(cells, self.in_a_row))
