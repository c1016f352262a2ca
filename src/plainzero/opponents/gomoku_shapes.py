"""The shapes of Gomoku: what a stone makes with the five cells on either side of it in a line."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# What a stone makes in one line, better ones larger. A *double* has two points that complete a
# five, as a straight four does; one more stone makes a *three* a double, a *closed three* a four.
NOTHING, ONE, CLOSED_TWO, TWO, CLOSED_THREE, THREE, FOUR, DOUBLE, FIVE = range(9)
_ONE_STONE_EARLIER = np.array(
    [NOTHING, NOTHING, ONE, ONE, CLOSED_TWO, TWO, CLOSED_THREE, THREE, FOUR], np.uint8
)

REACH = 5
SIDE = 3**REACH  # surroundings on one side of a point
FARTHEST = SIDE // 3  # place value of the first cell's digit
OUTSIDE = SIDE - 1  # five occupied cells
DIRECTIONS = 4
RIGHT = (1, 0, 1, -1)
DOWN = (0, 1, 1, 1)


class Lines(NamedTuple):
    """The board's lines of five or more points, and the tables of shapes."""

    size: int
    starts: NDArray[np.int32]  # [L] first point
    steps: NDArray[np.int32]  # [L] from point to point
    lengths: NDArray[np.int32]  # [L]
    directions: NDArray[np.int32]  # [L]
    away: NDArray[np.float32]  # [P] steps from the centre
    shapes: NDArray[np.uint8]  # [2, 3^10] see `list_shapes`; [1] if only exactly five win
    replies: NDArray[np.int8]  # [2, 3^10]


@functools.cache
def make_lines(size: int) -> Lines:
    """The lines of a board of that size, each from its edge."""
    found = []
    for row, col, direction in np.ndindex(size, size, DIRECTIONS):
        down, right = DOWN[direction], RIGHT[direction]
        if 0 <= row - down and 0 <= col - right < size:
            continue  # not the first point of its line
        ahead = size - col if right > 0 else col + 1 if right < 0 else size
        length = min(ahead, size - row if down else size)
        if length >= 5:
            found.append((row * size + col, down * size + right, length, direction))
    starts, steps, lengths, directions = np.array(found, np.int32).T.copy()
    tables = [list_shapes(is_exact) for is_exact in (False, True)]
    shapes, replies = (np.stack(part) for part in zip(*tables, strict=True))
    from_middle = abs(np.arange(size) - (size - 1) / 2)
    away = np.maximum(from_middle[:, None], from_middle).astype(np.float32).ravel()
    return Lines(size, starts, steps, lengths, directions, away, shapes, replies)


@functools.cache
def list_shapes(is_exact: bool) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """The shape that a stone makes, and where a four must be answered, for all surroundings [3^10].

    The number of a surrounding has one digit for each of the ten cells: 0 empty, 1 own, 2 occupied
    by the opponent or outside. A shape follows from the shapes that one more stone makes, so the
    surroundings with the fewest empty cells come first.
    """
    places = 3 ** np.arange(2 * REACH)[::-1]
    digits = np.arange(3 ** (2 * REACH))[:, None] // places % 3
    offsets = np.array([*range(-REACH, 0), *range(1, REACH + 1)], np.int8)
    shapes = np.where(_find_fives(digits == 1, is_exact), FIVE, NOTHING).astype(np.uint8)
    replies = np.zeros(len(shapes), np.int8)
    num_empty = (digits == 0).sum(axis=1)
    for count in range(1, 2 * REACH + 1):
        chosen = np.flatnonzero((num_empty == count) & (shapes != FIVE))
        empty = digits[chosen] == 0
        after = np.where(empty, shapes[np.where(empty, chosen[:, None] + places, 0)], NOTHING)
        fives = after == FIVE
        shapes[chosen] = np.where(
            fives.sum(axis=1) > 1, DOUBLE, _ONE_STONE_EARLIER[after.max(axis=1)]
        )
        replies[chosen] = np.where(fives.any(axis=1), offsets[fives.argmax(axis=1)], 0)
    return shapes, replies


def _find_fives(own: NDArray[np.bool_], is_exact: bool) -> NDArray[np.bool_]:
    """Whether five in a row include the centre, [3^10]; `own` are the cells around it."""
    own = np.insert(own, REACH, True, axis=1)
    found = np.zeros(len(own), np.bool_)
    for start in range(1, REACH + 1):
        fives = own[:, start : start + 5].all(axis=1)
        if is_exact:
            fives &= ~own[:, start - 1] & ~own[:, start + 5]
        found |= fives
    return found
