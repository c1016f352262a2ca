"""Hex: the first player joins top and bottom with a chain of stones, the second left and right.

The board has a border of stones: the first player's along the top and the bottom, the second's at
the left and the right. A cell holds its colour, and the edges of its owner that its chain reaches,
so a stone that touches both has won. A chain learns about each edge once, which costs one step per
stone: a game takes about as many steps as stones.

The empty cells are a sorted list, and the room behind them, which grows with each stone, is the
queue of a chain's stones to update. Both depend on the stones alone: the same position is the same
record, in whatever order it was reached.
"""

from collections import deque
from typing import Any

import numpy as np

from plainzero.games.contract import Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import board_turn

FIRST_EDGE, SECOND_EDGE = 4, 8  # the top and the bottom, or the left and the right
BOTH_EDGES = FIRST_EDGE | SECOND_EDGE
NEIGHBOURS = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, 0), (1, -1))


class Hex(Game):
    """Connect your two sides of the board; there is never a draw."""

    size: int = 11
    swap: bool = False  # whether the second player may begin by taking over the first stone

    moves_take_cells = property(lambda self: not self.swap)
    set_up_knows_the_end = True
    num_cells = property(lambda self: self.size * self.size)
    num_actions = property(lambda self: self.num_cells + self.swap)
    observation_shape = property(lambda self: (3, self.size, self.size))
    max_turns = num_actions
    width = property(lambda self: self.size + 2)  # of the board with its border
    steps = property(lambda self: tuple(down * self.width + right for down, right in NEIGHBOURS))

    def __post_init__(self) -> None:
        """Refuses boards whose columns cannot be named by a letter."""
        super().__post_init__()
        if not 2 <= self.size <= 26:
            raise ValueError(f"hex: size must be 2 to 26, not {self.size}")

    def fields(self) -> dict[str, Field]:
        """The board with its border, 0 for empty; the empty cells as actions, then zeros."""
        place = np.uint8 if self.width**2 <= 256 else np.uint16
        return {
            "board": field(np.int8, (self.width * self.width,)),
            "empty": field(place, (self.num_cells,)),
            "num_empty": field(np.int16),
        }

    def reset(self, state: Any) -> None:
        """Puts up the border and lists every cell as empty."""
        last = self.width - 1
        for i in range(self.width):
            state.board[i] = 1 | FIRST_EDGE
            state.board[last * self.width + i] = 1 | SECOND_EDGE
        for row in range(1, last):
            state.board[row * self.width] = 2 | FIRST_EDGE
            state.board[row * self.width + last] = 2 | SECOND_EDGE
        self.list_all_empty(state)

    def list_all_empty(self, state: Any) -> None:
        """Lists every cell as empty."""
        for action in range(self.num_cells):
            state.empty[action] = action
        state.num_empty = self.num_cells

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty cell, numbered row by row; then the swap, if allowed."""
        count = int(state.num_empty)
        for i in range(count):
            actions[i] = state.empty[i]
        if self.swap and state.turn == 1 and state.to_play == 1 and self.first_stone(state) >= 0:
            actions[count] = self.num_cells
            count += 1
        return count

    def play(self, state: Any, action: Any) -> None:
        """Puts a stone on an empty cell, or swaps."""
        if self.swap and action == self.num_cells:
            self.take_over(state)
        else:
            self.put(state, action)
        self.end_turn(state)

    def put(self, state: Any, action: Any) -> None:
        """Places the mover's stone on an empty cell; it wins if it touches both edges."""
        self.take_from_empty(state, action)
        colour, place = state.to_play + 1, self.place(action)
        edges, uninformed = 0, 0
        for step in self.steps:
            cell = state.board[place + step]
            if cell & colour:
                edges |= cell
                uninformed += cell == colour
        edges &= BOTH_EDGES
        state.board[place] = colour | edges
        if edges == BOTH_EDGES:
            self.win(state, state.to_play)
        elif edges != 0 and uninformed > 0:
            self.tell_chain(state, place, colour, colour | edges)

    def take_from_empty(self, state: Any, action: Any) -> None:
        """Closes the gap in the list; without a branch, so that many entries move at once."""
        last = self.num_cells - 1
        for i in range(last):
            here, after = state.empty[i], state.empty[i + 1]
            state.empty[i] = after if here >= action else here
        state.empty[last] = 0
        state.num_empty -= 1

    def tell_chain(self, state: Any, place: Any, colour: Any, informed: Any) -> None:
        """Writes `informed` to all stones of the chain from `place` on that know no edge yet."""
        bottom = int(state.num_empty)
        state.empty[bottom] = place
        top = bottom + 1
        while top > bottom:
            top -= 1
            here = int(state.empty[top])
            state.empty[top] = 0
            for step in self.steps:
                if state.board[here + step] == colour:
                    state.board[here + step] = informed
                    state.empty[top] = here + step
                    top += 1

    def take_over(self, state: Any) -> None:
        """The first stone becomes the mover's, mirrored to where it is worth as much to them."""
        action = self.first_stone(state)
        state.board[self.place(action)] = 0
        self.list_all_empty(state)
        self.put(state, action % self.size * self.size + action // self.size)

    def first_stone(self, state: Any) -> int:
        """A cell with a stone of the first player, or −1."""
        for action in range(self.num_cells):
            if state.board[self.place(action)] & 1:
                return action
        return -1

    def place(self, action: Any) -> Any:
        """Where the cell stands on the board with its border."""
        return (action // self.size + 1) * self.width + action % self.size + 1

    def holder(self, state: Any, action: Any) -> int:
        """Whose stone stands there, or −1."""
        return int(state.board[self.place(action)] & 3) - 1

    def winning_cells(self, state: Any, cells: Any) -> None:
        """A shortest chain of the winner's.

        The stones are numbered by their distance from one edge until one is at the other; from
        there the numbers lead back.
        """
        colour, distance, here = 1 if state.returns[0] > 0.0 else 2, 0, -1
        while here < 0:
            distance += 1
            for action in range(self.num_cells):
                is_free = cells[action] == 0 and state.board[self.place(action)] & colour
                along = action // self.size if colour == 1 else action % self.size
                is_first = distance == 1 and along == 0
                if is_free and (is_first or self.beside(cells, action, distance - 1) >= 0):
                    cells[action] = distance
                    if along == self.size - 1:
                        here = action
        while here >= 0:
            distance -= 1
            cells[here] = -1
            here = self.beside(cells, here, distance) if distance > 0 else -1
        for action in range(self.num_cells):
            cells[action] = 1 if cells[action] < 0 else 0

    def ownership(self, state: Any, cells: Any) -> None:
        """Whose stones stand on the cells."""
        for action in range(self.num_cells):
            stone = self.holder(state, action)
            if stone >= 0:
                cells[action] = 1.0 - 2.0 * stone

    def beside(self, cells: Any, action: Any, number: Any) -> int:
        """A neighbour of that number, which is not 0, or −1."""
        for step in self.steps:
            place = self.place(action) + step
            row, col = place // self.width - 1, place % self.width - 1
            if number != 0 and 0 <= row < self.size and 0 <= col < self.size:
                if cells[row * self.size + col] == number:
                    return int(row * self.size + col)
        return -1

    def observe(self, state: Any, planes: Any) -> None:
        """The mover's stones; the opponent's; ones throughout if the mover joins left and right."""
        for action in range(self.num_cells):
            row, col = action // self.size, action % self.size
            cell = state.board[self.place(action)]
            if cell & (state.to_play + 1):
                planes[0, row, col] = 1.0
            elif cell != 0:
                planes[1, row, col] = 1.0
            if state.to_play == 1:
                planes[2, row, col] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """Half a turn; the swap stays the same."""
        turned = [*reversed(range(self.num_cells)), *range(self.num_cells, self.num_actions)]
        return [Symmetry(board_turn(2, flip=False), turned)]

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the top left; or swap."""
        if action == self.num_cells:
            return "swap"
        return f"{chr(ord('a') + action % self.size)}{action // self.size + 1}"

    def parse_action(self, text: str) -> int:
        """The action of that name, in upper or lower case."""
        return super().parse_action(text.strip().lower())

    def view(self, state: Any) -> Grid:
        """The board, each cell clickable; a shortest winning chain is marked."""
        inner = state.board.reshape(self.width, self.width)[1:-1, 1:-1]
        cells = [[".xo"[cell & 3] for cell in row] for row in inner.tolist()]
        actions = np.arange(self.num_cells).reshape(self.size, self.size).tolist()
        marks = winning_chain(cells, "x") or winning_chain(cells, "o")
        return Grid(cells, actions, marks, layout="hex", edges=(0, 1, 0, 1))

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Any stones; whoever is joined has won.

        With swapping, one stone more of the second player's than its turn allows tells that the
        first stone was taken over, which was a turn too.
        """
        self.reset(state)
        to_play = int(state.to_play)
        balance = 0
        for action, text in enumerate(text for row in cells for text in row):
            if text in ("x", "o"):
                state.to_play = "xo".index(text)
                self.put(state, action)
                balance += 1 - 2 * int(state.to_play)
        state.to_play = to_play
        state.turn = self.num_cells - state.num_empty + (self.swap and balance == to_play - 1)

    def text(self, state: Any) -> str:
        """The board as a rhombus, with labelled columns and rows."""
        lines = ["   " + " ".join(chr(ord("a") + col) for col in range(self.size))]
        for row, cells in enumerate(self.view(state).cells):
            lines.append(f"{' ' * row}{row + 1:>2} {' '.join(cells)}")
        return "\n".join(lines)


def winning_chain(cells: list[list[str]], stone: str) -> list[tuple[int, int]]:
    """Row and column of a shortest chain of `stone` that joins its two edges; none: empty.

    Args:
        cells: `x` joins top and bottom, `o` left and right.
        stone: one of them.
    """
    size, axis = len(cells), "xo".index(stone)
    starts = [(0, i) if axis == 0 else (i, 0) for i in range(size)]
    before = {place: place for place in starts if cells[place[0]][place[1]] == stone}
    waiting = deque(before)
    while waiting:
        place = waiting.popleft()
        if place[axis] == size - 1:
            chain = [place]
            while before[place] != place:
                place = before[place]
                chain.append(place)
            return sorted(chain)
        for down, right in NEIGHBOURS:
            row, col = place[0] + down, place[1] + right
            inside = 0 <= row < size and 0 <= col < size
            if inside and cells[row][col] == stone and (row, col) not in before:
                before[row, col] = place
                waiting.append((row, col))
    return []
