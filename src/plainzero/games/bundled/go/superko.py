"""Positional superko: whether a position occurred before.

No position is stored. `log` records what each play placed and captured, so earlier positions are
reached by walking back, with the XOR of the keys of all stones that differ. The walk stops at the
first stone that is still there and "new", placed where none of its colour had been captured: no
position before it can be the same. Since nearly every play is new, the walk is nearly always empty.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.go.stones import BARRED, EMPTY, LATELY, STONE, GoStones


class GoSuperko(GoStones):
    """The board of Go, and which plays would repeat an earlier position of the game."""

    @functools.cached_property
    def keys(self) -> NDArray[np.uint64]:
        """A random number for each stone, by colour (black first) and point."""
        generator = np.random.default_rng(20)
        return generator.integers(1, 2**64, (2, self.num_points), np.uint64)

    def set_newest(self, state: Any, point: Any, colour: Any) -> None:
        """Notes a stone placed where none of its colour had been captured, after its captures."""
        for index in range(state.newest_length, state.log_length):
            event = state.log[index]
            if event < self.num_points:
                state.notes[event] &= LATELY - 1
        state.newest, state.newest_colour = point, colour
        state.newest_length = state.log_length

    def has_barred(self, state: Any) -> bool:
        """Whether superko may forbid some point, found by looking at few; True if unsure.

        As long as the newest stone stands, only positions since it came can be repeated, by a stone
        put where one was taken since. Only one play can take the newest stone.
        """
        if state.is_barred_by_hand:
            return True
        if state.newest_colour == EMPTY:
            return False  # nothing was played yet
        if state.stones[state.newest] != state.newest_colour:
            return True
        for index in range(state.newest_length, state.log_length):
            event = int(state.log[index])
            if event < self.num_points and state.stones[event] == EMPTY:
                if self.is_barred(state, event):
                    return True
        if state.newest_colour == self.mover(state):
            return False
        point = self.only_liberty(state, state.newest)
        return point != self.num_points and self.is_barred(state, point)

    def only_liberty(self, state: Any, first: Any) -> Any:
        """The liberty of a stone's group if it has only one, else `num_points`."""
        group = state.group[first]
        if state.liberties[group] > 4:
            return self.num_points
        stone = int(first)
        while True:
            for i in range(4):
                near = int(self.neighbours[stone, i])
                if state.stones[near] == EMPTY:
                    return near if self.is_last_liberty(state, near, group) else self.num_points
            stone = int(state.next[stone])

    def is_barred(self, state: Any, point: Any) -> bool:
        """Whether a stone of the mover on this empty point would repeat an earlier position."""
        note = int(state.notes[point])
        if note & (BARRED | STONE << self.mover(state)) == 0:
            return False
        if note & BARRED != 0:
            return True
        if note & LATELY == 0 and self.will_stand(state, point, state.newest, state.newest_colour):
            return False  # no position with both
        return self.repeats(state, point)

    def repeats(self, state: Any, point: Any) -> bool:
        """Whether walking back through the log reaches the position after that stone."""
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
        """The XOR of the keys of the mover's stone there and of the stones that it captures."""
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
