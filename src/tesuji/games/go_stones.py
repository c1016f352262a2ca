"""Stones on a Go board: groups, what is taken, and whether a position has been there before.

Stones of a group are a ring (`next`) and share a number (`group`), by which the group's
pseudo-liberties are counted: one for each pair of a stone and an empty neighbour. So a group has no
other liberty than a point just if it has as many as stones next to that point.

No position is kept for superko. `log` tells what each play put down and took away, so earlier
positions are reached by walking back, with the XOR of the keys of all stones that differ: 0 means
the same position. The walk stops at the first stone that stands and was put where no stone of its
colour had been before, which is nearly always at once.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tesuji.games.contract import Field, Game, field

EMPTY, BLACK, WHITE, OFF_BOARD = 0, 1, 2, 3

# What `notes` says of a point: how many of its four neighbours are not empty, and
COUNT = 7  # the bits of that number
CLOSED = 4  # none of them is
STONE = 8  # a stone stands here; STONE << colour: one of that colour was taken here
BARRED = 64  # a position made by hand forbids it to the mover, as superko would
LATELY = 128  # a stone was taken here after the newest stone came


class GoStones(Game):
    """The board of Go, without the rules that say when and by whom it is played.

    Points are numbered row by row from a1, as in OpenSpiel. The number behind the last one is
    everything off the board, and as an action the pass.
    """

    size: int = 9

    num_points = property(lambda self: self.size * self.size)
    num_actions = property(lambda self: self.num_points + 1)
    max_turns = property(lambda self: 6 * self.num_points)

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

    @functools.cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A random number for each stone, by colour (black first) and point."""
        generator = np.random.default_rng(20)
        return generator.integers(1, 2**64, (2, self.num_points), np.uint64)

    def fields(self) -> dict[str, Field]:
        """The board, one number for each point and for off the board; and what was played."""
        number = np.uint8 if self.num_points < 255 else np.uint16
        event = np.uint8 if 3 * self.num_points <= 255 else np.uint16
        return {
            "stones": field(np.int8, self.num_points + 1),
            "notes": field(np.uint8, self.num_points + 1),
            "group": field(number, self.num_points + 1),  # one of its points, off_board if empty
            "next": field(number, self.num_points),  # stone of the group; of an empty point its
            "empty": field(number, self.num_points),  # place in this list of them
            "num_empty": field(np.int16),
            "liberties": field(np.int16, self.num_points + 1),  # by group, as each stone sees them
            "last": field(np.int16),  # action, -1 for none
            # The last stone put where none of its colour was taken, and what was logged by then.
            "newest": field(np.int16),
            "newest_colour": field(np.int8),
            "newest_length": field(np.int16),
            "has_barred": field(np.bool_),
            "log_length": field(np.int16),
            # Plays put down (points, more points where that colour had stood before, 3 * points for
            # a pass), and after each what it took: that is no more than was ever put down.
            "log": field(event, 2 * self.max_turns),
        }

    def reset(self, state: Any) -> None:
        """The empty board."""
        state.stones[self.num_points] = OFF_BOARD
        state.group[self.num_points] = self.num_points
        self.clear_off_board(state)
        state.last = -1
        state.num_empty = self.num_points
        for point in range(self.num_points):
            state.group[point] = self.num_points
            state.next[point] = state.empty[point] = point
            for i in range(4):
                if self.neighbours[point, i] == self.num_points:
                    state.notes[point] += 1

    def mover(self, state: Any) -> int:
        """The colour that is to play."""
        return int(state.to_play) + 1

    def put(self, state: Any, point: Any, colour: Any) -> None:
        """A stone stands there and belongs to its group; groups without liberties stay."""
        state.num_empty -= 1
        moved = state.empty[state.num_empty]
        state.empty[state.next[point]] = moved
        state.next[moved] = state.next[point]
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
        """Takes a stone's group from the board."""
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
            following = state.next[stone]
            state.empty[state.num_empty] = stone
            state.next[stone] = state.num_empty
            state.num_empty += 1
            stone = following
            if stone == first:
                break
        self.clear_off_board(state)

    def clear_off_board(self, state: Any) -> None:
        """Forgets what was counted for no point and no group, which is faster than to ask first."""
        state.notes[self.num_points] = LATELY  # far from both ends of what a byte holds
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

    def set_newest(self, state: Any, point: Any, colour: Any) -> None:
        """A stone came where none of its colour had been taken before; stones it took are told."""
        for index in range(state.newest_length, state.log_length):
            event = state.log[index]
            if event < self.num_points:
                state.notes[event] &= LATELY - 1
        state.newest, state.newest_colour = point, colour
        state.newest_length = state.log_length

    def newest_is_safe(self, state: Any) -> bool:
        """Whether the mover cannot take the newest stone; false also where that needs a look."""
        if state.stones[state.newest] != state.newest_colour:
            return False
        if state.newest_colour == self.mover(state):
            return True
        liberties = state.liberties[state.group[state.newest]]
        return bool(liberties > 4 or (liberties > 1 and state.next[state.newest] == state.newest))

    def repeats(self, state: Any, point: Any) -> bool:
        """Whether walking back through the log comes to the position after that stone."""
        was_taken, surplus = False, 1  # of stones, before any are taken, over the earlier position
        difference = np.uint64(0)
        mover = 3 - self.mover(state)
        index = int(state.log_length)
        while index > 0:
            index -= 1
            event = int(state.log[index])
            where = event % self.num_points
            if event < self.num_points:
                was_taken |= where == point
                surplus -= 1
                difference ^= self.keys[2 - mover, where]
                continue
            if event < 3 * self.num_points:
                if event < 2 * self.num_points and self.will_stand(state, point, where, mover):
                    return False  # and stood in no position before
                surplus += 1
                difference ^= self.keys[mover - 1, where]
                if was_taken and surplus >= 0 and difference == self.change(state, point):
                    return True
            mover = 3 - mover
        return False

    def change(self, state: Any, point: Any) -> Any:
        """The keys of the mover's stone there and of the stones that it takes, as one number."""
        colour = self.mover(state)
        difference = self.keys[colour - 1, point]
        for i in range(4):
            near = self.neighbours[point, i]
            is_new = True
            for j in range(i):
                is_new &= state.group[self.neighbours[point, j]] != state.group[near]
            if is_new and state.stones[near] == 3 - colour:
                if self.is_last_liberty(state, point, state.group[near]):
                    stone = state.next[near]
                    difference ^= self.keys[2 - colour, near]
                    while stone != near:
                        difference ^= self.keys[2 - colour, stone]
                        stone = state.next[stone]
        return difference

    def will_stand(self, state: Any, point: Any, where: Any, colour: Any) -> bool:
        """Whether a stone of that colour stands there when the mover has played `point`."""
        if where == point:
            return bool(colour == self.mover(state))
        if state.stones[where] != colour:
            return False
        is_own = colour == self.mover(state)
        return is_own or not self.is_last_liberty(state, point, state.group[where])
