"""Amazons on a small board: a turn is a queen's move, then an arrow shot from where she stands.

Both are actions of their own: the first 36 · 36 are moves from a cell to a cell, the others are
cells that an arrow blocks for good.
"""

from typing import Any

import numpy as np

from plainzero import Game, Grid, Step, field

EMPTY, ARROW = 0, 3
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class Amazons(Game):
    """Move a queen and shoot an arrow; whoever cannot move loses."""

    size: int = 6

    cells = property(lambda self: self.size * self.size)
    num_actions = property(lambda self: self.cells * self.cells + self.cells)
    observation_shape = property(lambda self: (5, self.size, self.size))
    max_turns = property(lambda self: 2 * (self.cells - 4))

    def fields(self) -> dict[str, Any]:
        """The board, row by row, and where the queen stands that must shoot, or -1."""
        return {"board": field(np.int8, self.cells), "shooter": field(np.int16)}

    def reset(self, state: Any) -> None:
        """Two queens each, in the middle of the edges."""
        middle = self.size // 2
        state.shooter = -1
        state.board[middle - 1] = 2
        state.board[self.cells - 1 - (middle - 1)] = 1
        state.board[middle * self.size] = 1
        state.board[(middle - 1) * self.size + self.size - 1] = 2

    def legal_actions(self, state: Any, actions: Any) -> int:
        """All moves of the mover's queens, or all cells that the shooter can hit."""
        if state.shooter >= 0:
            base = self.cells * self.cells
            return self.rays(state, int(state.shooter), base, actions, 0)
        count = 0
        for cell in range(self.cells):
            if state.board[cell] == state.to_play + 1:
                count = self.rays(state, cell, cell * self.cells, actions, count)
        return count

    def rays(self, state: Any, cell: int, base: int, actions: Any, count: int) -> int:
        """Writes base + target for every cell that a queen on `cell` reaches; the new count."""
        for down, right in DIRECTIONS:
            row, col = cell // self.size + down, cell % self.size + right
            while 0 <= row < self.size and 0 <= col < self.size:
                target = row * self.size + col
                if state.board[target] != EMPTY:
                    break
                actions[count] = base + target
                count += 1
                row, col = row + down, col + right
        return count

    def play(self, state: Any, action: Any) -> None:
        """The queen moves, or her arrow lands and the turn ends."""
        if state.shooter < 0:
            start, target = action // self.cells, action % self.cells
            state.board[target] = state.board[start]
            state.board[start] = EMPTY
            state.shooter = target
            return
        state.board[action - self.cells * self.cells] = ARROW
        state.shooter = -1
        self.end_turn(state)
        if not self.can_move(state):
            self.win(state, 1 - state.to_play)

    def can_move(self, state: Any) -> bool:
        """Whether a queen of the mover has an empty neighbour."""
        for cell in range(self.cells):
            if state.board[cell] == state.to_play + 1:
                for down, right in DIRECTIONS:
                    row, col = cell // self.size + down, cell % self.size + right
                    if 0 <= row < self.size and 0 <= col < self.size:
                        if state.board[row * self.size + col] == EMPTY:
                            return True
        return False

    def observe(self, state: Any, planes: Any) -> None:
        """Own queens, the opponent's, arrows, the shooter, and ones if an arrow is to be shot."""
        for cell in range(self.cells):
            row, col, piece = cell // self.size, cell % self.size, state.board[cell]
            if piece == state.to_play + 1:
                planes[0, row, col] = 1.0
            elif piece == ARROW:
                planes[2, row, col] = 1.0
            elif piece != EMPTY:
                planes[1, row, col] = 1.0
            if state.shooter >= 0:
                planes[4, row, col] = 1.0
        if state.shooter >= 0:
            planes[3, state.shooter // self.size, state.shooter % self.size] = 1.0

    def action_name(self, action: int) -> str:
        """A move as a1-b2, an arrow as *c3."""
        start, target = divmod(action, self.cells)
        name = f"{chr(ord('a') + target % self.size)}{target // self.size + 1}"
        if start == self.cells:
            return f"*{name}"
        return f"{chr(ord('a') + start % self.size)}{start // self.size + 1}-{name}"

    def view(self, state: Any) -> Grid:
        """Queens and arrows; a move takes two clicks, an arrow one."""
        cells = [
            [".xo#"[state.board[r * self.size + c]] for c in range(self.size)]
            for r in range(self.size)
        ]
        actions = np.full((self.size, self.size), -1)
        steps = []
        for action in self.legal(state):
            start, target = divmod(action, self.cells)
            end = divmod(target, self.size)
            if start == self.cells:
                actions[end] = action
            else:
                steps.append(Step(action, divmod(start, self.size), end))
        return Grid(cells, actions.tolist(), steps=steps)
