"""Whose the points of a Go board are: stones, and the empty regions that reach one colour only."""

from typing import Any

from plainzero.games.bundled.go.stones import BLACK, EMPTY, OFF_BOARD, WHITE
from plainzero.games.bundled.go.superko import GoSuperko


class GoArea(GoSuperko):
    """Area scoring, with all stones on the board alive."""

    komi: float = 7.5  # added to white's area

    largest_score = property(lambda self: self.num_points + abs(self.komi))

    def count_lead(self, state: Any) -> float:
        """Black's area minus white's and komi; overwrites as `count_area` does."""
        return float(self.count_area(state)) - self.komi

    def score(self, state: Any) -> float:
        """Black's area minus white's and komi."""
        self.forget_regions(state)
        return self.count_lead(state)

    def ownership(self, state: Any, cells: Any) -> None:
        """Whose area the points are; those that reach both colours are nobody's."""
        self.forget_regions(state)
        for first in range(self.num_points):
            if state.stones[first] != EMPTY:
                cells[self.cell(first)] = 3.0 - 2.0 * state.stones[first]
            elif state.group[first] == self.num_points:
                lead = self.count_region(state, first)
                for point in range(self.num_points):
                    if state.stones[point] == EMPTY and state.group[point] == first:
                        cells[self.cell(point)] = 1.0 if lead > 0 else -1.0 if lead < 0 else 0.0

    def cell(self, point: Any) -> Any:
        """The number of a point in the observation, which begins with the highest row."""
        return (self.size - 1 - point // self.size) * self.size + point % self.size

    def forget_regions(self, state: Any) -> None:
        """Prepares a finished position for being counted again, which marks its regions anew."""
        for point in range(self.num_points):
            if state.stones[point] == EMPTY:
                state.group[point] = self.num_points

    def count_area(self, state: Any) -> int:
        """Black's area minus white's; overwrites the links of empty points.

        An area is the stones of a colour and the empty points from which no other is reached.
        """
        lead = 0
        for point in range(self.num_points):
            if state.stones[point] == EMPTY:
                if state.group[point] == self.num_points:
                    lead += self.count_region(state, point)
            else:
                lead += 3 - 2 * int(state.stones[point])
        return lead

    def count_region(self, state: Any, first: Any) -> int:
        """The empty points connected with this one: more than 0 for black, less for white."""
        top = first  # of a stack linked by `next`
        state.group[first] = first
        state.next[first] = self.num_points
        count = colours = 0
        while top != self.num_points:
            point = top
            top = state.next[point]
            count += 1
            for i in range(4):
                near = self.neighbours[point, i]
                stone = int(state.stones[near])
                if stone == EMPTY and state.group[near] == self.num_points:
                    state.group[near] = first
                    state.next[near] = top
                    top = near
                elif stone != OFF_BOARD:
                    colours |= stone
        return count if colours == BLACK else -count if colours == WHITE else 0

    def area_lead(self, state: Any) -> float:
        """Black's lead with all stones on the board alive, minus komi."""
        return self.score(self.copy(state))
