"""Has the leaves that wait in a tree evaluated, all games together, with or without a cache."""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.games.rules import observe, register
from plainzero.search.evaluation_cache import LOOKUPS, STORED, EvaluationCache, recall, words_of
from plainzero.search.evaluators import evaluate
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.thread_pool import Pool
from plainzero.search.tree_memory import Tree


class Answers(NamedTuple):
    """What the evaluator says of the leaves; game b's stand in rows[b] and on."""

    logits: NDArray[np.float32]  # [R, A]
    values: NDArray[np.float32]  # [R, 1 or players]
    rows: NDArray[np.int64]  # [B]


class Round(NamedTuple):
    """One round of leaves on its way through the cache. R rows, a leaf each; B games."""

    answers: Answers
    places: NDArray[np.int32]  # [R] each leaf's place among the misses, STORED where it is answered
    misses: NDArray[Any]  # [R] see miss_dtype


def miss_dtype() -> np.dtype[Any]:
    """A position that the evaluator must see, and the entry of the cache that waits for it."""
    return record_dtype(game=np.int64, node=np.int64, bucket=np.int64, way=np.int64)


class LeafEvaluator:
    """Evaluates the leaves that a round has selected in each game.

    Use: `select_games`, then `evaluate`, then `finish_games` with what it returned. The arrays of
    an answer are good until the next call.

    Args:
        game: the game.
        tree: what the leaves are in.
        scratch: the search's working memory, which says which nodes are leaves.
        evaluator: a function from observations to logits and values.
        kernels: the module `cpu` or `cuda`.
        cache: of that game, on the CPU only.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        tree: Tree,
        scratch: Scratch,
        evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]],
        kernels: ModuleType,
        cache: EvaluationCache | None = None,
    ) -> None:
        self.game, self.tree, self.scratch, self.evaluator = game, tree, scratch, evaluator
        self.kernels, self.cache = kernels, cache
        self._tag = register(game)
        if cache is not None:
            self._words = words_of(tree.states)
            self._round = _make_round(game, scratch)

    def evaluate(self, pool: Pool | None = None) -> Answers | None:
        """The answers to all leaves of this round, or None where no game has any."""
        counts = self.scratch.work["num_leaves"]
        if not counts.any():
            return None
        pool = pool or Pool()
        if self.cache is None:
            return self._ask_for_all(pool, counts)
        with self.cache.used_by(self.evaluator):
            return self._ask_for_misses(pool, self.cache)

    def _ask_for_all(self, pool: Pool, counts: NDArray[np.int64]) -> Answers:
        ends = counts.cumsum()
        rows = ends - counts
        planes = self._blank_planes(int(ends[-1]))
        arguments = (self.tree, self.scratch, planes, rows)
        pool.run(self.kernels.observe_games, self._tag, arguments, len(rows))
        return Answers(*evaluate(self.evaluator, planes, self.game), rows)

    def _ask_for_misses(self, pool: Pool, cache: EvaluationCache) -> Answers:
        kernels, tag, table = self.kernels, self._tag, cache.table
        self._fit_columns(cache)
        count = kernels.recall_games(tag, self.scratch, table, self._words, self._round)
        if count:
            planes = self._blank_planes(count)
            arguments = (self.tree, self._round.misses, planes)
            pool.run(kernels.observe_misses, tag, arguments, count)
            logits, values = evaluate(self.evaluator, planes, self.game)
            cache.check_columns(values.shape[1])
            self._fit_columns(cache)
            kernels.store_answers(tag, self.scratch, table, self._round, logits, values)
        return self._round.answers

    def _blank_planes(self, count: int) -> NDArray[np.float32]:
        """New memory every time: what the evaluator is given is the evaluator's."""
        return np.zeros((count, *self.game.observation_shape), np.float32)

    def _fit_columns(self, cache: EvaluationCache) -> None:
        """Gives the answers as many values a leaf as the evaluator does, where that is known."""
        answers, columns = self._round.answers, cache.value_columns
        if columns not in (0, answers.values.shape[1]):
            values = np.zeros((len(answers.values), columns), np.float32)
            self._round = self._round._replace(answers=answers._replace(values=values))


def _make_round(game: Game, scratch: Scratch) -> Round:
    """Room for as many leaves as a round can have."""
    size = scratch.leaves.size
    answers = Answers(
        logits=np.zeros((size, game.num_actions), np.float32),
        values=np.zeros((size, game.num_players), np.float32),
        rows=np.zeros(len(scratch.leaves), np.int64),
    )
    return Round(answers, np.zeros(size, np.int32), np.zeros(size, miss_dtype()))


@kernel_function
def recall_leaves(scratch: Any, table: Any, words: Any, leaves: Any) -> Any:
    """Answers the leaves of all games that the cache knows; returns how many others there are.

    Those get places among the misses, and equal ones the same place.
    """
    begun, row, count = table.counts[LOOKUPS], 0, 0
    for b in range(scratch.work.shape[0]):
        leaves.answers.rows[b] = row
        for k in range(scratch.work[b].num_leaves):
            node = scratch.leaves[b, k]
            bucket, way, is_known = recall(table, words[b, node], begun)
            entry = table.entries[bucket, way]
            if not is_known:
                entry.place = count
                miss = leaves.misses[count]
                miss.game, miss.node, miss.bucket, miss.way = b, node, bucket, way
                count += 1
            leaves.places[row] = entry.place
            if entry.place == STORED:
                copy_numbers(entry.logits, leaves.answers.logits[row])
                copy_numbers(entry.values, leaves.answers.values[row])
            row += 1
    return count


@kernel_function
def observe_miss(tree: Any, miss: Any, planes: Any) -> None:
    """Writes what the evaluator sees of a miss to zeroed planes."""
    observe(tree.states[miss.game, miss.node], planes)


@kernel_function
def store_evaluations(scratch: Any, table: Any, leaves: Any, logits: Any, values: Any) -> None:
    """Puts what the evaluator said of the misses into the cache, and into the rows that wait."""
    for place in range(logits.shape[0]):
        miss = leaves.misses[place]
        # Where misses of this round took one entry from each other, it is the last one's.
        entry = table.entries[miss.bucket, miss.way]
        copy_numbers(logits[place], entry.logits)
        copy_numbers(values[place], entry.values)
        entry.place = STORED
    last = scratch.work.shape[0] - 1
    for row in range(leaves.answers.rows[last] + scratch.work[last].num_leaves):
        place = leaves.places[row]
        if place != STORED:
            copy_numbers(logits[place], leaves.answers.logits[row])
            copy_numbers(values[place], leaves.answers.values[row])


@kernel_function
def copy_numbers(source: Any, target: Any) -> None:
    """Copies as many as both have room for."""
    for i in range(min(source.shape[0], target.shape[0])):
        target[i] = source[i]
