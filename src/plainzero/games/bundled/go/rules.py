"""Go with area scoring and positional superko; suicide is illegal, two passes end the game."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.go.area import GoArea
from plainzero.games.bundled.go.stones import (
    BARRED,
    CLOSED,
    COUNT,
    EMPTY,
    OFF_BOARD,
    STONE,
)
from plainzero.games.contract import PIECES, Grid, Symmetry
from plainzero.games.symmetries import grid_symmetries

SUICIDE, ALIVE, SURROUNDED = 0, 1, 2  # what a stone would be; the last among the mover's own
COLUMNS = "abcdefghjklmnopqrst"  # without i, which looks like j


class Go(GoArea):
    """Surround more of the board than the opponent."""

    size: int = 9
    komi: float = 7.5  # added to white's area

    observation_shape = property(lambda self: (6, self.size, self.size))
    set_up_knows_the_end = True  # the end comes by passes, which a board does not show

    def __post_init__(self) -> None:
        """Refuses boards that cannot be named, and komi out of range."""
        super().__post_init__()
        if not 2 <= self.size <= len(COLUMNS):
            raise ValueError(f"go: size must be 2 to {len(COLUMNS)}, not {self.size}")
        if not abs(self.komi) <= 400:  # also true for NaN
            raise ValueError(f"go: komi must be -400 to 400, not {self.komi}")

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is neither suicide nor repeats a position; and the pass."""
        count = 0
        for point in range(self.num_points):
            note = int(state.notes[point]) & (COUNT | STONE)
            actions[count] = point  # stands only if it is counted
            count += note < CLOSED
            if note == CLOSED:
                count += self.breath(state, point) != SUICIDE
        if self.has_barred(state):
            count = self.leave_out_barred(state, actions, count)
        actions[count] = self.num_points
        return count + 1

    def is_legal(self, state: Any, action: Any) -> bool:
        """Whether it is the pass, or an empty point that is neither suicide nor repeats."""
        if action == self.num_points:
            return True
        return state.stones[action] == EMPTY and self.is_playable(state, action)

    def is_playable(self, state: Any, point: Any) -> bool:
        """Whether the mover may put a stone on this empty point."""
        if int(state.notes[point]) & COUNT == CLOSED and self.breath(state, point) == SUICIDE:
            return False
        return not self.is_barred(state, point)

    def breath(self, state: Any, point: Any) -> int:
        """What a stone of the mover would be on a point without empty neighbours."""
        colour = self.mover(state)
        lives = is_attacked = 0
        for i in range(4):
            near = self.neighbours[point, i]
            group = state.group[near]
            touching = 0
            for j in range(4):
                touching += state.group[self.neighbours[point, j]] == group
            # It joins a group with other liberties, or takes one without.
            lives |= (state.stones[near] == colour) ^ (state.liberties[group] == touching)
            is_attacked |= state.stones[near] == 3 - colour
        return lives * (SURROUNDED - is_attacked)

    def playout_actions(self, state: Any, actions: Any) -> int:
        """Legal points except the mover's own eyes; the pass if there are none."""
        count = 0
        for point in range(self.num_points):
            actions[count] = point  # stands only if it is counted
            count += self.is_playout_action(state, point)
        if count == 0:
            actions[0] = self.num_points
            count = 1
        return count

    def is_playout_action(self, state: Any, action: Any) -> bool:
        """Whether it is a legal point, and not the mover's own eye."""
        note = int(state.notes[action]) & (COUNT | STONE)
        if note > CLOSED or action == self.num_points:
            return False
        if note == CLOSED:
            found = self.breath(state, action)
            if found == SUICIDE or (found == SURROUNDED and self.has_corners(state, action)):
                return False
        return not self.is_barred(state, action)

    def leave_out_barred(self, state: Any, points: Any, count: Any) -> int:
        """Keeps the points that superko does not forbid; returns their number."""
        kept = 0
        for i in range(count):
            point = points[i]
            points[kept] = point
            kept += not self.is_barred(state, point)
        return kept

    def has_corners(self, state: Any, point: Any) -> bool:
        """Whether at most one corner of an eye is the opponent's; at the edge, whether none is."""
        lost = is_edge = 0
        for i in range(4):
            stone = state.stones[self.diagonals[point, i]]
            lost += stone == 3 - self.mover(state)
            is_edge |= stone == OFF_BOARD
        return lost + is_edge < 2

    def play(self, state: Any, action: Any) -> None:
        """Places a stone, or passes; the second pass in a row ends the game."""
        is_over = state.turn + 1 == self.max_turns
        if action == self.num_points:
            is_over |= state.last == action
            self.write(state, 3 * self.num_points)
        else:
            colour = self.mover(state)
            stood_before = int(state.notes[action]) & (STONE << colour) != 0
            self.write(state, action + self.num_points * (2 if stood_before else 1))
            self.put(state, action, colour)
            for i in range(4):
                near = self.neighbours[action, i]
                if state.stones[near] == 3 - colour and state.liberties[state.group[near]] == 0:
                    self.take(state, near)
            if not stood_before:
                self.set_newest(state, action, colour)
        state.last = action
        if state.is_barred_by_hand:
            self.unbar(state)
        if is_over:
            self.end_game(state)
        self.end_turn(state)

    def unbar(self, state: Any) -> None:
        """Forgets the points that a position set up by hand forbade its first mover."""
        state.is_barred_by_hand = False
        for point in range(self.num_points):
            state.notes[point] = int(state.notes[point]) & ~BARRED

    def end_game(self, state: Any) -> None:
        """The larger area wins; white's has komi added."""
        lead = self.count_lead(state)
        if lead > 0:
            self.win(state, 0)
        elif lead < 0:
            self.win(state, 1)
        else:
            self.draw(state)

    def observe(self, state: Any, planes: Any) -> None:
        """The mover's stones, the opponent's, forbidden points, the last stone, a pass, komi."""
        colour = self.mover(state)
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
        """The point or the pass of that name, in upper or lower case."""
        return super().parse_action(text.strip().lower())

    def view(self, state: Any) -> Grid:
        """The stones, the last one marked; # where superko forbids the mover to play."""
        points = self._drawn_points()
        cells = [[self._mark(state, point) for point in row] for row in points]
        marks = [(int(row), int(col)) for row, col in np.argwhere(points == state.last)]
        numbers = [str(row) for row in range(self.size, 0, -1)]
        letters = COLUMNS[: self.size]
        return Grid(cells, points.tolist(), marks, "points", columns=letters, rows=numbers)

    def _mark(self, state: Any, point: int) -> str:
        if state.stones[point] != EMPTY:
            return ".xo"[state.stones[point]]
        return "#" if not state.is_over and self.is_barred(state, point) else "."

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Any groups with a liberty; # on an empty point forbids it to the mover."""
        self.reset(state)
        texts = [text for row in reversed(cells) for text in row]
        for point, text in enumerate(texts):
            if text in PIECES[:2]:
                self.put(state, point, ".xo".find(text))
        for point, text in enumerate(texts):
            if text == "#":
                state.notes[point] |= BARRED
                state.is_barred_by_hand = True
            elif text in PIECES[:2] and state.liberties[state.group[point]] == 0:
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
