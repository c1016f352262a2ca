"""Evaluates the selected leaves of all games together, with or without a cache."""

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.evaluation_cache import EvaluationCache, words_of
from plainzero.search.evaluators import HostEvaluator, evaluate
from plainzero.search.kernels.cached_leaves import CachedRound, Evaluations, miss_dtype
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import Tree
from plainzero.search.thread_pool import ThreadPool


class LeafEvaluator:
    """Evaluates the leaves that a round has selected in each game.

    Call `select_games`, then `evaluate`, then `finish_games` with the result, whose arrays are
    valid until the next call.

    Args:
        game: the game.
        tree: contains the leaves.
        scratch: the search's working memory, which lists the leaves.
        evaluator: the evaluator.
        cache: of the same game, if any.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        tree: Tree,
        scratch: Scratch,
        evaluator: HostEvaluator,
        cache: EvaluationCache | None = None,
    ) -> None:
        self.game, self.tree, self.scratch, self.evaluator = game, tree, scratch, evaluator
        self.cache = cache
        self._tag = register(game)
        if cache is not None:
            self._words = words_of(tree.states)
            self._round = _make_round(game, scratch)

    def evaluate(self, pool: ThreadPool | None = None) -> Evaluations | None:
        """The evaluations of all leaves of this round, or None if no game has any."""
        counts = self.scratch.work["num_leaves"]
        if not counts.any():
            return None
        pool = pool or ThreadPool()
        if self.cache is None:
            return self._evaluate_all(pool, counts)
        with self.cache.used_by(self.evaluator):
            return self._evaluate_misses(pool, self.cache)

    def _evaluate_all(self, pool: ThreadPool, counts: NDArray[np.int64]) -> Evaluations:
        ends = counts.cumsum()
        rows = ends - counts
        planes = self._blank_planes(int(ends[-1]))
        arguments = (self.tree, self.scratch, planes, rows)
        pool.run(cpu.observe_games, self._tag, arguments, len(rows))
        return Evaluations(*evaluate(self.evaluator, planes, self.game), rows)

    def _evaluate_misses(self, pool: ThreadPool, cache: EvaluationCache) -> Evaluations:
        tag, table = self._tag, cache.table
        self._fit_columns(cache)
        count = cpu.recall_games(tag, self.scratch, table, self._words, self._round)
        if count:
            planes = self._blank_planes(count)
            arguments = (self.tree, self._round.misses, planes)
            pool.run(cpu.observe_misses, tag, arguments, count)
            logits, values = evaluate(self.evaluator, planes, self.game)
            cache.check_columns(values.shape[1])
            self._fit_columns(cache)
            cpu.store_misses(tag, self.scratch, table, self._round, logits, values)
        return self._round.evaluations

    def _blank_planes(self, count: int) -> NDArray[np.float32]:
        """Zeros in new memory each time, because the evaluator may keep its input."""
        return np.zeros((count, *self.game.observation_shape), np.float32)

    def _fit_columns(self, cache: EvaluationCache) -> None:
        """Makes room for as many values per leaf as the evaluator returns, once that is known."""
        evaluations, columns = self._round.evaluations, cache.value_columns
        if columns not in (0, evaluations.values.shape[1]):
            values = np.zeros((len(evaluations.values), columns), np.float32)
            self._round = self._round._replace(evaluations=evaluations._replace(values=values))


def _make_round(game: Game, scratch: Scratch) -> CachedRound:
    """Room for the most leaves that a round can have."""
    size = scratch.leaves.size
    evaluations = Evaluations(
        logits=np.zeros((size, game.num_actions), np.float32),
        values=np.zeros((size, game.num_players), np.float32),
        rows=np.zeros(len(scratch.leaves), np.int64),
    )
    return CachedRound(evaluations, np.zeros(size, np.int32), np.zeros(size, miss_dtype()))
