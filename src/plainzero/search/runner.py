"""Drives a search: rounds until the budget is used up, in threads, with progress and a stop flag.

`CpuRunner` is here, `GpuRunner` in gpu/runner.py; both are a `Runner`.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games.contract import Game, RuleFault
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.config import SearchConfig
from plainzero.search.evaluate_leaves import LeafEvaluator
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.search.evaluators import Evaluator, EvaluatorError
from plainzero.search.kernels.scratch import NO_LEGAL_ACTION, NOT_A_NUMBER, NOT_ENDING, Scratch
from plainzero.search.kernels.tree import Tree
from plainzero.search.resolve_options import make_options, simulation_limit
from plainzero.search.result import SearchResult, make_results
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.thread_pool import ThreadPool
from plainzero.search.tree_memory import copy_roots
from plainzero.search.view import Clock

Progress = Callable[[int, int], None]
"""Called regularly with the simulations done and the simulations requested, over all games."""


_SECONDS_PER_CALL = 0.03  # of compiled code, between looks at progress and Ctrl-C
_MOST_ROUNDS = 1 << 30
_MOST_GROWTH = 16  # of the number of rounds, from one call to the next


class StopFlag:
    """Stops a search early from another thread; the search returns its result so far."""

    def __init__(self) -> None:
        """A flag that is not set."""
        self._is_set = False
        # By id, since arrays cannot be hashed; an entry disappears with its search.
        self._attached: weakref.WeakValueDictionary[int, NDArray[Any]] = (
            weakref.WeakValueDictionary()
        )

    def set(self) -> None:
        """Stops the searches that were given this flag."""
        self._is_set = True
        for reference in self._attached.valuerefs():  # a list, so other threads may attach
            work = reference()
            if work is not None:
                work["stop"] = 1

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._is_set

    def attach(self, work: NDArray[Any]) -> None:
        """Makes `set` write to work.stop [B], which compiled code reads before each simulation."""
        self._attached[id(work)] = work
        # After the line above: a `set` of another thread either finds `work` or is seen here.
        if self._is_set:
            work["stop"] = 1


class SearchSpec(NamedTuple):
    """What all searches of one `Searcher` have in common."""

    game: Game
    evaluator: Evaluator  # checked
    config: SearchConfig  # resolved
    cache: EvaluationCache | None = None


class Runner(Protocol):
    """One search of a batch, from its first round to its results."""

    scratch: Scratch  # in host memory; on a GPU a copy

    def run(self, states: NDArray[Any], threads: int, progress: Progress | None) -> None:
        """Searches states [B] until a budget is used up; a GPU needs no threads."""

    def results(self, clock: Clock) -> list[SearchResult]:
        """One result per game; its tree can be read until `clock` advances."""


class CpuRunner:
    """A `Runner` on the CPU.

    Args:
        spec: how to search.
        tree: empty, or with the positions to be searched as its roots.
        seed: of the random streams.
    """

    def __init__(self, spec: SearchSpec, tree: Tree, seed: int) -> None:  # noqa: D107
        self.game, self.evaluator, self.config, cache = spec
        self.tree = tree
        self.games = len(tree.roots)
        self.scratch = make_scratch(self.game, self.config, self.games, seed)
        self.options = make_options(self.config, self.game)
        self._tag = register(self.game)
        if not isinstance(self.evaluator, str):
            self._leaves = LeafEvaluator(self.game, tree, self.scratch, self.evaluator, cache)

    def run(self, states: NDArray[Any], threads: int, progress: Progress | None) -> None:
        """Searches until a budget is used up."""
        work, rounds, requested = self.scratch.work, 1, simulation_limit(self.config) * self.games
        with ThreadPool(min(threads, self.games)) as pool:
            # Evaluates the roots, whatever the budget. Compiling does not count as search time.
            unfinished = self._play_rounds(pool, states, 1)
            with _deadline(self.config.seconds, work["stop"]):
                while unfinished:
                    start = time.perf_counter()
                    unfinished = self._play_rounds(pool, states, rounds)
                    rounds = next_rounds(rounds, time.perf_counter() - start)
                    if progress is not None:
                        progress(int(work["simulations"].sum()), requested)

    def results(self, clock: Clock) -> list[SearchResult]:
        """One result per game; its tree can be read until `clock` advances."""
        return make_results(
            self.game,
            self.config,
            copy_roots(self.tree),
            self.scratch,
            self.options,
            clock,
            lambda row: (self.tree, row),
        )

    def _play_rounds(self, pool: ThreadPool, states: NDArray[Any], rounds: int) -> int:
        """Plays `rounds` rounds in each game, one if the evaluator is a function.

        Returns how many games are not finished.
        """
        if isinstance(self.evaluator, str):
            unfinished = self._run(pool, cpu.simulate_games, self.options, states, rounds)
        else:
            unfinished = self._run(pool, cpu.select_games, self.options, states)
            evaluations = self._leaves.evaluate(pool)
            if evaluations is not None:
                unfinished = self._run(pool, cpu.finish_games, self.options, *evaluations)
        check_faults(self.game, int(np.bitwise_or.reduce(self.scratch.work["faults"])))
        return unfinished

    def _run(self, pool: ThreadPool, kernel: Kernel, *arguments: Any) -> int:
        """Runs a kernel over all games, a share of them in each thread; returns the sum."""
        return pool.run(kernel, self._tag, (self.tree, self.scratch, *arguments), self.games)


def next_rounds(rounds: int, seconds: float) -> int:
    """How many rounds the next call should take, given that `rounds` took `seconds`."""
    growth = min(_SECONDS_PER_CALL / max(seconds, 1e-9), _MOST_GROWTH)
    return min(max(1, int(rounds * growth)), _MOST_ROUNDS)


@contextmanager
def _deadline(seconds: float, flags: NDArray[np.int32]) -> Iterator[None]:
    """Sets the flags after `seconds`, while compiled code runs; never for 0."""
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
    """Raises the errors that kernels could only record.

    Raises:
        EvaluatorError: for numbers that are not finite.
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
            f"{game.name} continued after max_turns={game.max_turns} plays; max_turns must be an "
            "upper bound on the length of a game"
        )
