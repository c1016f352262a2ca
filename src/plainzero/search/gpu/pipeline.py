"""Rounds on a GPU: while the network reads one part of the games, kernels walk the others' trees.

A round of a part is: select leaves and observe them, the network, expand and back up. What comes
between two runs of the network, `turn`, is one step. The network reads one part after the other;
what follows of a part is done apart, meanwhile, and nobody waits for it but the network's next run
for that part. All of it is recorded as graphs. The network's last layers may be small, and then
count as part of what follows. No game looks at another, so the results are the same.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from plainzero.compiler.gpu_kernels import view
from plainzero.search.evaluators import DeviceBatch, LeafArrays

# Rounds of the graphs that are recorded. Between graphs everybody waits for everybody, but
# to record a large one takes longer.
_FEW_ROUNDS, _MANY_ROUNDS = (8, 1), (64, 8, 1)
# Of a part after which two are enough: what follows of it takes no longer than another's reading.
# Somewhere between 3 tiles, where three parts were faster, and 7, where two were.
_TILES_OF_LARGE_PARTS = 6


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


def make_parts(evaluator: Any, games: int, leaves: int = 1, count: int = 0) -> list[Part]:
    """All games in `count` parts, 0: as many as are fastest, if the network leaves room for others.

    Where a tile of the network holds whole games, each part but the last is a whole number of
    tiles, so that the network takes no longer for them than for all.
    """
    games_a_tile = evaluator.at_once // leaves
    tiles = max(1, -(-games // games_a_tile)) if games_a_tile else 1
    fastest = 2 if tiles >= 2 * _TILES_OF_LARGE_PARTS else 3
    count = min(count or fastest, tiles)
    bounds = [-(-tiles * number // count) * games_a_tile for number in range(count)]
    return [
        Part(evaluator.device_batch((last - first) * leaves), first, last)
        for first, last in itertools.pairwise([*bounds, games])
    ]


class Pipeline:
    """Plays rounds of all parts."""

    def __init__(self, parts: Sequence[Part], turn: Turn, is_lasting: bool = False) -> None:
        """Nothing is compiled or recorded yet; more is recorded for one that `is_lasting`."""
        self._parts, self._turn = parts, turn
        self._sizes = _MANY_ROUNDS if is_lasting else _FEW_ROUNDS
        self._recorded: dict[int, Callable[[], None]] = {}  # by how many rounds
        self._begin: Callable[[], None] = self._select
        self._end: Callable[[], None] = self._finish

    def play(self, rounds: int) -> None:
        """Starts so many rounds, and does not wait for them; the first time, it records."""
        if rounds and not self._recorded:
            self._select()  # for real: it compiles, which no recording could
            self._finish()
            self._record()
            rounds -= 1
        if rounds:
            self._begin()
            self._go_on_for(rounds - 1)
            self._end()

    def _record(self) -> None:
        record = self._parts[0].batch.record
        self._begin, self._end = record(self._select), record(self._finish)
        for count in self._sizes:
            self._recorded[count] = record(functools.partial(self._go_on, count))

    def _go_on_for(self, rounds: int) -> None:
        """Goes on so many times, by larger graphs as long as they fit."""
        for count, go_on in self._recorded.items():
            for _ in range(rounds // count):
                go_on()
            rounds %= count

    def _select(self) -> None:
        """All parts have their leaves then."""
        for part in self._parts:
            part.batch.apart(functools.partial(self._turn, part, False, True))
        self._join()

    def _go_on(self, rounds: int) -> None:
        """From there, so many rounds further, to there."""
        for _ in range(rounds):
            self._read(selects=True)
        self._join()

    def _finish(self) -> None:
        """From there to the end of the round."""
        self._read(selects=False)
        self._join()

    def _read(self, selects: bool) -> None:
        """Has the network read all parts, and begins what follows of each."""
        for part in self._parts:
            part.batch.join()
            part.batch.run()
            part.batch.apart(functools.partial(self._answer_and_turn, part, selects))

    def _answer_and_turn(self, part: Part, selects: bool) -> None:
        part.batch.answer()
        self._turn(part, True, selects)

    def _join(self) -> None:
        for part in self._parts:
            part.batch.join()
