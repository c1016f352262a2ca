"""Drives a search: rounds until the budget is used up, in threads, with progress and a way out."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tesuji.games.contract import Game
from tesuji.games.rules import register
from tesuji.search.config import SearchConfig
from tesuji.search.evaluators import Evaluator, EvaluatorError, evaluate
from tesuji.search.options import make_options
from tesuji.search.result import SearchResult, make_results
from tesuji.search.scratch import (
    NO_LEGAL_ACTION,
    NOT_A_NUMBER,
    NOT_ENDING,
    make_scratch,
)
from tesuji.search.tree import ROOT, Tree

Progress = Callable[[int, int], None]
"""Called now and then with the simulations done and those asked for, all games together."""

Pool = ThreadPoolExecutor | None
"""None: the calling thread does everything."""

_PATIENCE = 0.03  # seconds of native work between looks at progress and Ctrl-C
_FIRST_SIMULATIONS = 2048  # all games together, before that time is known


class RuleFault(RuntimeError):
    """The search met a position that breaks the game contract."""


class StopFlag:
    """Ends a search early from another thread; the result so far stands."""

    def __init__(self) -> None:
        """A flag that is not set."""
        self._is_set = False
        self._flags: list[NDArray[np.int32]] = []

    def set(self) -> None:
        """Ends the searches that were given this flag."""
        self._is_set = True
        for flags in self._flags:
            flags[:] = 1

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._is_set

    def attach(self, flags: NDArray[np.int32]) -> None:
        """Has `set` write 1 to `flags` [B], where compiled code looks before each simulation."""
        self._flags.append(flags)
        flags[:] = self._is_set


class Run:
    """One search of a batch, from its first round to its results.

    Args:
        game: the game.
        evaluator: checked.
        config: resolved.
        tree: empty, or with the roots of the states that are asked about.
        seed: of the random streams.
        kernels: the module `cpu` or `cuda`.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        evaluator: Evaluator,
        config: SearchConfig,
        tree: Tree,
        seed: int,
        kernels: ModuleType,
    ) -> None:
        self.game, self.evaluator, self.config, self.tree = game, evaluator, config, tree
        self.kernels = kernels
        self.games = len(tree.roots)
        self.scratch = make_scratch(game, config, self.games, seed)
        self.options = make_options(config, game, self.games)
        self._tag = register(game)

    def go(self, states: NDArray[Any], threads: int, progress: Progress | None) -> None:
        """Searches until a budget is used up."""
        parts = min(threads, self.games)
        with _deadline(self.config.seconds, self.scratch.work["stop"]), _pool(parts) as pool:
            if isinstance(self.evaluator, str):
                self._run_natively(states, pool, progress)
            else:
                self._run_with_evaluator(states, pool, progress)

    def results(self) -> list[SearchResult]:
        """One result a game."""
        return make_results(self.game, self.config, self.tree, self.scratch, self.options)

    def _run_natively(self, states: NDArray[Any], pool: Pool, progress: Progress | None) -> None:
        rounds = max(1, _FIRST_SIMULATIONS // self.games)
        while not self._is_finished():
            start = time.perf_counter()
            self._each(pool, self.kernels.simulate_games, self.options, states, rounds)
            self._after_round(progress)
            if time.perf_counter() - start < _PATIENCE:
                rounds *= 2

    def _run_with_evaluator(
        self, states: NDArray[Any], pool: Pool, progress: Progress | None
    ) -> None:
        assert not isinstance(self.evaluator, str)
        while not self._is_finished():
            self._each(pool, self.kernels.select_games, self.options, states)
            counts = self.scratch.work["num_leaves"]
            total = int(counts.sum())
            if total:
                rows = np.cumsum(counts) - counts
                planes = np.zeros((total, *self.game.observation_shape), np.float32)
                self._each(pool, self.kernels.observe_games, planes, rows)
                logits, values = evaluate(self.evaluator, planes, self.game)
                self._each(pool, self.kernels.finish_games, self.options, logits, values, rows)
            self._after_round(progress)

    def _each(self, pool: Pool, kernel: Any, *arguments: Any) -> None:
        """Runs a kernel over all games, a share of them in each thread of the pool."""
        arguments = (self.tree, self.scratch, *arguments)
        if pool is None:
            kernel(self._tag, *arguments, 0, self.games)
            return
        bounds = np.linspace(0, self.games, pool._max_workers + 1).astype(int).tolist()
        jobs = [
            pool.submit(kernel, *(self._tag, *arguments, first, last))
            for first, last in itertools.pairwise(bounds)
        ]
        for job in jobs:
            job.result()

    def _is_finished(self) -> bool:
        """Whether no game has anything left to do."""
        roots, config = self.tree.roots, self.config
        is_done = roots["is_proven"] | (self.scratch.work["stop"] != 0)
        if config.simulations:
            is_done |= self.scratch.work["simulations"] >= config.simulations
        if config.nodes:
            is_done |= roots["num_nodes"] >= config.nodes
        # The root is made and evaluated in any case; before that its numbers mean nothing.
        is_ready = self.scratch.work["has_begun"] & (self.tree.nodes["num_edges"][:, ROOT] > 0)
        return bool((is_done & is_ready).all())

    def _after_round(self, progress: Progress | None) -> None:
        _check_faults(self.game, int(np.bitwise_or.reduce(self.scratch.work["faults"])))
        if progress is not None:
            progress(
                int(self.scratch.work["simulations"].sum()), self.config.simulations * self.games
            )


@contextmanager
def _pool(threads: int) -> Iterator[Pool]:
    if threads < 2:
        yield None
    else:
        with ThreadPoolExecutor(threads) as pool:
            yield pool


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


def _check_faults(game: Game, faults: int) -> None:
    if faults & NOT_A_NUMBER:
        raise EvaluatorError(
            "the evaluator returned NaN or +∞ for a value or for a legal move's logit"
        )
    if faults & NO_LEGAL_ACTION:
        raise RuleFault(
            f"{game.name} reached a position that is not over and has no legal move; "
            "`tesuji check` shows which"
        )
    if faults & NOT_ENDING:
        raise RuleFault(
            f"{game.name} went on after max_turns={game.max_turns} plays; max_turns must be an "
            "upper bound on the length of a game"
        )
