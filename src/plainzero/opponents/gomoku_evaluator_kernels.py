"""What a Gomoku player sees at a glance: fives, fours and threes, as a prior and a value.

Everything else here learns from the rules alone; this one file knows how people play. It does not
search. A stone on an empty point makes a shape in each of the four lines through it, which depends
on the five cells on either side: a table has the shape of all 3^10 such surroundings. Of the shapes
at a point follows what a stone there would do, for either player; of all points the prior and the
value. Captures, and that a point may be forbidden to the opponent, are left out of account.
"""

import functools
import hashlib
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler import cpu_kernels as compiling
from plainzero.compiler import inner_functions as inner_code
from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.games.bundled.gomoku.rules import Gomoku
from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig

# What a stone makes in one line, better ones larger. A *double* leaves two points for the five, as
# a straight four does; a *three* becomes a double by one more stone, a *closed three* only a four.
NOTHING, ONE, CLOSED_TWO, TWO, CLOSED_THREE, THREE, FOUR, DOUBLE, FIVE = range(9)
_ONE_STONE_EARLIER = np.array(
    [NOTHING, NOTHING, ONE, ONE, CLOSED_TWO, TWO, CLOSED_THREE, THREE, FOUR], np.uint8
)

# What a stone does on the whole, in all four lines.
QUIET, MAKES_THREE, MAKES_THREES, MAKES_FOUR, MAKES_FOUR_THREE, WINS, ENDS = range(7)

REACH = 5
_SIDE = 3**REACH  # surroundings on one side of a point
_FARTHEST = _SIDE // 3  # what the digit of the first cell stands for
_OUTSIDE = _SIDE - 1  # five cells that are taken
DIRECTIONS = 4
_RIGHT = (1, 0, 1, -1)
_DOWN = (0, 1, 1, 1)


class Weights(NamedTuple):
    """How much each thing counts. Logits are relative to a point at which there is nothing."""

    own: NDArray[np.float32]  # [7] logit of what the mover's stone does, QUIET to ENDS
    other: NDArray[np.float32]  # [7] … of what it keeps the opponent's from doing
    own_shapes: NDArray[np.float32]  # [9] logit of the shape in each line besides
    other_shapes: NDArray[np.float32]  # [9]
    promise: NDArray[np.float32]  # [7] for the value, of each point for who has the move
    fear: NDArray[np.float32]  # [7] … and for who has not
    idle: float  # logit, where the opponent threatens to win and a stone does not mind
    off_centre: float  # logit of each step away from the centre
    largest: float  # value that is not certain


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


class Lines(NamedTuple):
    """The board's lines of five points and more, and the shapes in them."""

    size: int
    starts: NDArray[np.int32]  # [L] first point
    steps: NDArray[np.int32]  # [L] from point to point
    lengths: NDArray[np.int32]  # [L]
    directions: NDArray[np.int32]  # [L]
    away: NDArray[np.float32]  # [P] steps from the centre
    shapes: NDArray[np.uint8]  # [2, 3^10] see `list_shapes`; [1] where only exactly five win
    replies: NDArray[np.int8]  # [2, 3^10]


class Sight(NamedTuple):
    """What is seen of one position; first the mover's, then the opponent's."""

    cells: NDArray[np.int8]  # [P] 0 empty, 1 the mover's, 2 the opponent's
    shapes: NDArray[np.uint8]  # [2, 4, P] that a stone would make; of empty points only
    replies: NDArray[np.int32]  # [2, 4, P] where the opponent must then answer; of fours only
    deeds: NDArray[np.uint8]  # [2, P] QUIET to ENDS
    ends: NDArray[np.int32]  # [2, 2] how many points make a five, and one of them


class ThreatsEvaluator:
    """Priors and values of Gomoku positions from threes and fours; an evaluator for `search`.

    Args:
        game: gomoku of any size and rule.
        weights: how much everything counts.

    Raises:
        ValueError: for another game.
    """

    def __init__(self, game: Game, weights: Weights = WEIGHTS) -> None:  # noqa: D107
        if not has_threats(game):
            raise ValueError(
                f"threats are seen in gomoku only, not in {game.name}; "
                "choose another agent, as uct:1000"
            )
        self.game = game
        self.weights = weights
        self._lines = make_lines(game.size)

    def __call__(
        self, planes: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits [B, A] and values [B] of observations [B, *shape]."""
        return self.judge(planes, make_sight(self.game.num_actions))

    def judge(
        self, planes: NDArray[np.float32], sight: Sight
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The same; what was seen of the last position stays in `sight`."""
        game = self.game
        logits = np.zeros((len(planes), game.num_actions), np.float32)
        values = np.zeros(len(planes), np.float32)
        is_exact = np.full((len(planes), 2), game.is_standard)
        if game.is_renju:
            is_exact[:, 0] = planes[:, 2, 0, 0] > 0
            is_exact[:, 1] = ~is_exact[:, 0]
        position = np.ascontiguousarray(planes, np.float32), is_exact, game.is_renju
        judge_positions(_tag(), self._lines, self.weights, sight, *position, logits, values)
        return logits, values


def has_threats(game: Game) -> TypeGuard[Gomoku]:
    """Whether threats can be seen in the game."""
    return isinstance(game, Gomoku)


def make_config(simulations: int) -> SearchConfig:
    """The search that goes with it.

    Moves not tried count a little less than the position does: where a four has to be answered,
    the two hundred other moves would otherwise all look better than a good answer.
    """
    return SearchConfig(simulations=simulations, proven_values=True, fpu="reduction")


@functools.cache
def make_lines(size: int) -> Lines:
    """The lines of a board of that size, from its edges on."""
    found = []
    for row, col, direction in np.ndindex(size, size, DIRECTIONS):
        down, right = _DOWN[direction], _RIGHT[direction]
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

    The number of a surrounding has a digit for each of the ten cells: 0 empty, 1 own, 2 taken by
    the opponent or outside. A shape is told by the shapes that one more stone makes of it, so the
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
    """Whether five in a row hold the centre, [3^10]; `own` are the cells around it."""
    own = np.insert(own, REACH, True, axis=1)
    found = np.zeros(len(own), np.bool_)
    for start in range(1, REACH + 1):
        fives = own[:, start : start + 5].all(axis=1)
        if is_exact:
            fives &= ~own[:, start - 1] & ~own[:, start + 5]
        found |= fives
    return found


def make_sight(points: int) -> Sight:
    """Room for what is seen of one position."""
    return Sight(
        cells=np.zeros(points, np.int8),
        shapes=np.zeros((2, DIRECTIONS, points), np.uint8),
        replies=np.zeros((2, DIRECTIONS, points), np.int32),
        deeds=np.zeros((2, points), np.uint8),
        ends=np.zeros((2, 2), np.int32),
    )


@Kernel
def judge_positions(
    lines: Any,
    weights: Any,
    sight: Any,
    planes: Any,
    is_exact: Any,
    is_renju: Any,
    logits: Any,
    values: Any,
) -> None:
    """Writes the logits and the value of each position."""
    for b in range(planes.shape[0]):
        look(lines, sight, planes[b], is_exact[b])
        judge_points(lines, sight, is_renju, is_exact[b])
        write_logits(lines, weights, sight, logits[b])
        values[b] = judge(weights, sight)


@kernel_function
def look(lines: Any, sight: Any, planes: Any, is_exact: Any) -> None:
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
def look_along(lines: Any, sight: Any, line: Any, side: Any, table: Any) -> None:
    """Finds the shapes and the fives of one player in one line."""
    start, step, length = lines.starts[line], lines.steps[line], lines.lengths[line]
    direction = lines.directions[line]
    behind, ahead = _OUTSIDE, 0
    for place in range(REACH):
        ahead = ahead * 3 + digit(sight.cells, start + place * step, side)
    for place in range(length):
        point, last = start + place * step, place + REACH
        here = ahead // _FARTHEST
        entering = digit(sight.cells, start + last * step, side) if last < length else 2
        ahead = (ahead - here * _FARTHEST) * 3 + entering
        if here == 0:
            around = behind * _SIDE + ahead
            shape = lines.shapes[table, around]
            sight.shapes[side, direction, point] = shape
            if shape == FOUR:
                sight.replies[side, direction, point] = point + step * lines.replies[table, around]
            elif shape == FIVE and sight.deeds[side, point] != ENDS:
                sight.deeds[side, point] = ENDS
                sight.ends[side, 0] += 1
                sight.ends[side, 1] = point
        behind = (behind - behind // _FARTHEST * _FARTHEST) * 3 + here


@kernel_function
def digit(cells: Any, point: Any, side: Any) -> Any:
    """A cell as a player sees it: 0 empty, 1 own, 2 taken."""
    cell = int(cells[point])
    return cell if side == 0 or cell == 0 else 3 - cell


@kernel_function
def judge_points(lines: Any, sight: Any, is_renju: Any, is_exact: Any) -> None:
    """Finds what either player's stone would do on each empty point, fives being known."""
    if sight.ends[1, 0] == 1:
        forget_lines(lines, sight, sight.ends[1, 1])
    for side in range(2):
        is_barred = is_renju and is_exact[side]
        for point in range(sight.cells.shape[0]):
            if sight.cells[point] == 0 and sight.deeds[side, point] != ENDS:
                sight.deeds[side, point] = judge_point(sight, side, point, is_barred)


@kernel_function
def forget_lines(lines: Any, sight: Any, block: Any) -> None:
    """Takes away what the opponent has in the lines through a point that the mover must take."""
    size = lines.size
    for direction in range(DIRECTIONS):
        for distance in range(-REACH, REACH + 1):
            row = block // size + distance * _DOWN[direction]
            col = block % size + distance * _RIGHT[direction]
            if distance and 0 <= row < size and 0 <= col < size:
                sight.shapes[1, direction, row * size + col] = NOTHING


@kernel_function
def judge_point(sight: Any, side: Any, point: Any, is_barred: Any) -> Any:
    """What a stone does that makes no five; `is_barred`: two fours at once are not allowed."""
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
def write_logits(lines: Any, weights: Any, sight: Any, logits: Any) -> None:
    """Writes how much each empty point is worth trying."""
    is_threatened = False
    for point in range(sight.cells.shape[0]):
        is_threatened = is_threatened or sight.deeds[1, point] >= MAKES_FOUR_THREE
    for point in range(sight.cells.shape[0]):
        if sight.cells[point] == 0:
            logits[point] = lines.away[point] * weights.off_centre
            logits[point] += weigh_point(weights, sight, point, is_threatened)


@kernel_function
def weigh_point(weights: Any, sight: Any, point: Any, is_threatened: Any) -> Any:
    """What a stone makes, and what it keeps the opponent from making."""
    own, other = sight.deeds[0, point], sight.deeds[1, point]
    logit = weights.own[own] + weights.other[other]
    for direction in range(DIRECTIONS):
        logit += weights.own_shapes[sight.shapes[0, direction, point]]
        logit += weights.other_shapes[sight.shapes[1, direction, point]]
    if is_threatened and own < MAKES_FOUR and other < MAKES_FOUR:
        logit += weights.idle
    return logit


@kernel_function
def judge(weights: Any, sight: Any) -> Any:
    """The value for the mover: ±1 where fives, fours and threes settle it, else less."""
    if sight.ends[0, 0]:
        return 1.0
    if sight.ends[1, 0] > 1:
        return -1.0
    if sight.ends[1, 0] == 1:
        deed = sight.deeds[0, sight.ends[1, 1]]
        if deed >= WINS:
            return 1.0
        if deed < MAKES_FOUR:  # the opponent is to move again, after a stone that threatens nothing
            return -1.0 if has_won(sight, 1) else -estimate(weights, sight, 1)
    elif has_won(sight, 0):
        return 1.0
    return estimate(weights, sight, 0)


@kernel_function
def has_won(sight: Any, side: Any) -> Any:
    """Whether who has the move wins by a double, two fours, or a four and a three.

    The other has no five. After a four and a three it must answer the four; where that answer makes
    no four of its own, the three becomes a double.
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
def estimate(weights: Any, sight: Any, side: Any) -> Any:
    """A value for the player who has the move, from what stones would do on all points."""
    total = 0.0
    for point in range(sight.cells.shape[0]):
        total += weights.promise[sight.deeds[side, point]]
        total -= weights.fear[sight.deeds[1 - side, point]]
    return weights.largest * total / (1.0 + abs(total))


@functools.cache
def _tag() -> str:
    """Names all source in the compiled code, for the disk cache; the same for every board."""
    digest = hashlib.sha256()
    for path in (__file__, str(compiling.__file__), str(inner_code.__file__)):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]
