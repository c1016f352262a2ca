"""Drives a search whose tree is in GPU memory; what the host reads is copied back.

Between the first and the last simulation of a move the host only starts work: with an evaluator on
the same GPU, all rounds of a move are replays of recorded graphs.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.gpu_memory import download, put, upload
from plainzero.games.rules import register
from plainzero.search.evaluators import GpuEvaluator, HostEvaluator, LeafArrays, evaluate
from plainzero.search.gpu import kernels
from plainzero.search.gpu.pipeline import Part, Pipeline, TreeStep, make_parts
from plainzero.search.gpu.trees import fetch_roots, fetch_tree
from plainzero.search.gpu.warp_lanes import lanes_for
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import Tree, edges_per_node
from plainzero.search.resolve_options import as_arguments, make_options, simulation_limit
from plainzero.search.result import SearchResult, make_results
from plainzero.search.runner import Progress, SearchSpec, check_faults, next_rounds
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.view import Clock

# All games wait for the slowest: each does one simulation per round, and none does many.
_KNOWN_RESULTS = 1
_MOST_ROUNDS = 256  # before the host looks again
_IS_FINISHED, _SIMULATIONS, _FAULTS, _LEAVES = range(4)  # columns of a report


class GpuRunner:
    """A `Runner` on a GPU.

    Args:
        spec: how to search.
        tree: on the GPU; empty, or with the positions to be searched as its roots.
        seed: of the random streams.
        is_repeated: whether the search is restarted often, so that longer graphs pay.
    """

    def __init__(  # noqa: D107
        self, spec: SearchSpec, tree: Tree, seed: int, is_repeated: bool = False
    ) -> None:
        self.game, self.evaluator, self.config = spec.game, spec.evaluator, spec.config
        self.tree = tree
        self.games = tree.roots.shape[0]
        # As last copied from the GPU.
        self.scratch = make_scratch(self.game, self.config, self.games, seed)
        self.options = make_options(self.config, self.game, _KNOWN_RESULTS)
        self._scratch = Scratch(*map(upload, self.scratch))
        self._options = as_arguments(self.options)
        self._report = upload(np.zeros((self.games, 4), np.int64))
        self._tag = register(self.game)
        self._lanes = lanes_for(edges_per_node(self.game), self.games)
        self._is_repeated = is_repeated
        self._parts: list[Part] = []

    def run(self, states: NDArray[Any], threads: int, progress: Progress | None) -> None:
        """Searches until a budget is used up."""
        self.prepare(states)
        config, stop = self.config, self.scratch.work["stop"]
        put(self.scratch.work, self._scratch.work)  # with a `stop` that was set before
        self._play(1)  # evaluates the roots, whatever the budget; compiling is not search time
        start = time.perf_counter()
        rounds, is_watched = 1, progress is not None or config.seconds > 0
        if not is_watched:  # all at once, or as many as `stop` may have to wait for
            wanted = config.simulations or config.visits or config.nodes
            rounds = min(-(-wanted // config.leaves), _MOST_ROUNDS)
        while not self._is_finished() and not stop.any():
            begun = time.perf_counter()
            if config.seconds and begun - start >= config.seconds:
                break
            self._play(rounds)
            if not is_watched:
                continue
            report = download(self._report)
            rounds = next_rounds(rounds, time.perf_counter() - begun)
            if progress is not None:
                self._fetch_scratch()
                limit = simulation_limit(config)
                progress(int(report[:, _SIMULATIONS].sum()), limit * self.games)
        self._fetch_scratch()

    def results(self, clock: Clock) -> list[SearchResult]:
        """One result per game; its tree can be read until `clock` advances."""
        return make_results(
            self.game,
            self.config,
            fetch_roots(self.game, self.config, self.tree),
            self.scratch,
            self.options,
            clock,
            lambda row: (fetch_tree(self.tree, row), 0),
        )

    def prepare(self, states: NDArray[Any]) -> None:
        """Uploads the states [B] to search; nothing is started yet."""
        self._play = self._make_play(upload(states))

    def restart(self) -> None:
        """Starts a new search of the prepared states in empty trees; does not wait for it."""
        stream = self._parts[0].batch.stream() if self._parts else 0
        kernels.clear_games(self._tag, self.tree, self._scratch, 0, self.games, stream=stream)
        self._play(self.config.simulations + 1)

    def _make_play(self, states: Any) -> Callable[[int], None]:
        """A function that plays a number of rounds, then reports."""
        evaluator, arrays = self.evaluator, (self.tree, self._scratch, self._options)

        def report(stream: int = 0) -> None:
            kernels.report_games(self._tag, *arrays, self._report, 0, self.games, stream=stream)

        if isinstance(evaluator, str):

            def play(rounds: int) -> None:
                kernels.simulate_games(
                    self._tag, *arrays, states, rounds, 0, self.games, lanes=self._lanes
                )
                report()

            return play
        if isinstance(evaluator, GpuEvaluator):
            self._parts = parts = make_parts(evaluator, self.games, self.config.leaves)
            pipeline = Pipeline(parts, self._make_tree_step(states), self._is_repeated)

            def play_recorded(rounds: int) -> None:
                pipeline.play(rounds)
                report(parts[0].batch.stream())

            return play_recorded
        return lambda _: self._play_round_with_host(evaluator, states, report)

    def _make_tree_step(self, states: Any) -> TreeStep:
        arrays = (self.tree, self._scratch, self._options, states)
        largest = max(part.last - part.first for part in self._parts)
        lanes = lanes_for(edges_per_node(self.game), largest, is_beside=len(self._parts) > 1)

        def step_trees(part: Part, finishes: bool, selects: bool) -> None:
            kernels.play_round(
                self._tag,
                *arrays,
                part.leaves(),
                finishes,
                selects,
                part.first,
                part.last,
                lanes=lanes,
                stream=part.batch.stream(),
            )

        return step_trees

    def _play_round_with_host(
        self, evaluator: HostEvaluator, states: Any, report: Callable[[], None]
    ) -> None:
        """One round with an evaluator that needs NumPy arrays: leaves are copied there and back."""
        arrays, size = (self.tree, self._scratch, self._options, states), self.scratch.leaves.size
        shape = self.game.observation_shape

        def step_trees(leaves: LeafArrays, finishes: bool, selects: bool) -> None:
            steps = (finishes, selects, 0, self.games)
            kernels.play_round(self._tag, *arrays, leaves, *steps, lanes=self._lanes)

        def rows(*shape: int) -> Any:
            return upload(np.zeros((size, *shape), np.float32))

        planes = rows(*shape)
        cells = planes.reshape(size, math.prod(shape))
        step_trees(LeafArrays(planes, cells, rows(self.game.num_actions), rows(1)), False, True)
        report()
        counts = download(self._report)[:, _LEAVES]
        if counts.any():
            chosen = np.flatnonzero(np.arange(self.config.leaves) < counts[:, None])
            evaluations = evaluate(evaluator, download(planes)[chosen], self.game)
            spread = [np.zeros((size, array.shape[1]), np.float32) for array in evaluations]
            for target, array in zip(spread, evaluations, strict=True):
                target[chosen] = array
            step_trees(LeafArrays(planes, cells, *map(upload, spread)), True, False)
        report()

    def _is_finished(self) -> bool:
        """Whether every game is finished.

        Raises:
            RuleFault: if the game breaks its contract.
            EvaluatorError: if the evaluator returned something that is not finite.
        """
        report = download(self._report)
        check_faults(self.game, int(np.bitwise_or.reduce(report[:, _FAULTS])))
        return bool(report[:, _IS_FINISHED].all())

    def _fetch_scratch(self) -> None:
        """Copies the working memory to the host, except `stop`, which another thread may set."""
        for name, theirs in self._scratch._asdict().items():
            ours, fetched = getattr(self.scratch, name), download(theirs)
            if name != "work":
                np.copyto(ours, fetched)
                continue
            for field in set(ours.dtype.names or ()) - {"stop"}:
                ours[field] = fetched[field]
