"""Rounds on a GPU: while the network evaluates some games, kernels walk the trees of others.

A round selects leaves and observes them, runs the network, then expands and backs up. What happens
between two runs of the network is one tree step. Games are split into parts; the network evaluates
one part after the other, and the tree steps run on side streams, so that only the network's next
run for the same part waits for them. Everything is recorded as graphs. If the network's last layers
are small, they count as part of the tree step. Games are independent, so results stay the same.
"""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from plainzero.compiler.gpu_memory import view
from plainzero.search.evaluators import GpuEvaluator, LeafArrays, LeafBatch

# Rounds of the recorded graphs. All streams join between graphs, but recording a long one is slow.
_FEW_ROUNDS, _MANY_ROUNDS = (8, 1), (64, 8, 1)
# With parts of this size two are enough: a tree step takes no longer than the other part's run.
# Measured: three parts were faster with 3 tiles each, two with 7.
_TILES_OF_LARGE_PARTS = 6


class Part(NamedTuple):
    """Games `first` to `last` − 1, and the batch in which the network evaluates their leaves."""

    batch: LeafBatch
    first: int
    last: int

    def leaves(self) -> LeafArrays:
        """The arrays of the batch, for kernels."""
        planes, *answers = map(view, (self.batch.planes, self.batch.logits, self.batch.values))
        cells = planes.reshape(planes.shape[0], math.prod(planes.shape[1:]))
        return LeafArrays(planes, cells, *answers)


TreeStep = Callable[[Part, bool, bool], None]
"""Starts to finish a part's leaves (if the first flag is set), then to select the next ones."""


def make_parts(evaluator: GpuEvaluator, games: int, leaves: int = 1, count: int = 0) -> list[Part]:
    """All games in `count` parts; 0 chooses the fastest number the network leaves room for.

    If a tile of the network holds whole games, each part but the last is a whole number of tiles,
    so that the network takes no longer for the parts than for all games at once.
    """
    games_per_tile = evaluator.rows_at_once // leaves
    tiles = max(1, -(-games // games_per_tile)) if games_per_tile else 1
    fastest = 2 if tiles >= 2 * _TILES_OF_LARGE_PARTS else 3
    count = min(count or fastest, tiles)
    bounds = [-(-tiles * number // count) * games_per_tile for number in range(count)]
    return [
        Part(evaluator.leaf_batch((last - first) * leaves), first, last)
        for first, last in itertools.pairwise([*bounds, games])
    ]


class Pipeline:
    """Plays rounds of all parts.

    Args:
        parts: of `make_parts`.
        step_trees: starts the kernels between two runs of the network.
        is_repeated: whether it is used often, so that recording longer graphs pays.
    """

    def __init__(  # noqa: D107
        self, parts: Sequence[Part], step_trees: TreeStep, is_repeated: bool = False
    ) -> None:
        self._parts, self._step_trees = parts, step_trees
        self._sizes = _MANY_ROUNDS if is_repeated else _FEW_ROUNDS
        self._recorded: dict[int, Callable[[], None]] = {}  # by number of rounds
        self._begin: Callable[[], None] = self._select
        self._end: Callable[[], None] = self._finish

    def play(self, rounds: int) -> None:
        """Starts `rounds` rounds and does not wait for them; the first call compiles and records.

        Leaves are selected before the first round and finished after the last.
        """
        if rounds and not self._recorded:
            self._select()  # not recorded: this compiles, which a recording cannot
            self._finish()
            self._record()
            rounds -= 1
        if rounds:
            self._begin()
            self._continue(rounds - 1)
            self._end()

    def _record(self) -> None:
        record = self._parts[0].batch.record
        self._begin, self._end = record(self._select), record(self._finish)
        for count in self._sizes:
            self._recorded[count] = record(functools.partial(self._play_middle, count))

    def _continue(self, rounds: int) -> None:
        """Plays `rounds` rounds by replaying the largest graphs that fit."""
        for count, replay in self._recorded.items():
            for _ in range(rounds // count):
                replay()
            rounds %= count

    def _select(self) -> None:
        """Selects the leaves of all parts."""
        for part in self._parts:
            part.batch.on_side_stream(functools.partial(self._step_trees, part, False, True))
        self._join()

    def _play_middle(self, rounds: int) -> None:
        """Plays `rounds` rounds; leaves are selected before and after."""
        for _ in range(rounds):
            self._evaluate(selects=True)
        self._join()

    def _finish(self) -> None:
        """Evaluates the selected leaves and backs them up."""
        self._evaluate(selects=False)
        self._join()

    def _evaluate(self, selects: bool) -> None:
        """Runs the network on all parts, and starts the tree step of each."""
        for part in self._parts:
            part.batch.join_side_stream()
            part.batch.run()
            part.batch.on_side_stream(functools.partial(self._answer_and_step, part, selects))

    def _answer_and_step(self, part: Part, selects: bool) -> None:
        part.batch.answer()
        self._step_trees(part, True, selects)

    def _join(self) -> None:
        for part in self._parts:
            part.batch.join_side_stream()
