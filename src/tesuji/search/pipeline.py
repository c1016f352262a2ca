"""Rounds on a GPU: while the network reads one part of the games, kernels walk the others' trees.

A round of a part is: select leaves and observe them, the network, expand and back up. What comes
between two runs of the network, `turn`, is one step. With two parts the same round is played a
little earlier in one than in the other, and all of it is recorded as graphs. The network's last
layers may be small, and then count as part of what follows. No game looks at another, so the
results are the same.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tesuji.cuda_compiling import view
from tesuji.search.evaluators import DeviceBatch, LeafArrays

_ROUNDS_OF_A_GRAPH = 8  # between graphs the GPU pauses
_FEWEST_TILES = 2  # of the network's, for two parts


class Part(NamedTuple):
    """Games `first` to `last` − 1, and the room in which the network reads their leaves."""

    batch: DeviceBatch
    first: int
    last: int

    def leaves(self) -> LeafArrays:
        """What kernels see of that room."""
        planes, *answers = map(view, (self.batch.planes, self.batch.logits, self.batch.values))
        cells = planes.reshape(planes.shape[0], math.prod(planes.shape[1:]))
        return LeafArrays(planes, cells, *answers)


Turn = Callable[[Part, bool, bool], None]
"""Starts to finish a part's leaves, to select the next ones, or both, one after the other."""


def make_parts(evaluator: Any, games: int, leaves: int = 1, most: int = 2) -> list[Part]:
    """All games in one part, or in two where the network leaves room for other kernels.

    The first part then is a whole number of the network's tiles, so that two parts take it no
    longer than one.
    """
    bounds, at_once = [0, games], evaluator.at_once
    tiles = -(-games * leaves // at_once) if at_once else 1
    middle = tiles // 2 * at_once // leaves
    if tiles >= _FEWEST_TILES and most > 1 and middle > 0:
        bounds.insert(1, middle)
    return [
        Part(evaluator.device_batch((last - first) * leaves), first, last)
        for first, last in itertools.pairwise(bounds)
    ]


class Pipeline:
    """Plays rounds of all parts."""

    def __init__(self, parts: Sequence[Part], turn: Turn) -> None:
        """One part or two."""
        self._parts, self._turn = parts, turn
        self._recorded: dict[int, Callable[[], None]] = {}  # by how many repetitions
        self._begin: Callable[[], None] = self._select
        self._end: Callable[[], None] = self._finish

    def play(self, rounds: int) -> None:
        """Starts so many rounds, and does not wait for them."""
        if rounds and not self._recorded:
            self._select()  # for real: it compiles, which no recording could
            self._finish()
            self._record()
            rounds -= 1
        if rounds:
            self._begin()
            self._repeat(rounds - 1)
            self._end()

    def _record(self) -> None:
        record = self._parts[0].batch.record
        self._begin, self._end = record(self._select), record(self._finish)
        for count in (_ROUNDS_OF_A_GRAPH, 1):
            self._recorded[count] = record(functools.partial(self._go_on_often, count))

    def _repeat(self, rounds: int) -> None:
        """Goes on so many times, by the larger graph as long as it fits."""
        for count, again in self._recorded.items():
            for _ in range(rounds // count):
                again()
            rounds %= count

    def _go_on_often(self, count: int) -> None:
        for _ in range(count):
            self._go_on()

    def _select(self) -> None:
        """The first part has its leaves then; a second one's were read as well."""
        for part in self._parts:
            self._turn(part, False, True)
        for part in self._parts[1:]:
            part.batch.run()

    def _go_on(self) -> None:
        """From there, a round further, to there."""
        if len(self._parts) == 1:
            self._parts[0].batch.run()
            self._answer_and_turn(self._parts[0])
            return
        one, other = self._parts
        one.batch.beside(one.batch.run, lambda: self._answer_and_turn(other))
        other.batch.beside(other.batch.run, lambda: self._answer_and_turn(one))

    def _finish(self) -> None:
        """From there to the end of the round."""
        self._parts[0].batch.run()
        for part in self._parts:
            self._answer_and_turn(part, selects=False)

    def _answer_and_turn(self, part: Part, selects: bool = True) -> None:
        part.batch.answer()
        self._turn(part, True, selects)
