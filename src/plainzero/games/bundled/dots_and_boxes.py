"""Dots and Boxes: draw a line between two dots; closing a box wins it and another move.

Lines are numbered as in OpenSpiel: the horizontal ones row by row, then the vertical ones.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.bit_numbers import count_bits, lowest_bit
from plainzero.games.contract import Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import grid_symmetries

WORD = 62  # lines whose bits share a number that is never negative


class DotsAndBoxes(Game):
    """Draw lines and close boxes; the player with more boxes wins."""

    rows: int = 2  # of boxes; there is one more row of dots
    cols: int = 2

    num_horizontal = property(lambda self: (self.rows + 1) * self.cols)
    num_actions = property(lambda self: self.num_horizontal + self.rows * (self.cols + 1))
    num_words = property(lambda self: -(-self.num_actions // WORD))
    num_boxes = property(lambda self: self.rows * self.cols)
    observation_shape = property(lambda self: (3, 2 * self.rows + 1, 2 * self.cols + 1))
    max_turns = num_actions
    largest_score = property(lambda self: self.rows * self.cols)

    def __post_init__(self) -> None:
        """Refuses boards that cannot be named."""
        super().__post_init__()
        if not (1 <= self.rows <= 25 and 1 <= self.cols <= 25):
            raise ValueError(
                f"dots-and-boxes: {self.rows} rows x {self.cols} columns of boxes do not work; "
                "each must be 1 to 25"
            )

    def fields(self) -> dict[str, Field]:
        """The lines not drawn; each box's drawn sides and owner, 0 for nobody; boxes per player.

        Boxes are numbered row by row. One more stands for everything off the board, and has too
        many sides to be closed.
        """
        return {
            "free": field(np.int64, (self.num_words,)),  # bits of lines, WORD in each number
            "sides": field(np.int8, (self.num_boxes + 1,)),
            "owner": field(np.int8, (self.num_boxes + 1,)),
            "score": field(np.int16, (2,)),
        }

    def reset(self, state: Any) -> None:
        """No lines."""
        state.sides[self.num_boxes] = 4
        for line in range(self.num_actions):
            state.free[line // WORD] |= 1 << (line % WORD)

    @functools.cached_property
    def boxes_beside(self) -> NDArray[np.int16]:
        """The boxes on either side of each line; `num_boxes` for off the board."""
        boxes = np.full((self.rows + 2, self.cols + 2), self.num_boxes, np.int16)
        boxes[1:-1, 1:-1] = np.arange(self.num_boxes).reshape(self.rows, self.cols)
        horizontal = np.stack([boxes[:-1, 1:-1], boxes[1:, 1:-1]], axis=-1)
        upright = np.stack([boxes[1:-1, :-1], boxes[1:-1, 1:]], axis=-1)
        return np.concatenate([horizontal.reshape(-1, 2), upright.reshape(-1, 2)])

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every line not yet drawn."""
        count = 0
        for word in range(self.num_words):
            free = int(state.free[word])
            more = count_bits(free)
            for index in range(min(WORD, self.num_actions - word * WORD)):  # `more` of them stand
                actions[count + index] = word * WORD + lowest_bit(free)
                free &= free - 1
            count += more
        return count

    def is_drawn(self, state: Any, line: Any) -> Any:
        """Whether that line is drawn."""
        return (int(state.free[line // WORD]) >> (line % WORD)) & 1 == 0

    def play(self, state: Any, action: Any) -> None:
        """Draws a line; the mover moves again if that closes a box."""
        line = int(action)
        state.free[line // WORD] ^= 1 << (line % WORD)
        one, other = self.boxes_beside[line, 0], self.boxes_beside[line, 1]
        closed = self.add_side(state, one) + self.add_side(state, other)
        state.score[state.to_play] += closed
        if state.turn + 1 == self.num_actions:
            self.end_game(state)
        state.to_play = state.to_play if closed else 1 - state.to_play  # without a branch

    def add_side(self, state: Any, box: Any) -> int:
        """Counts a side of that box; returns 1 if that closes it, else 0."""
        state.sides[box] += 1
        closed = int(state.sides[box] == 4)
        state.owner[box] += closed * (int(state.to_play) + 1)
        return closed

    def end_game(self, state: Any) -> None:
        """The player with more boxes wins; equal numbers are a draw."""
        if state.score[0] > state.score[1]:
            self.win(state, 0)
        elif state.score[1] > state.score[0]:
            self.win(state, 1)
        else:
            self.draw(state)

    def score(self, state: Any) -> int:
        """The first player's boxes minus the second's."""
        return int(state.score[0]) - int(state.score[1])

    def ownership(self, state: Any, cells: Any) -> None:
        """The boxes' owners, in the middle of their lines in the drawing."""
        for row in range(self.rows):
            for col in range(self.cols):
                place = (2 * row + 1) * (2 * self.cols + 1) + 2 * col + 1
                cells[place] = 3.0 - 2.0 * state.owner[row * self.cols + col]

    def observe(self, state: Any, planes: Any) -> None:
        """The drawing, dots at even coordinates: lines, the mover's boxes, the opponent's."""
        for line in range(self.num_horizontal):
            if self.is_drawn(state, line):
                planes[0, 2 * (line // self.cols), 2 * (line % self.cols) + 1] = 1.0
        for upright in range(self.num_actions - self.num_horizontal):
            if self.is_drawn(state, self.num_horizontal + upright):
                row, col = upright // (self.cols + 1), upright % (self.cols + 1)
                planes[0, 2 * row + 1, 2 * col] = 1.0
        for row in range(self.rows):
            for col in range(self.cols):
                owner = state.owner[row * self.cols + col]
                if owner == state.to_play + 1:
                    planes[1, 2 * row + 1, 2 * col + 1] = 1.0
                elif owner != 0:
                    planes[2, 2 * row + 1, 2 * col + 1] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """The turns and reflections of the board: seven for a square, three for a rectangle."""
        return grid_symmetries(self._drawing())

    def board_actions(self) -> NDArray[np.int64]:
        """Each line at its place in the drawing."""
        return self._drawing()

    def _drawing(self) -> NDArray[np.int64]:
        """The line at each coordinate of the drawing, -1 at dots and boxes."""
        drawing = np.full((2 * self.rows + 1, 2 * self.cols + 1), -1)
        drawing[0::2, 1::2] = np.arange(self.num_horizontal).reshape(self.rows + 1, self.cols)
        upright = np.arange(self.num_horizontal, self.num_actions)
        drawing[1::2, 0::2] = upright.reshape(self.rows, self.cols + 1)
        return drawing

    def action_name(self, action: int) -> str:
        """The dots it joins, a1 at the top left: a1-b1 is horizontal, a1-a2 vertical."""
        if action < self.num_horizontal:
            row, col = divmod(action, self.cols)
            return f"{_dot(row, col)}-{_dot(row, col + 1)}"
        row, col = divmod(action - self.num_horizontal, self.cols + 1)
        return f"{_dot(row, col)}-{_dot(row + 1, col)}"

    def view(self, state: Any) -> Grid:
        """Dots, lines and boxes as cells; a click on a gap draws its line."""
        drawing = self._drawing()
        cells = [["+" if line < 0 else " " for line in row] for row in drawing]
        for (row, col), line in np.ndenumerate(drawing):
            if line >= 0 and self.is_drawn(state, int(line)):
                cells[row][col] = "|" if row % 2 else "-"
        for (row, col), owner in np.ndenumerate(state.owner[:-1].reshape(self.rows, self.cols)):
            cells[2 * row + 1][2 * col + 1] = " xo"[owner]
        return Grid(cells, drawing.tolist())

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Any lines; a box has an owner exactly if all its four sides are drawn."""
        self.reset(state)
        drawing = self._drawing()
        for place in np.argwhere(drawing >= 0):
            line = int(drawing[tuple(place)])
            if cells[place[0]][place[1]] != " ":
                state.free[line // WORD] ^= 1 << (line % WORD)
                state.sides[self.boxes_beside[line]] += 1
                state.turn += 1
        for box, (row, col) in enumerate(np.ndindex(self.rows, self.cols)):
            sides = state.sides[box]
            owner = " xo".find(cells[2 * row + 1][2 * col + 1])
            if (sides == 4) != (owner > 0):
                raise ValueError(
                    f"the box between {_dot(row, col)} and {_dot(row + 1, col + 1)} has {sides} "
                    f"sides; a box with four belongs to x or o, one with fewer to nobody"
                )
            state.owner[box] = owner
            if owner > 0:
                state.score[owner - 1] += 1
        if state.turn == self.num_actions:
            self.end_game(state)

    def text(self, state: Any) -> str:
        """The drawing with named dots, each player's boxes, and who is to play."""
        letters = "   " + "   ".join(chr(ord("a") + col) for col in range(self.cols + 1))
        lines = [letters]
        for row, cells in enumerate(self.view(state).cells):
            wide = "".join(
                cell if col % 2 == 0 else cell * 3 if cell == "-" else f" {cell} "
                for col, cell in enumerate(cells)
            )
            lines.append(f"{row // 2 + 1 if row % 2 == 0 else '':>2} {wide}".rstrip())
        mover = "" if state.is_over else f", {'xo'[state.to_play]} to play"
        return "\n".join([*lines, f"x {state.score[0]}, o {state.score[1]}{mover}"])


def _dot(row: int, col: int) -> str:
    return f"{chr(ord('a') + col)}{row + 1}"
