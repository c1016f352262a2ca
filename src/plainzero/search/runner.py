"""Drives a search: rounds until the budget is used up, in threads, with progress and a way out."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.config import SearchConfig
from plainzero.search.evaluate_leaves import LeafEvaluator
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.search.evaluators import Evaluator, EvaluatorError
from plainzero.search.kernels.scratch import (
    NO_LEGAL_ACTION,
    NOT_A_NUMBER,
    NOT_ENDING,
    make_scratch,
)
from plainzero.search.resolve_options import make_options, simulation_limit
from plainzero.search.result import SearchResult, copy_roots, make_results
from plainzero.search.thread_pool import Pool
from plainzero.search.tree_memory import MOST_VISITS, ROOT, Tree
from plainzero.search.view import Clock

Progress = Callable[[int, int], None]
"""Called now and then with the simulations done and those asked for, all games together."""


_PATIENCE = 0.03  # seconds of native work between looks at progress and Ctrl-C
_MOST_ROUNDS = 1 << 30
_MOST_GROWTH = 16  # of the rounds in one call, to that in the next


class RuleFault(RuntimeError):
    """The search met a position that breaks the game contract."""


class StopFlag:
    """Ends a search early from another thread; the result so far stands."""

    def __init__(self) -> None:
        """A flag that is not set."""
        self._is_set = False
        self._attached: list[weakref.ref[NDArray[Any]]] = []

    def set(self) -> None:
        """Ends the searches that were given this flag."""
        self._is_set = True
        for reference in self._attached:
            work = reference()
            if work is not None:
                work["stop"] = 1

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._is_set

    def attach(self, work: NDArray[Any]) -> None:
        """Has `set` write to work.stop [B], where compiled code looks before each simulation."""
        self._attached.append(weakref.ref(work))
        work["stop"] = self._is_set


class Setup(NamedTuple):
    """What the searches of one searcher have in common."""

    game: Game
    evaluator: Evaluator  # checked
    config: SearchConfig  # resolved
    cache: EvaluationCache | None = None


class Run:
    """One search of a batch, from its first round to its results.

    Args:
        setup: how to search.
        tree: empty, or with the roots of the states that are asked about.
        seed: of the random streams.
    """

    def __init__(self, setup: Setup, tree: Tree, seed: int) -> None:  # noqa: D107
        self.game, self.evaluator, self.config, cache = setup
        self.tree = tree
        self.games = len(tree.roots)
        self.scratch = make_scratch(self.game, self.config, self.games, seed)
        self.options = make_options(self.config, self.game)
        self._limit = simulation_limit(self.config)
        self._tag = register(self.game)
        if not isinstance(self.evaluator, str):
            self._leaves = LeafEvaluator(self.game, tree, self.scratch, self.evaluator, cpu, cache)

    def go(self, states: NDArray[Any], threads: int, progress: Progress | None) -> None:
        """Searches until a budget is used up."""
        stop, rounds = self.scratch.work["stop"], 1
        with Pool(min(threads, self.games)) as pool:
            # Evaluates the roots, whatever the budget; compiling is not on the clock.
            self._play_rounds(pool, states, 1)
            with _deadline(self.config.seconds, stop):
                while not self._is_finished():
                    start = time.perf_counter()
                    self._play_rounds(pool, states, rounds)
                    rounds = plan_rounds(rounds, time.perf_counter() - start)
                    if progress is not None:
                        done = self.scratch.work["simulations"].sum()
                        progress(int(done), self._limit * self.games)

    def results(self, clock: Clock) -> list[SearchResult]:
        """One result a game; its tree can be looked at until `clock` goes on."""
        return make_results(
            self.game,
            self.config,
            copy_roots(self.tree),
            self.scratch,
            self.options,
            clock,
            lambda row: (self.tree, row),
        )

    def _play_rounds(self, pool: Pool, states: NDArray[Any], rounds: int) -> None:
        """Plays so many rounds in each game, or one where the evaluator is not built in."""
        if isinstance(self.evaluator, str):
            self._each(pool, cpu.simulate_games, self.options, states, rounds)
        else:
            self._each(pool, cpu.select_games, self.options, states)
            answers = self._leaves.evaluate(pool)
            if answers is not None:
                self._each(pool, cpu.finish_games, self.options, *answers)
        check_faults(self.game, int(np.bitwise_or.reduce(self.scratch.work["faults"])))

    def _each(self, pool: Pool, kernel: Any, *arguments: Any) -> None:
        """Runs a kernel over all games, a share of them in each thread of the pool."""
        pool.run(kernel, self._tag, (self.tree, self.scratch, *arguments), self.games)

    def _is_finished(self) -> bool:
        """Whether no game has anything left to do."""
        roots, work = self.tree.roots, self.scratch.work
        is_done = roots["is_proven"] | (work["stop"] != 0)
        if self._limit:
            is_done |= work["simulations"] >= self._limit
        if self.config.visits:
            is_done |= self.tree.nodes["sum_visits"][:, ROOT] >= self.config.visits
        if self.config.nodes:
            is_done |= roots["num_nodes"] >= self.config.nodes
        is_done |= self.tree.nodes["sum_visits"][:, ROOT] >= MOST_VISITS
        return bool(is_done.all())


def plan_rounds(rounds: int, seconds: float) -> int:
    """How many rounds take about as long as our patience, when the last ones took `seconds`."""
    growth = min(_PATIENCE / max(seconds, 1e-9), _MOST_GROWTH)
    return min(max(1, int(rounds * growth)), _MOST_ROUNDS)


@contextmanager
def _deadline(seconds: float, flags: NDArray[np.int32]) -> Iterator[None]:
    """Sets the flags after so many seconds, while compiled code runs."""
    if seconds <= 0:
        yield
        return
    timer = threading.Timer(seconds, flags.fill, (1,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def check_faults(game: Game, faults: int) -> None:
    """Raises what kernels could only note.

    Raises:
        EvaluatorError: for numbers that are none.
        RuleFault: for a game that breaks the contract.
    """
    if faults & NOT_A_NUMBER:
        raise EvaluatorError(
            "the evaluator returned NaN or an infinite value, or NaN or +∞ as a legal move's logit"
        )
    if faults & NO_LEGAL_ACTION:
        raise RuleFault(
            f"{game.name} reached a position that is not over and has no legal move; "
            "`plainzero check` shows which"
        )
    if faults & NOT_ENDING:
        raise RuleFault(
            f"{game.name} went on after max_turns={game.max_turns} plays; max_turns must be an "
            "upper bound on the length of a game"
        )
