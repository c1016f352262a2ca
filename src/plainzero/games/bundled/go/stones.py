"""Stones on a Go board: groups, their liberties, captures.

Stones of a group are a ring (`next`) and share a number (`group`), by which the group's
pseudo-liberties are counted: one for each pair of a stone and an empty neighbour. So a point is the
only liberty of a group exactly if the group has as many as it has stones next to that point.

Each point has a note of how many of its neighbours are not empty: a stone beside an empty point is
never suicide, so nothing needs to be checked.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Field, Game, field

EMPTY, BLACK, WHITE, OFF_BOARD = 0, 1, 2, 3

# Bits of `notes` for a point: the number of its four neighbours that are not empty, and
COUNT = 7  # the bits of that number
CLOSED = 4  # none of them is
STONE = 8  # a stone stands here; STONE << colour: one of that colour was taken here
BARRED = 64  # a position set up by hand forbids it to the mover, as superko would
LATELY = 128  # a stone was taken here after the newest stone came


class GoStones(Game):
    """The board of Go, without the rules that say when and by whom it is played.

    Points are numbered row by row from a1, as in OpenSpiel. The number behind the last one is
    everything off the board, and as an action the pass.
    """

    size: int = 9

    num_points = property(lambda self: self.size * self.size)
    num_actions = property(lambda self: self.num_points + 1)
    max_turns = property(lambda self: 8 * self.num_points + 60)

    @functools.cached_property
    def neighbours(self) -> NDArray[np.uint16]:
        """The four neighbours of each point; `num_points` for those off the board."""
        return self._around(((1, 0), (0, 1), (-1, 0), (0, -1)))

    @functools.cached_property
    def diagonals(self) -> NDArray[np.uint16]:
        """The four points that touch each point at a corner."""
        return self._around(((1, 1), (1, -1), (-1, -1), (-1, 1)))

    def _around(self, steps: tuple[tuple[int, int], ...]) -> NDArray[np.uint16]:
        numbers = np.full((self.size + 2, self.size + 2), self.num_points, np.uint16)
        numbers[1:-1, 1:-1] = np.arange(self.num_points).reshape(self.size, self.size)
        turned = [np.roll(numbers, (-up, -right), (0, 1))[1:-1, 1:-1] for up, right in steps]
        return np.stack([plane.ravel() for plane in turned], axis=1)

    def fields(self) -> dict[str, Field]:
        """The board, one number for each point and for off the board; and what was played."""
        number = np.uint8 if self.num_points < 255 else np.uint16
        event = np.uint8 if 3 * self.num_points <= 255 else np.uint16
        return {
            "stones": field(np.int8, self.num_points + 1),
            "notes": field(np.uint8, self.num_points + 1),
            "group": field(number, self.num_points + 1),  # one of its points; num_points if empty
            "next": field(number, self.num_points),  # stone of the group
            "liberties": field(np.int16, self.num_points + 1),  # by group, as each stone sees them
            "last": field(np.int16),  # action, -1 for none
            # For `superko.py`: the last stone put where none of its colour was taken, the length
            # of the log by then, and all that happened: plays (points, more points where that
            # colour had been taken, 3 * points for a pass), and after each the points it took. They
            # are no more than were ever put down.
            "newest": field(np.int16),
            "newest_colour": field(np.int8),
            "newest_length": field(np.int16),
            "is_barred_by_hand": field(np.bool_),
            "log_length": field(np.int16),
            "log": field(event, 2 * self.max_turns),
        }

    def reset(self, state: Any) -> None:
        """The empty board."""
        state.stones[self.num_points] = OFF_BOARD
        state.group[self.num_points] = self.num_points
        self.clear_off_board(state)
        state.last = -1
        for point in range(self.num_points):
            state.group[point] = self.num_points
            for i in range(4):
                if self.neighbours[point, i] == self.num_points:
                    state.notes[point] += 1

    def mover(self, state: Any) -> int:
        """The colour that is to play."""
        return int(state.to_play) + 1

    def put(self, state: Any, point: Any, colour: Any) -> None:
        """Places a stone and joins it to its group; groups without liberties stay."""
        state.stones[point] = colour
        state.notes[point] |= STONE
        state.group[point] = state.next[point] = point
        state.liberties[point] = CLOSED - (int(state.notes[point]) & COUNT)
        for i in range(4):
            near = self.neighbours[point, i]
            state.notes[near] += 1
            state.liberties[state.group[near]] -= 1
        self.clear_off_board(state)
        for i in range(4):
            near = self.neighbours[point, i]
            if state.stones[near] == colour and state.group[near] != state.group[point]:
                self.join(state, point, near)

    def join(self, state: Any, one: Any, other: Any) -> None:
        """Makes the groups of two stones one; that with fewer liberties gets the other's number."""
        if state.liberties[state.group[one]] < state.liberties[state.group[other]]:
            one, other = other, one
        group = state.group[one]
        state.liberties[group] += state.liberties[state.group[other]]
        stone = other
        while state.group[stone] != group:
            state.group[stone] = group
            stone = state.next[stone]
        following = state.next[one]
        state.next[one] = state.next[other]
        state.next[other] = following

    def take(self, state: Any, first: Any) -> None:
        """Removes a stone's group from the board."""
        colour = int(state.stones[first])
        stone = first
        while True:
            state.stones[stone] = EMPTY
            state.group[stone] = self.num_points
            state.notes[stone] = int(state.notes[stone]) & ~STONE | STONE << colour | LATELY
            self.write(state, stone)
            for i in range(4):
                near = self.neighbours[stone, i]
                state.notes[near] -= 1
                state.liberties[state.group[near]] += 1
            self.clear_off_board(state)
            stone = state.next[stone]
            if stone == first:
                return

    def clear_off_board(self, state: Any) -> None:
        """Resets the counts of the point off the board: faster than not counting there."""
        state.notes[self.num_points] = LATELY  # far from both ends of a byte's range
        state.liberties[self.num_points] = 0

    def write(self, state: Any, event: Any) -> None:
        """Adds to the log."""
        state.log[state.log_length] = event
        state.log_length += 1

    def is_last_liberty(self, state: Any, point: Any, group: Any) -> bool:
        """Whether an empty point is the only liberty of a group."""
        if state.liberties[group] > 4:
            return False
        touching = 0
        for i in range(4):
            touching += state.group[self.neighbours[point, i]] == group
        return touching != 0 and state.liberties[group] == touching
