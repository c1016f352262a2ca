"""The compiled part of `gomoku_evaluator`: finds the shapes of a position and evaluates them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.opponents.gomoku_shapes import (
    DIRECTIONS,
    DOUBLE,
    DOWN,
    FARTHEST,
    FIVE,
    FOUR,
    NOTHING,
    OUTSIDE,
    REACH,
    RIGHT,
    SIDE,
    THREE,
    Lines,
)

# What a stone achieves in all four lines together.
QUIET, MAKES_THREE, MAKES_THREES, MAKES_FOUR, MAKES_FOUR_THREE, WINS, ENDS = range(7)


class Weights(NamedTuple):
    """Weights of shapes and threats. Logits are relative to a point without any shape."""

    own: NDArray[np.float32]  # [7] logit of what the mover's stone achieves, QUIET to ENDS
    other: NDArray[np.float32]  # [7] … of what it prevents the opponent from achieving
    own_shapes: NDArray[np.float32]  # [9] additional logit of the shape in each line
    other_shapes: NDArray[np.float32]  # [9]
    promise: NDArray[np.float32]  # [7] for the value: points of the player to move
    fear: NDArray[np.float32]  # [7] … and of the other player
    idle: float  # logit of a stone that ignores a winning threat
    off_centre: float  # logit per step from the centre
    largest: float  # value without a forced result


WEIGHTS = Weights(
    own=np.array([0, 3.5, 5, 9, 11, 14, 18], np.float32),
    other=np.array([0, 1.5, 2.5, 2.5, 4.5, 5.5, 16], np.float32),
    own_shapes=np.array([0, 0.3, 0.5, 0.9, 0.9, 0, 0, 0, 0], np.float32),
    other_shapes=np.array([0, 0.2, 0.3, 0.6, 0.5, 0, 0, 0, 0], np.float32),
    promise=np.array([0, 0.03, 0.1, 0.1, 0.3, 0, 0], np.float32),
    fear=np.array([0, 0.02, 0.06, 0.05, 0.15, 0.3, 0], np.float32),
    idle=-4.0,
    off_centre=-0.05,
    largest=0.8,
)


class Sight(NamedTuple):
    """The shapes and threats of one position; first the mover's, then the opponent's."""

    cells: NDArray[np.int8]  # [P] 0 empty, 1 the mover's, 2 the opponent's
    shapes: NDArray[np.uint8]  # [2, 4, P] that a stone would make; for empty points only
    replies: NDArray[np.int32]  # [2, 4, P] where the opponent must then answer; for fours only
    deeds: NDArray[np.uint8]  # [2, P] QUIET to ENDS
    ends: NDArray[np.int32]  # [2, 2] the number of points that make a five, and one of them


def make_sight(points: int) -> Sight:
    """Memory for the shapes of one position."""
    return Sight(
        cells=np.zeros(points, np.int8),
        shapes=np.zeros((2, DIRECTIONS, points), np.uint8),
        replies=np.zeros((2, DIRECTIONS, points), np.int32),
        deeds=np.zeros((2, points), np.uint8),
        ends=np.zeros((2, 2), np.int32),
    )


@Kernel
def judge_positions(
    lines: Lines,
    weights: Weights,
    sight: Sight,
    planes: NDArray[np.float32],
    is_exact: NDArray[np.bool_],
    is_renju: bool,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Writes the logits and the value of each position."""
    for b in range(planes.shape[0]):
        look(lines, sight, planes[b], is_exact[b])
        judge_points(lines, sight, is_renju, is_exact[b])
        write_logits(lines, weights, sight, logits[b])
        values[b] = judge(weights, sight)


@kernel_function
def look(
    lines: Lines, sight: Sight, planes: NDArray[np.float32], is_exact: NDArray[np.bool_]
) -> None:
    """Finds the shapes that either player's stone would make on each empty point."""
    point = 0
    for row in range(lines.size):
        for col in range(lines.size):
            sight.cells[point] = 1 if planes[0, row, col] else 2 if planes[1, row, col] else 0
            sight.deeds[0, point] = sight.deeds[1, point] = QUIET
            point += 1
    sight.ends[0, 0] = sight.ends[1, 0] = 0
    for line in range(lines.starts.shape[0]):
        look_along(lines, sight, line, 0, int(is_exact[0]))
        look_along(lines, sight, line, 1, int(is_exact[1]))


@kernel_function
def look_along(lines: Lines, sight: Sight, line: int, side: int, table: int) -> None:
    """Finds the shapes and the fives of one player in one line."""
    start, step, length = lines.starts[line], lines.steps[line], lines.lengths[line]
    direction = lines.directions[line]
    behind, ahead = OUTSIDE, 0
    for place in range(REACH):
        ahead = ahead * 3 + digit(sight.cells, start + place * step, side)
    for place in range(length):
        point, last = start + place * step, place + REACH
        here = ahead // FARTHEST
        entering = digit(sight.cells, start + last * step, side) if last < length else 2
        ahead = (ahead - here * FARTHEST) * 3 + entering
        if here == 0:
            around = behind * SIDE + ahead
            shape = lines.shapes[table, around]
            sight.shapes[side, direction, point] = shape
            if shape == FOUR:
                sight.replies[side, direction, point] = point + step * lines.replies[table, around]
            elif shape == FIVE and sight.deeds[side, point] != ENDS:
                sight.deeds[side, point] = ENDS
                sight.ends[side, 0] += 1
                sight.ends[side, 1] = point
        behind = (behind - behind // FARTHEST * FARTHEST) * 3 + here


@kernel_function
def digit(cells: NDArray[np.int8], point: int, side: int) -> int:
    """A cell as a player sees it: 0 empty, 1 own, 2 taken."""
    cell = int(cells[point])
    return cell if side == 0 or cell == 0 else 3 - cell


@kernel_function
def judge_points(lines: Lines, sight: Sight, is_renju: bool, is_exact: NDArray[np.bool_]) -> None:
    """Finds what either player's stone would achieve on each empty point, after the fives."""
    if sight.ends[1, 0] == 1:
        forget_lines(lines, sight, sight.ends[1, 1])
    for side in range(2):
        is_barred = is_renju and is_exact[side]
        for point in range(sight.cells.shape[0]):
            if sight.cells[point] == 0 and sight.deeds[side, point] != ENDS:
                sight.deeds[side, point] = judge_point(sight, side, point, is_barred)


@kernel_function
def forget_lines(lines: Lines, sight: Sight, block: int) -> None:
    """Removes the opponent's shapes in the lines through a point that the mover must occupy."""
    size = lines.size
    for direction in range(DIRECTIONS):
        for distance in range(-REACH, REACH + 1):
            row = block // size + distance * DOWN[direction]
            col = block % size + distance * RIGHT[direction]
            if distance and 0 <= row < size and 0 <= col < size:
                sight.shapes[1, direction, row * size + col] = NOTHING


@kernel_function
def judge_point(sight: Sight, side: int, point: int, is_barred: bool) -> int:
    """What a stone without a five achieves; `is_barred`: double fours are forbidden."""
    doubles = fours = threes = 0
    for direction in range(DIRECTIONS):
        shape = sight.shapes[side, direction, point]
        doubles += shape == DOUBLE
        fours += shape == FOUR
        threes += shape == THREE
    if doubles or (fours > 1 and not is_barred):
        return WINS
    if fours:
        return MAKES_FOUR_THREE if threes else MAKES_FOUR
    return MAKES_THREES if threes > 1 else MAKES_THREE if threes else QUIET


@kernel_function
def write_logits(lines: Lines, weights: Weights, sight: Sight, logits: NDArray[np.float32]) -> None:
    """Writes the logit of each empty point."""
    is_threatened = False
    for point in range(sight.cells.shape[0]):
        is_threatened = is_threatened or sight.deeds[1, point] >= MAKES_FOUR_THREE
    for point in range(sight.cells.shape[0]):
        if sight.cells[point] == 0:
            logits[point] = lines.away[point] * weights.off_centre
            logits[point] += weigh_point(weights, sight, point, is_threatened)


@kernel_function
def weigh_point(weights: Weights, sight: Sight, point: int, is_threatened: bool) -> float:
    """The logit for what a stone makes and what it prevents."""
    own, other = sight.deeds[0, point], sight.deeds[1, point]
    logit = weights.own[own] + weights.other[other]
    for direction in range(DIRECTIONS):
        logit += weights.own_shapes[sight.shapes[0, direction, point]]
        logit += weights.other_shapes[sight.shapes[1, direction, point]]
    if is_threatened and own < MAKES_FOUR and other < MAKES_FOUR:
        logit += weights.idle
    return logit


@kernel_function
def judge(weights: Weights, sight: Sight) -> float:
    """The value for the mover: ±1 if fives, fours and threes decide the game, else less."""
    if sight.ends[0, 0]:
        return 1.0
    if sight.ends[1, 0] > 1:
        return -1.0
    if sight.ends[1, 0] == 1:
        deed = sight.deeds[0, sight.ends[1, 1]]
        if deed >= WINS:
            return 1.0
        if deed < MAKES_FOUR:  # after the forced stone, which threatens nothing, the opponent moves
            return -1.0 if has_won(sight, 1) else -estimate(weights, sight, 1)
    elif has_won(sight, 0):
        return 1.0
    return estimate(weights, sight, 0)


@kernel_function
def has_won(sight: Sight, side: int) -> bool:
    """Whether the player to move wins by a double, two fours, or a four and a three.

    The other player has no five. It must answer the four of a four and a three; unless that answer
    makes a four, the three becomes a double.
    """
    for point in range(sight.cells.shape[0]):
        deed = sight.deeds[side, point]
        if deed == WINS:
            return True
        if deed == MAKES_FOUR_THREE:
            for direction in range(DIRECTIONS):
                if sight.shapes[side, direction, point] == FOUR:
                    reply = sight.replies[side, direction, point]
                    if sight.deeds[1 - side, reply] < MAKES_FOUR:
                        return True
    return False


@kernel_function
def estimate(weights: Weights, sight: Sight, side: int) -> float:
    """A value for the player to move, from what stones would achieve on all points."""
    total = 0.0
    for point in range(sight.cells.shape[0]):
        total += weights.promise[sight.deeds[side, point]]
        total -= weights.fear[sight.deeds[1 - side, point]]
    return weights.largest * total / (1.0 + abs(total))
