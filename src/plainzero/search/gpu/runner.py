"""Drives a search whose tree lies in the memory of a GPU; what is looked at comes back from there.

Between the first and the last simulation of a move the host only starts work: with an evaluator on
the same GPU all rounds of a move are replays of recorded graphs.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.gpu_kernels import download, empty, put, upload
from plainzero.games.contract import Game
from plainzero.games.rules import register
from plainzero.search.config import SearchConfig
from plainzero.search.evaluators import LeafArrays, evaluate
from plainzero.search.gpu import kernels as cuda
from plainzero.search.gpu.pipeline import Part, Pipeline, Turn, make_parts
from plainzero.search.gpu.warp_lanes import lanes_for
from plainzero.search.kernels.scratch import Scratch, make_scratch
from plainzero.search.resolve_options import as_arguments, make_options, resolve, simulation_limit
from plainzero.search.result import SearchResult, make_results
from plainzero.search.runner import Progress, Setup, check_faults, plan_rounds
from plainzero.search.tree_memory import (
    Memory,
    Tree,
    TreeSize,
    edges_per_node,
    make_tree,
    plan_whole_tree,
)
from plainzero.search.view import Clock

# All games wait for the slowest one: so each does one simulation a round, and none does many.
_KNOWN_RESULTS = 1
_MOST_ROUNDS = 256  # before the host looks again
_IS_FINISHED, _SIMULATIONS, _FAULTS, _LEAVES = range(4)  # columns of a report


def _room(shape: tuple[int, ...], dtype: Any) -> Any:
    try:
        return empty(shape, dtype)
    except MemoryError:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        raise ValueError(
            f"the GPU does not give {size:,} bytes to the tree; search fewer games side by side, "
            "or set a smaller max_bytes"
        ) from None


DEVICE = Memory(empty=_room, upload=upload)
"""The memory of the GPU."""


class DeviceRun:
    """One search of a batch on the GPU, from its first round to its results.

    Args:
        setup: how to search.
        tree: on the GPU; empty, or with the roots of the states that are asked about.
        seed: of the random streams.
    """

    def __init__(self, setup: Setup, tree: Tree, seed: int) -> None:  # noqa: D107
        self.game, self.evaluator, self.config = setup.game, setup.evaluator, setup.config
        self.tree = tree
        self.games = tree.roots.shape[0]
        # As it last came back.
        self.scratch = make_scratch(self.game, self.config, self.games, seed)
        self.options = make_options(self.config, self.game, _KNOWN_RESULTS)
        self._scratch = Scratch(*map(upload, self.scratch))
        self._options = as_arguments(self.options)
        self._report = upload(np.zeros((self.games, 4), np.int64))
        self._tag = register(self.game)
        self._lanes = lanes_for(edges_per_node(self.game), self.games)

    def go(self, states: NDArray[Any], threads: int, progress: Progress | None) -> None:
        """Searches until a budget is used up; `threads` means nothing here."""
        play = self._rounds_of(upload(states))
        config, stop = self.config, self.scratch.work["stop"]
        put(self.scratch.work, self._scratch.work)  # with a `stop` that was set before
        play(1)  # evaluates the roots, whatever the budget; compiling is not on the clock
        start = time.perf_counter()
        rounds, is_watched = 1, progress is not None or config.seconds > 0
        if not is_watched:  # all in one go, or as many as may be waited for before `stop` is seen
            wanted = config.simulations or config.visits or config.nodes
            rounds = min(-(-wanted // config.leaves), _MOST_ROUNDS)
        while not self._is_finished() and not stop.any():
            begun = time.perf_counter()
            if config.seconds and begun - start >= config.seconds:
                break
            play(rounds)
            if not is_watched:
                continue
            report = download(self._report)
            rounds = plan_rounds(rounds, time.perf_counter() - begun)
            if progress is not None:
                self._fetch_scratch()
                limit = simulation_limit(config)
                progress(int(report[:, _SIMULATIONS].sum()), limit * self.games)
        self._fetch_scratch()

    def results(self, clock: Clock) -> list[SearchResult]:
        """One result a game; its tree can be looked at until `clock` goes on."""
        roots = fetch_roots(self.game, self.config, self.tree)
        return make_results(
            self.game,
            self.config,
            roots,
            self.scratch,
            self.options,
            clock,
            lambda row: (Tree(*(_fetch_row(array, row) for array in self.tree)), 0),
        )

    def _rounds_of(self, states: Any, is_lasting: bool = False) -> Callable[[int], None]:
        """A function that plays so many rounds, and reports; `is_lasting` where that is often."""
        evaluator, arrays = self.evaluator, (self.tree, self._scratch, self._options)

        def report(stream: int = 0) -> None:
            cuda.report_games(self._tag, *arrays, self._report, 0, self.games, stream=stream)

        if isinstance(evaluator, str):

            def play(rounds: int) -> None:
                cuda.simulate_games(
                    self._tag, *arrays, states, rounds, 0, self.games, lanes=self._lanes
                )
                report()

            return play
        if hasattr(evaluator, "device_batch"):
            self.parts = parts = make_parts(evaluator, self.games, self.config.leaves)
            pipeline = Pipeline(parts, self._turning(states), is_lasting)

            def play_recorded(rounds: int) -> None:
                pipeline.play(rounds)
                report(parts[0].batch.stream())

            return play_recorded
        return lambda rounds: self._play_with_host(states, report)

    def _turning(self, states: Any) -> Turn:
        """Finishes the leaves of a part of the games, and selects the next ones."""
        arrays = (self.tree, self._scratch, self._options, states)
        largest = max(part.last - part.first for part in self.parts)
        lanes = lanes_for(edges_per_node(self.game), largest, is_beside=len(self.parts) > 1)

        def turn(part: Part, finishes: bool, selects: bool) -> None:
            cuda.play_round(
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

        return turn

    def _play_with_host(self, states: Any, report: Callable[[], None]) -> None:
        """One round with an evaluator that wants NumPy arrays: leaves go there and back."""
        arrays, size = (self.tree, self._scratch, self._options, states), self.scratch.leaves.size
        shape = self.game.observation_shape

        def turn(leaves: LeafArrays, finishes: bool, selects: bool) -> None:
            steps = (finishes, selects, 0, self.games)
            cuda.play_round(self._tag, *arrays, leaves, *steps, lanes=self._lanes)

        def rows(*shape: int) -> Any:
            return upload(np.zeros((size, *shape), np.float32))

        planes = rows(*shape)
        cells = planes.reshape(size, math.prod(shape))
        turn(LeafArrays(planes, cells, rows(self.game.num_actions), rows(1)), False, True)
        report()
        counts = download(self._report)[:, _LEAVES]
        if counts.any():
            asked = np.arange(self.config.leaves) < counts[:, None]
            chosen = np.flatnonzero(asked)
            assert not isinstance(self.evaluator, str)
            given = evaluate(self.evaluator, download(planes)[chosen], self.game)
            spread = [np.zeros((size, answer.shape[1]), np.float32) for answer in given]
            for answers, answer in zip(spread, given, strict=True):
                answers[chosen] = answer
            turn(LeafArrays(planes, cells, *map(upload, spread)), True, False)
        report()

    def _is_finished(self) -> bool:
        """Whether no game has anything left to do.

        Raises:
            RuleFault: when the game breaks its contract.
            EvaluatorError: when the evaluator returned something else than numbers.
        """
        report = download(self._report)
        check_faults(self.game, int(np.bitwise_or.reduce(report[:, _FAULTS])))
        return bool(report[:, _IS_FINISHED].all())

    def _fetch_scratch(self) -> None:
        """Brings the working memory back, but for `stop`, which another thread may set here."""
        for name, theirs in self._scratch._asdict().items():
            ours, fetched = getattr(self.scratch, name), download(theirs)
            if name != "work":
                np.copyto(ours, fetched)
                continue
            for field in set(ours.dtype.names or ()) - {"stop"}:
                ours[field] = fetched[field]


class DeviceSearch:
    """The same positions searched again and again with an evaluator on the GPU, for measuring.

    Args:
        game: the game.
        evaluator: has a `device_batch`.
        config: has a number of simulations.
        states: [B] where the searches begin.

    Raises:
        ValueError: when there is no room for whole trees, in which all leaves are kept.
    """

    def __init__(  # noqa: D107
        self, game: Game, evaluator: Any, config: SearchConfig, states: NDArray[Any]
    ) -> None:
        config, games = resolve(config, evaluator, "cuda"), len(states)
        tree = make_tree(game, config, games, plan_whole_tree(game, config, games), DEVICE)
        self._run = DeviceRun(Setup(game, evaluator, config, None), tree, 0)
        self._play = self._run._rounds_of(upload(states), is_lasting=True)
        self._states = states

    def run(self) -> None:
        """Starts one search of each position, and does not wait for it."""
        run = self._run
        stream = run.parts[0].batch.stream()
        cuda.clear_games(run._tag, run.tree, run._scratch, 0, run.games, stream=stream)
        self._play(run.config.simulations + 1)

    def observations(self) -> NDArray[np.float32]:
        """[B, *shape] what a network sees of the positions."""
        game = self._run.game
        return np.stack([game.observation(state) for state in self._states])


class DeviceTrees:
    """The trees of a searcher on the GPU, kept from one search to the next."""

    def __init__(self, setup: Setup) -> None:
        """None yet."""
        self.game, self.config = setup.game, setup.config
        self._tag = register(self.game)

    def make(self, games: int, size: TreeSize) -> Tree:
        """Empty trees."""
        return make_tree(self.game, self.config, games, size, DEVICE)

    def roots(self, tree: Tree) -> Tree:
        """The roots, to look at."""
        return fetch_roots(self.game, self.config, tree)

    def write_roots(self, tree: Tree, roots: NDArray[Any]) -> None:
        """Puts the records of `Tree.roots` back."""
        put(roots, tree.roots)

    def enlarge(self, tree: Tree, size: TreeSize) -> Tree:
        """The same trees with more room."""
        larger = self.make(tree.roots.shape[0], size)
        cuda.copy_trees(self._tag, tree, larger, 0, tree.roots.shape[0])
        return larger

    def advance(self, tree: Tree, actions: NDArray[np.int32]) -> None:
        """Moves each root along its action."""
        cuda.advance_games(self._tag, tree, upload(actions), 0, len(actions))


def fetch_roots(game: Any, config: Any, tree: Tree) -> Tree:
    """The roots with their edges, from the GPU: a tree of one node a game."""
    games = tree.roots.shape[0]
    widest = min(tree.edges.shape[1], game.num_actions)
    small = make_tree(game, config, games, TreeSize(1, widest), DEVICE)
    small = small._replace(templates=tree.templates)
    cuda.copy_roots(register(game), tree, small, 0, games)
    return Tree(*map(download, small))


def _fetch_row(array: Any, row: int) -> NDArray[Any]:
    """[1, …] one game's part of an array."""
    return download(array[row : row + 1]) if array.shape[0] else download(array)
