"""Go with area scoring and positional superko; suicide is illegal, two passes end the game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tesuji.games.contract import Grid, Symmetry
from tesuji.games.go_stones import (
    BARRED,
    BLACK,
    EMPTY,
    NO_GROUP,
    OFF_BOARD,
    OPEN,
    STONE,
    WHITE,
    GoStones,
)
from tesuji.games.symmetries import grid_symmetries

COLUMNS = "abcdefghjklmnopqrst"  # without i, which looks like j
SEEN = -2  # in place of a group's number, on empty points whose area is counted


class Go(GoStones):
    """Surround more of the board than the opponent."""

    size: int = 9
    komi: float = 7.5  # added to white's area

    observation_shape = property(lambda self: (6, self.size, self.size))

    def __post_init__(self) -> None:
        """Refuses boards that cannot be named, and komi that is no number."""
        super().__post_init__()
        if not 2 <= self.size <= len(COLUMNS):
            raise ValueError(f"go: size must be 2 to {len(COLUMNS)}, not {self.size}")
        if not abs(self.komi) <= 400:  # also true for NaN
            raise ValueError(f"go: komi must be -400 to 400, not {self.komi}")

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is neither suicide nor repeats a position; and the pass."""
        count = 0
        for point in range(self.num_points):
            if state.stones[point] == EMPTY and self.is_playable(state, point):
                actions[count] = point
                count += 1
        actions[count] = self.num_points
        return count + 1

    def is_playable(self, state: Any, point: Any) -> bool:
        """Whether the mover may put a stone on this empty point."""
        note = int(state.notes[point])
        if note & OPEN == 0 and not self.has_breath(state, point):
            return False
        return not self.is_barred(state, point)

    def has_breath(self, state: Any, point: Any) -> bool:
        """Whether a stone between four neighbours takes some, or joins one with other liberties."""
        for i in range(4):
            near = self.neighbours[point, i]
            stone = state.stones[near]
            if stone != OFF_BOARD:
                is_own = stone == state.to_play + 1
                if is_own != self.is_last_liberty(state, point, state.group[near]):
                    return True
        return False

    def is_barred(self, state: Any, point: Any) -> bool:
        """Whether a stone of the mover there would repeat an earlier position."""
        taken_here = STONE << (state.to_play + 1)
        note = int(state.notes[point])
        if note & (taken_here | BARRED) == 0:
            return False
        return note & BARRED != 0 or self.repeats(state, point)

    def play(self, state: Any, action: Any) -> None:
        """Puts down a stone, or passes; the second pass in a row ends the game."""
        is_over = state.turn + 1 == self.max_turns
        if action == self.num_points:
            is_over |= state.last == action
            self.write(state, 3 * self.num_points)
        else:
            colour = state.to_play + 1
            stood_before = int(state.notes[action]) & (STONE << colour) != 0
            self.write(state, action + self.num_points * (2 if stood_before else 1))
            self.put(state, action, colour)
            for i in range(4):
                near = self.neighbours[action, i]
                if state.stones[near] == 3 - colour and state.liberties[state.group[near]] == 0:
                    self.take(state, near)
        state.last = action
        if state.has_barred:
            self.unbar(state)
        if is_over:
            self.end_game(state)
        self.end_turn(state)

    def unbar(self, state: Any) -> None:
        """Forgets what a position made by hand forbade its first mover."""
        state.has_barred = False
        for point in range(self.num_points):
            state.notes[point] = int(state.notes[point]) & ~BARRED

    def end_game(self, state: Any) -> None:
        """The larger area wins; white's has komi added."""
        lead = float(self.count_area(state)) - self.komi
        if lead > 0:
            self.win(state, 0)
        elif lead < 0:
            self.win(state, 1)
        else:
            self.draw(state)

    def count_area(self, state: Any) -> int:
        """Black's area less white's; the links of empty points are used on the way.

        An area is the stones of a colour and the empty points from which no other is reached.
        """
        lead = 0
        for point in range(self.num_points):
            if state.stones[point] == EMPTY:
                if state.group[point] == NO_GROUP:
                    lead += self.count_region(state, point)
            else:
                lead += 3 - 2 * state.stones[point]
        return lead

    def count_region(self, state: Any, first: Any) -> int:
        """The empty points connected with this one: more than 0 for black, less for white."""
        top = first  # of a stack linked by `next`
        state.group[first] = SEEN
        state.next[first] = -1
        count = colours = 0
        while top >= 0:
            point = top
            top = state.next[point]
            count += 1
            for i in range(4):
                near = self.neighbours[point, i]
                stone = int(state.stones[near])
                if stone == EMPTY and state.group[near] == NO_GROUP:
                    state.group[near] = SEEN
                    state.next[near] = top
                    top = near
                elif stone != OFF_BOARD:
                    colours |= stone
        return count if colours == BLACK else -count if colours == WHITE else 0

    def observe(self, state: Any, planes: Any) -> None:
        """Own stones, others', forbidden points, the last stone, after a pass, komi."""
        colour = state.to_play + 1
        komi = max(-1.0, min(1.0, self.komi / (2 * self.size)))
        for point in range(self.num_points):
            row, col = self.size - 1 - point // self.size, point % self.size
            stone = state.stones[point]
            if stone == colour:
                planes[0, row, col] = 1.0
            elif stone != EMPTY:
                planes[1, row, col] = 1.0
            elif not self.is_playable(state, point):
                planes[2, row, col] = 1.0
            if point == state.last:
                planes[3, row, col] = 1.0
            if state.last == self.num_points:
                planes[4, row, col] = 1.0
            planes[5, row, col] = komi if state.to_play == 1 else -komi

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the board; a pass stays a pass."""
        return grid_symmetries(self._drawn_points(), unmoved=[self.num_points])

    def _drawn_points(self) -> NDArray[np.int64]:
        """The points as they are drawn, the highest row first."""
        return np.arange(self.num_points).reshape(self.size, self.size)[::-1]

    def action_name(self, action: int) -> str:
        """Column letter, without i, and row number, a1 at the bottom left; or pass."""
        if action == self.num_points:
            return "pass"
        return f"{COLUMNS[action % self.size]}{action // self.size + 1}"

    def parse_action(self, text: str) -> int:
        """The point or the pass of that name, in capitals or not."""
        return super().parse_action(text.strip().lower())

    def area_lead(self, state: Any) -> float:
        """By how much black leads with all stones on the board alive, komi subtracted."""
        return float(self.count_area(self.copy(state))) - self.komi

    def view(self, state: Any) -> Grid:
        """The stones, the last one marked; # where superko forbids the mover to play."""
        points = self._drawn_points()
        cells = [[self._mark(state, point) for point in row] for row in points]
        marks = [(int(row), int(col)) for row, col in np.argwhere(points == state.last)]
        return Grid(cells, points.tolist(), marks, layout="points")

    def _mark(self, state: Any, point: int) -> str:
        if state.stones[point] != EMPTY:
            return ".xo"[state.stones[point]]
        return "#" if not state.is_over and self.is_barred(state, point) else "."

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Stones of which each group has a liberty; # on empty points forbids them to the mover."""
        self.reset(state)
        texts = [text for row in reversed(cells) for text in row]
        for point, text in enumerate(texts):
            if text in "xo":
                self.put(state, point, ".xo".find(text))
        for point, text in enumerate(texts):
            if text == "#":
                state.notes[point] |= BARRED
                state.has_barred = True
            elif text in "xo" and state.liberties[state.group[point]] == 0:
                raise ValueError(
                    f"the stone at {self.action_name(point)} has no liberty; each group needs an "
                    "empty point next to it"
                )

    def text(self, state: Any) -> str:
        """The board with its columns and rows named, and who is to play."""
        letters = "   " + " ".join(COLUMNS[: self.size])
        rows = [
            f"{self.size - row:>2} {' '.join(cells)}"
            for row, cells in enumerate(self.view(state).cells)
        ]
        mover = "" if state.is_over else f"\n{'xo'[state.to_play]} to play"
        return "\n".join([*rows, letters]) + mover
