"""2048: one player slides all tiles, equal ones merge, chance adds a tile. A game against luck.

The board holds exponents: 0 is an empty cell, `e` the tile 2^e. Outcome `2 * cell` of chance puts a
2 on that cell, `2 * cell + 1` a 4. The game ends at the `target` tile or when nothing can move.
"""

from typing import Any

import numpy as np

from plainzero.games.contract import CHANCE, Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import board_turn

DIRECTIONS = ("up", "right", "down", "left")


class TwentyFortyEight(Game):
    """Slide and merge tiles up to the target; the score is the sum of all tiles made."""

    size: int = 4
    target: int = 2048

    num_players = 1
    num_actions = 4
    num_cells = property(lambda self: self.size * self.size)
    # On n cells no tile beyond 2^(n+1) can be made, and the tiles add up to 2^(n+2) - 4 at most.
    goal = property(lambda self: self.target.bit_length() - 1)
    top = property(lambda self: min(self.goal, self.num_cells + 1))
    observation_shape = property(lambda self: (self.top, self.size, self.size))
    max_chance_outcomes = property(lambda self: 2 * self.num_cells)
    par = property(lambda self: (self.top - 1) * 2**self.top)  # the top tile's score, from 2s only

    @property
    def max_turns(self) -> int:
        """A bound from the sum of the tiles.

        Moves keep that sum, chance adds 2 or more each time, and until the game ends every tile
        is at most target/2. With c plays of chance there are at most c - 1 moves, as the first two
        plays are both chance's, so the plays are fewer than the largest sum.
        """
        largest_sum: int = min(self.num_cells * self.target // 2, 2 ** (self.num_cells + 2) - 4)
        return largest_sum - 1

    @classmethod
    def title(cls) -> str:
        """The game's usual name."""
        return "2048"

    def __post_init__(self) -> None:
        """Refuses boards without room, and targets that are no tile."""
        super().__post_init__()
        if not 2 <= self.size <= 5:
            raise ValueError(f"2048: size must be 2 to 5, not {self.size}")
        if not 8 <= self.target <= 65536 or self.target & (self.target - 1):
            raise ValueError(
                f"2048: target must be a power of two from 8 to 65536, not {self.target}"
            )

    def fields(self) -> dict[str, Field]:
        """The tiles' exponents row by row, and the score."""
        return {"board": field(np.int8, (self.num_cells,)), "score": field(np.int32)}

    def reset(self, state: Any) -> None:
        """Chance begins, with two tiles."""
        state.to_play = CHANCE

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """A 2 (90 %) or a 4 (10 %), on each empty cell with equal probability."""
        num_empty = 0
        for cell in range(self.num_cells):
            num_empty += state.board[cell] == 0
        count = 0
        for cell in range(self.num_cells):
            if state.board[cell] == 0:
                actions[count], actions[count + 1] = 2 * cell, 2 * cell + 1
                probabilities[count], probabilities[count + 1] = 0.9 / num_empty, 0.1 / num_empty
                count += 2
        return count

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every direction that moves or merges a tile."""
        count = 0
        for direction in range(4):
            if self.can_slide(state, direction):
                actions[count] = direction
                count += 1
        return count

    def can_slide(self, state: Any, direction: Any) -> bool:
        """Whether some tile has an empty cell or an equal tile before it."""
        for line in range(self.size):
            start, step = self.line(direction, line)
            for i in range(1, self.size):
                ahead, tile = state.board[start + (i - 1) * step], state.board[start + i * step]
                if tile != 0 and (ahead == 0 or ahead == tile):
                    return True
        return False

    def line(self, direction: Any, line: Any) -> tuple[Any, Any]:
        """The cell at the wall that the line's tiles move to, and the step away from it."""
        last = self.size - 1
        if direction == 0:
            return line, self.size
        if direction == 1:
            return line * self.size + last, -1
        if direction == 2:
            return last * self.size + line, -self.size
        return line * self.size, 1

    def play(self, state: Any, action: Any) -> None:
        """Chance puts a tile, or the player slides all tiles."""
        if state.to_play == CHANCE:
            state.board[action // 2] = 1 + action % 2
            if state.turn > 0:
                state.to_play = 0
                if not self.can_move(state):
                    self.end_game(state)
        else:
            highest = 0
            for line in range(self.size):
                highest = max(highest, self.slide(state, action, line))
            state.to_play = CHANCE
            if highest == self.goal:
                self.end_game(state)

    def can_move(self, state: Any) -> bool:
        """Whether any direction is legal."""
        for direction in range(4):
            if self.can_slide(state, direction):
                return True
        return False

    def slide(self, state: Any, direction: Any, line: Any) -> int:
        """Moves one line's tiles to the wall, each merging once; returns the highest made, or 0."""
        start, step = self.line(direction, line)
        highest = 0
        filled = 0  # cells from the wall that are final
        waiting = 0  # the last tile moved, which may still merge
        for i in range(self.size):
            tile = int(state.board[start + i * step])
            if tile == 0:
                continue
            state.board[start + i * step] = 0
            if tile == waiting:
                state.board[start + (filled - 1) * step] = tile + 1
                state.score += 1 << (tile + 1)
                highest = max(highest, tile + 1)
                waiting = 0
            else:
                state.board[start + filled * step] = tile
                waiting = tile
                filled += 1
        return highest

    def end_game(self, state: Any) -> None:
        """The return grows with the score s: (s - par) / (s + par), -1 for nothing, 0 at par."""
        state.returns[0] = (state.score - self.par) / (state.score + self.par)
        self.finish(state)

    def observe(self, state: Any, planes: Any) -> None:
        """Plane e - 1 holds a one at each tile 2^e."""
        for cell in range(self.num_cells):
            tile = state.board[cell]
            if tile != 0:
                planes[tile - 1, cell // self.size, cell % self.size] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square; a turn to the left makes up left."""
        return [
            Symmetry(
                board_turn(k, flip),
                [((-direction if flip else direction) - k) % 4 for direction in range(4)],
            )
            for flip in (False, True)
            for k in range(4)
            if flip or k
        ]

    def action_name(self, action: int) -> str:
        """The direction in which the tiles slide."""
        return DIRECTIONS[action]

    def outcome_name(self, outcome: int) -> str:
        """The new tile and its cell, a1 at the top left: 2@a1."""
        cell = outcome // 2
        return f"{2 + outcome % 2 * 2}@{chr(ord('a') + cell % self.size)}{cell // self.size + 1}"

    def view(self, state: Any) -> Grid:
        """The tiles; no cell is clickable, the moves are directions."""
        tiles = state.board.reshape(self.size, self.size)
        cells = [["." if tile == 0 else str(2 ** int(tile)) for tile in row] for row in tiles]
        return Grid(cells, [[-1] * self.size for _ in range(self.size)])

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Tiles below the target, with the score of having made them from 2s alone.

        No more large tiles than a game can make: the largest may be 2^(n+1) on n cells, the next
        2^n, and so on. Merging two tiles and adding a 2 or a 4 keep that true of a board.
        """
        tiles = [int(text) if text.isdecimal() else 0 for row in cells for text in row]
        for rank, tile in enumerate(sorted(tiles, reverse=True)):
            most = min(self.target // 2, 2 ** (self.num_cells + 1 - rank))
            if tile and (tile < 2 or tile > most or tile & (tile - 1)):
                raise ValueError(
                    f"a {tile} cannot be on this board: tiles are powers of two, and number "
                    f"{rank + 1} by size is at most {most}"
                )
        state.board[:] = [tile.bit_length() - 1 if tile else 0 for tile in tiles]
        state.score = sum(tile * (tile.bit_length() - 2) for tile in tiles if tile)

    def text(self, state: Any) -> str:
        """The tiles in columns, and the score."""
        cells = self.view(state).cells
        width = max(len(cell) for row in cells for cell in row)
        rows = [" ".join(cell.rjust(width) for cell in row) for row in cells]
        return "\n".join([*rows, f"score {state.score}"])
