"""The search as people call it: `search` for single questions, `Searcher` to keep the tree."""

import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from plainzero.devices import choose_device, use_device
from plainzero.games.contract import CHANCE, Game, State
from plainzero.operating_system import available_cores
from plainzero.search.config import SearchConfig, check_for_game
from plainzero.search.evaluation_cache import EvaluationCache, check_cache
from plainzero.search.evaluators import Evaluator, check_evaluator, device_of
from plainzero.search.kernels.tree import ROOT, Tree
from plainzero.search.resolve_options import resolve
from plainzero.search.result import SearchResult
from plainzero.search.runner import CpuRunner, Progress, Runner, SearchSpec, StopFlag
from plainzero.search.tree_memory import TreeSize, node_places, plan_tree, tree_bytes
from plainzero.search.trees import HostTrees, Trees
from plainzero.search.view import Clock

States: TypeAlias = Sequence[State] | NDArray[Any]
"""Several positions of one game."""


@overload
def search(
    game: Game,
    states: State,
    evaluator: Evaluator = ...,
    config: SearchConfig = ...,
    seed: SupportsIndex = ...,
    *,
    threads: int | None = ...,
    device: str = ...,
    progress: Progress | None = ...,
    stop: StopFlag | None = ...,
    cache: EvaluationCache | None = ...,
) -> SearchResult: ...
@overload
def search(
    game: Game,
    states: States,
    evaluator: Evaluator = ...,
    config: SearchConfig = ...,
    seed: SupportsIndex = ...,
    *,
    threads: int | None = ...,
    device: str = ...,
    progress: Progress | None = ...,
    stop: StopFlag | None = ...,
    cache: EvaluationCache | None = ...,
) -> list[SearchResult]: ...
def search(
    game: Game,
    states: State | States,
    evaluator: Evaluator = "rollout",
    config: SearchConfig = SearchConfig(),  # noqa: B008 (frozen)
    seed: SupportsIndex = 0,
    *,
    threads: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    stop: StopFlag | None = None,
    cache: EvaluationCache | None = None,
) -> SearchResult | list[SearchResult]:
    """Searches one position, or several side by side.

    Args:
        game: the game that the positions belong to.
        states: a state, or a list or array of states; several give a list of results.
        evaluator: "rollout", "uniform", or a function from observations [B, *shape] to logits
            [B, A] and values: [B] for the mover, or [B, players] starting with the mover.
        config: every option; see `SearchConfig`.
        seed: the same seed gives the same result, whatever the threads and the other games.
        threads: threads that share the games of a batch; by default one per core.
        device: cpu, cuda, cuda:1 and so on, or auto for a GPU if there is one.
        progress: called regularly with the simulations done and the simulations requested.
        stop: stops the search when it is set; the result so far is returned.
        cache: keeps evaluations from one search to the next.
    """
    searcher = Searcher(game, evaluator, config, threads, device, cache)
    return searcher.search(states, seed, progress, stop)


class Searcher:
    """Searches that keep their tree: after `advance`, the next search reuses what remains.

    Args:
        game: the game.
        evaluator: as in `search`.
        config: as in `search`.
        threads: threads that share the games of a batch; by default one per core.
        device: cpu, cuda, cuda:1 and so on, or auto for a GPU if there is one.
        cache: keeps evaluations from one search to the next.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        evaluator: Evaluator = "rollout",
        config: SearchConfig = SearchConfig(),  # noqa: B008 (frozen)
        threads: int | None = None,
        device: str = "cpu",
        cache: EvaluationCache | None = None,
    ) -> None:
        if not isinstance(game, Game):
            raise ValueError(f"the game is {game!r}; make it with make_game() or from its class")
        if not isinstance(config, SearchConfig):
            raise ValueError(f"the config is a {type(config).__name__}; it must be a SearchConfig")
        if threads is not None and not (isinstance(threads, int) and threads >= 1):
            raise ValueError(f"threads is {threads!r}; it must be a whole number, 1 or more")
        check_evaluator(evaluator)
        check_for_game(config, game)
        if device == "auto" and (cache is not None or not game.runs_on_gpu):
            device = "cpu"
        if device != "cpu" and not game.runs_on_gpu:
            raise ValueError(f"the rules of {game.name} do not run on a GPU; choose device cpu")
        self.game = game
        self.evaluator = evaluator
        if cache is not None:
            check_cache(cache, game, evaluator, device)
        needs_torch = device_of(evaluator) != "cpu"
        self.device = choose_device(_near(evaluator, device), needs_torch)
        self.config = resolve(config, evaluator, self.device)
        self.threads = threads or available_cores()
        self.cache = cache
        self._tree: Tree | None = None
        self._runner: Runner | None = None  # of the search in progress
        self._clock = Clock()

    def planned_bytes(self, games: int = 1) -> int:
        """The most memory that the tree of a new search of `games` games takes."""
        size = plan_tree(self.game, self.config, games)
        return tree_bytes(self.game, self.config, games, size)

    @overload
    def search(
        self,
        states: State,
        seed: SupportsIndex = ...,
        progress: Progress | None = ...,
        stop: StopFlag | None = ...,
    ) -> SearchResult: ...
    @overload
    def search(
        self,
        states: States,
        seed: SupportsIndex = ...,
        progress: Progress | None = ...,
        stop: StopFlag | None = ...,
    ) -> list[SearchResult]: ...
    @overload
    def search(
        self,
        states: State | States,
        seed: SupportsIndex = ...,
        progress: Progress | None = ...,
        stop: StopFlag | None = ...,
    ) -> SearchResult | list[SearchResult]: ...
    def search(
        self,
        states: State | States,
        seed: SupportsIndex = 0,
        progress: Progress | None = None,
        stop: StopFlag | None = None,
    ) -> SearchResult | list[SearchResult]:
        """Searches one position or several; reuses the kept tree if it has that root.

        Args:
            states: as in `plainzero.search`.
            seed: as in `plainzero.search`.
            progress: called regularly.
            stop: stops the search when it is set.
        """
        self._clock.time += 1
        use_device(self.device)
        is_single = isinstance(states, np.void)
        batch = self._as_batch([states] if is_single else states)
        if len(batch) == 0:
            return []
        tree = self._prepare_tree(batch)
        runner = self._make_runner(tree, _as_int(seed))
        if stop is not None:
            stop.attach(runner.scratch.work)
        self._runner = runner
        try:
            runner.run(batch, self.threads, progress)
        except BaseException:
            self._tree = None  # it may contain half a simulation
            raise
        finally:
            self._runner = None
        results = runner.results(self._clock)
        return results[0] if is_single else results

    def peek(self) -> list[SearchResult]:
        """The results so far, one per game; call it from `progress`, while the search pauses.

        Read their trees at once: a full tree that discards proven parts renumbers its nodes.

        Raises:
            RuntimeError: if no search is in progress.
        """
        if self._runner is None:
            raise RuntimeError("no search is in progress; call peek() from the progress callback")
        return self._runner.results(self._clock)

    def advance(self, actions: int | Sequence[int]) -> None:
        """Moves the root of each game along its action, whoever plays it."""
        self._clock.time += 1
        use_device(self.device)
        if self._tree is None:
            return
        games = self._tree.roots.shape[0]
        moves = np.atleast_1d(np.asarray(actions, np.int32))
        if moves.shape != (games,):
            raise ValueError(f"{len(moves)} actions were given for {games} games")
        self._trees.advance(self._tree, moves)

    def _as_batch(self, states: object) -> NDArray[Any]:
        """The states as one array [B].

        Raises:
            ValueError: for states of another game, finished games, and positions left to chance.
        """
        if not isinstance(states, list | tuple | np.ndarray):
            raise ValueError(f"there is no position in a {type(states).__name__}; give a state")
        batch, dtype = np.empty(len(states), self.game.dtype), self.game.dtype
        for i, state in enumerate(states):
            if getattr(state, "dtype", None) != dtype:
                raise ValueError(
                    f"position {i} is not a state of {self.game.name}; "
                    "make it with game.new_state() and game.apply()"
                )
            batch[i] = state
        for over in np.flatnonzero(batch["is_over"]):
            raise ValueError(f"position {over}: the game is over, so there is nothing to search")
        for waiting in np.flatnonzero(batch["to_play"] == CHANCE):
            raise ValueError(
                f"position {waiting} waits for chance; apply one of game.chances(state) first"
            )
        return batch

    def _prepare_tree(self, batch: NDArray[Any]) -> Tree:
        """The kept tree, emptied where its root differs, or a new one; large enough."""
        tree, trees = self._tree, self._trees
        if tree is None or tree.roots.shape[0] != len(batch):
            self._tree = None  # frees its memory first
            self._tree = trees.make(len(batch), plan_tree(self.game, self.config, len(batch)))
            return self._tree
        seen = trees.roots(tree)
        for row, state in enumerate(batch):
            if not _are_equal(seen.states[row, ROOT], state):
                seen.roots[row].num_nodes = 0
        trees.write_roots(tree, seen.roots)
        kept = int(seen.roots["num_nodes"].max())
        size = plan_tree(self.game, self.config, len(batch), kept)
        held = TreeSize(node_places(tree, self.config), tree.edges.shape[1])
        if size.nodes > held.nodes or size.edges > held.edges:
            larger = TreeSize(max(size.nodes, held.nodes), max(size.edges, held.edges))
            tree = self._tree = trees.enlarge(tree, larger)
        return tree

    def _make_runner(self, tree: Tree, seed: int) -> Runner:
        # `config` and `evaluator` may be exchanged between searches.
        spec = SearchSpec(self.game, self.evaluator, self.config, self.cache)
        if self.device == "cpu":
            return CpuRunner(spec, tree, seed)
        from plainzero.search.gpu.runner import GpuRunner

        return GpuRunner(spec, tree, seed)

    @property
    def _trees(self) -> Trees:
        if self.device == "cpu":
            return HostTrees(self.game, self.config)
        from plainzero.search.gpu.trees import GpuTrees

        return GpuTrees(self.game, self.config)


def _near(evaluator: Evaluator, device: str) -> str:
    """The requested device; the evaluator's own GPU if any GPU will do.

    Raises:
        ValueError: if both are GPUs, and different ones.
    """
    own = device_of(evaluator)
    if "cpu" in (own, device) or own == "cuda":
        return device
    if device not in ("auto", "cuda", own):
        raise ValueError(
            f"the evaluator is on {own} and the search on {device}; choose one GPU for both"
        )
    return own


def _as_int(seed: SupportsIndex) -> int:
    """The seed as an int.

    Raises:
        ValueError: if it is not a whole number.
    """
    try:
        return operator.index(seed)
    except TypeError:
        raise ValueError(f"the seed is {seed!r}; it must be a whole number") from None


def _are_equal(state: State, other: State) -> bool:
    """Whether two positions agree in every field; the bytes between fields mean nothing."""
    names = state.dtype.names or ()
    return all(np.array_equal(state[name], other[name]) for name in names)
