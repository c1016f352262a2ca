"""Rounds on a GPU: while the network reads one part of the games, kernels walk the others' trees.

A round of a part is: `before` (select leaves, observe them), the network, `after` (expand, back
up). With two parts the same round is played a little earlier in one than in the other, and all of
it is recorded as one graph. The network's last layers are small, so they count as part of what
follows. No game looks at another, so the results are the same.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tesuji.search.evaluators import DeviceBatch

_ROUNDS_OF_A_GRAPH = 8

FEWEST_TILES = 10
"""Tiles of the network from which on two parts are faster than one: 16,384 games of Connect Four
by 2 %, and 8,192 not; see docs/measurements.md."""


class Part(NamedTuple):
    """Games `first` to `last` − 1, and the room in which the network reads their leaves."""

    batch: DeviceBatch
    first: int
    last: int


Step = Callable[[Part, int], None]
"""Starts something for a part of the games, on a stream."""


def make_parts(evaluator: Any, games: int, leaves: int = 1) -> list[Part]:
    """All games in one part, or in two where the network leaves room for other kernels.

    The first part then is a whole number of the network's tiles, so that two parts take it no
    longer than one.
    """
    bounds = [0, games]
    tiles = -(-games * leaves // evaluator.at_once) if evaluator.at_once else 1
    if tiles >= FEWEST_TILES:
        bounds.insert(1, tiles // 2 * evaluator.at_once // leaves)
    return [
        Part(evaluator.device_batch((last - first) * leaves), first, last)
        for first, last in itertools.pairwise(bounds)
    ]


class Pipeline:
    """Plays rounds of all parts."""

    def __init__(self, parts: Sequence[Part], before: Step, after: Step) -> None:
        """One part or two."""
        self._parts, self._before, self._after = parts, before, after
        self._recorded: dict[int, Callable[[], None]] = {}  # by how many repetitions

    def play(self, rounds: int) -> None:
        """Starts so many rounds, and does not wait for them."""
        if rounds and not self._recorded:
            self._play_once()  # for real: it compiles, which no recording could
            self._record()
            rounds -= 1
        if not rounds:
            return
        if len(self._parts) == 1:
            self._repeat(rounds)
            return
        # The first part has its leaves, the second's were read: so every repetition begins.
        one, other = self._parts
        self._select(one)
        self._select(other)
        other.batch.run()
        self._repeat(rounds - 1)
        one.batch.run()
        self._finish(one)
        self._finish(other)

    def _record(self) -> None:
        """Records one repetition, and several together: between graphs the GPU pauses."""
        record = self._parts[0].batch.record
        for count in (_ROUNDS_OF_A_GRAPH, 1):
            self._recorded[count] = record(functools.partial(self._do, count))

    def _repeat(self, rounds: int) -> None:
        """Plays so many repetitions, by the larger graph as long as it fits."""
        for count, again in self._recorded.items():
            for _ in range(rounds // count):
                again()
            rounds %= count

    def _do(self, count: int) -> None:
        for _ in range(count):
            self._repeated()

    def _play_once(self) -> None:
        for part in self._parts:
            self._select(part)
            part.batch.run()
            self._finish(part)

    def _repeated(self) -> None:
        if len(self._parts) == 1:
            self._play_once()
            return
        one, other = self._parts
        one.batch.beside(one.batch.run, lambda: self._go_on(other))
        other.batch.beside(other.batch.run, lambda: self._go_on(one))

    def _go_on(self, part: Part) -> None:
        self._finish(part)
        self._select(part)

    def _select(self, part: Part) -> None:
        part.batch.clear()
        self._before(part, part.batch.stream())

    def _finish(self, part: Part) -> None:
        part.batch.answer()
        self._after(part, part.batch.stream())
