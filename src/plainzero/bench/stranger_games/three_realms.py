"""Three players fill a board; whoever ends with the largest connected realm wins."""

from typing import Any

import numpy as np

from plainzero import Game, Grid, field, grid_symmetries


class ThreeRealms(Game):
    """Place a stone per turn; the largest group wins, and equal ones share."""

    size: int = 6

    num_players = 3
    num_actions = property(lambda self: self.size * self.size)
    observation_shape = property(lambda self: (3, self.size, self.size))
    max_turns = property(lambda self: self.size * self.size)

    def fields(self) -> dict[str, Any]:
        """The board, and room to count groups in."""
        return {
            "board": field(np.int8, self.num_actions),
            "seen": field(np.int8, self.num_actions),
            "stack": field(np.int16, self.num_actions),
        }

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell."""
        count = 0
        for cell in range(self.num_actions):
            if state.board[cell] == 0:
                actions[count] = cell
                count += 1
        return count

    def play(self, state: Any, action: Any) -> None:
        """Places a stone; the full board is counted."""
        state.board[action] = state.to_play + 1
        self.end_turn(state)
        if state.turn + 1 == self.num_actions:
            self.count_realms(state)

    def count_realms(self, state: Any) -> None:
        """The owners of the largest groups share the win."""
        best, winners = 0, 0
        for player in range(3):
            size = self.largest(state, player + 1)
            state.returns[player] = size
            if size > best:
                best, winners = size, 1
            elif size == best:
                winners += 1
        for player in range(3):
            if winners == 3:
                state.returns[player] = 0.0
            elif state.returns[player] == best:
                state.returns[player] = 1.0 if winners == 1 else 0.5
            else:
                state.returns[player] = -0.5 if winners == 1 else -1.0
        for cell in range(self.num_actions):
            state.seen[cell] = 0
            state.stack[cell] = 0
        self.finish(state)

    def largest(self, state: Any, stone: Any) -> int:
        """The size of the largest group of these stones."""
        best = 0
        for start in range(self.num_actions):
            if state.board[start] == stone and state.seen[start] == 0:
                best = max(best, self.group(state, start, stone))
        return best

    def group(self, state: Any, start: Any, stone: Any) -> int:
        """The size of the group that `start` belongs to."""
        state.seen[start], state.stack[0] = 1, start
        waiting, size = 1, 0
        while waiting > 0:
            waiting -= 1
            cell = int(state.stack[waiting])
            size += 1
            for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                row, col = cell // self.size + down, cell % self.size + right
                if 0 <= row < self.size and 0 <= col < self.size:
                    near = row * self.size + col
                    if state.board[near] == stone and state.seen[near] == 0:
                        state.seen[near] = 1
                        state.stack[waiting] = near
                        waiting += 1
        return size

    def observe(self, state: Any, planes: Any) -> None:
        """The stones of the mover, of the next player and of the third."""
        for cell in range(self.num_actions):
            if state.board[cell] != 0:
                player = (state.board[cell] + 2 - state.to_play) % 3
                planes[player, cell // self.size, cell % self.size] = 1.0

    def symmetries(self) -> list[Any]:
        """All turns and reflections of the square."""
        return grid_symmetries(np.arange(self.num_actions).reshape(self.size, self.size))

    def action_name(self, action: int) -> str:
        """Column letter and row number."""
        return f"{chr(ord('a') + action % self.size)}{action // self.size + 1}"

    def view(self, state: Any) -> Grid:
        """The board, each cell clickable."""
        cells = [[".xoz"[stone] for stone in row] for row in state.board.reshape(self.size, -1)]
        return Grid(cells, np.arange(self.num_actions).reshape(self.size, -1).tolist())
