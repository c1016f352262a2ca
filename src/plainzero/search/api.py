"""The search as people call it: `search` for one question, `Searcher` to keep the tree."""

import operator
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from plainzero.devices import choose_device, device_of, use
from plainzero.games.contract import CHANCE, Game, State
from plainzero.search.config import SearchConfig, check_for_game
from plainzero.search.evaluation_cache import EvaluationCache, check_cache
from plainzero.search.evaluators import Evaluator, check_evaluator
from plainzero.search.resolve_options import resolve
from plainzero.search.result import SearchResult
from plainzero.search.runner import Progress, Run, Setup, StopFlag
from plainzero.search.tree_memory import ROOT, Tree, TreeSize, node_places, plan_tree, tree_bytes
from plainzero.search.trees import HostTrees
from plainzero.search.view import Clock

if TYPE_CHECKING:
    from plainzero.search.gpu.runner import DeviceRun, DeviceTrees

    AnyRun = Run | DeviceRun
    AnyTrees = HostTrees | DeviceTrees


@overload
def search(
    game: Game,
    states: State,
    evaluator: Evaluator = ...,
    config: SearchConfig = ...,
    seed: int = ...,
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
    states: Sequence[State] | NDArray[Any],
    evaluator: Evaluator = ...,
    config: SearchConfig = ...,
    seed: int = ...,
    *,
    threads: int | None = ...,
    device: str = ...,
    progress: Progress | None = ...,
    stop: StopFlag | None = ...,
    cache: EvaluationCache | None = ...,
) -> list[SearchResult]: ...
def search(
    game: Game,
    states: Any,
    evaluator: Evaluator = "rollout",
    config: SearchConfig = SearchConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
    *,
    threads: int | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    stop: StopFlag | None = None,
    cache: EvaluationCache | None = None,
) -> Any:
    """Searches one position, or several side by side.

    Args:
        game: whose positions they are.
        states: a state, or a list or array of states; several give a list of results.
        evaluator: "rollout", "uniform", or a function from observations [B, *shape] to logits
            [B, A] and values [B], for the mover, or [B, players], from the mover on.
        config: every option; see `SearchConfig`.
        seed: the same seed gives the same result, whatever the threads and the other games.
        threads: games of a batch are shared among so many; by default as many as there are cores.
        device: cpu, cuda, cuda:1 and so on, or auto for a GPU where there is one.
        progress: called now and then with the simulations done and those asked for.
        stop: ends the search when it is set; the result so far stands.
        cache: remembers what the evaluator said, from one search to the next.
    """
    searcher = Searcher(game, evaluator, config, threads, device, cache)
    return searcher.search(states, seed, progress, stop)


class Searcher:
    """Searches that keep their tree: after `advance`, the next search goes on with what is left.

    Args:
        game: the game.
        evaluator: as in `search`.
        config: as in `search`.
        threads: games of a batch are shared among so many; by default as many as there are cores.
        device: cpu, cuda, cuda:1 and so on, or auto for a GPU where there is one.
        cache: remembers what the evaluator said, from one search to the next.
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
        self.device = choose_device(_beside(evaluator, device), needs_torch)
        self.config = resolve(config, evaluator, self.device)
        self.threads = threads or len(os.sched_getaffinity(0))
        self.cache = cache
        self._tree: Tree | None = None
        self._run: AnyRun | None = None  # in progress
        self._clock = Clock()

    def planned_bytes(self, games: int = 1) -> int:
        """The memory that the tree of a new search of so many games takes at most."""
        size = plan_tree(self.game, self.config, games)
        return tree_bytes(self.game, self.config, games, size)

    def search(
        self,
        states: Any,
        seed: int = 0,
        progress: Progress | None = None,
        stop: StopFlag | None = None,
    ) -> Any:
        """Searches one position or several; goes on with the kept tree where it has that root.

        Args:
            states: as in `plainzero.search`.
            seed: as in `plainzero.search`.
            progress: called now and then.
            stop: ends the search when it is set.
        """
        self._clock.time += 1
        use(self.device)
        is_single = isinstance(states, np.void)
        batch = self._as_batch([states] if is_single else states)
        if len(batch) == 0:
            return []
        tree = self._prepare_tree(batch)
        run = self._begin(tree, _whole(seed))
        if stop is not None:
            stop.attach(run.scratch.work)
        self._run = run
        try:
            run.go(batch, self.threads, progress)
        except BaseException:
            self._tree = None  # it may hold half a simulation
            raise
        finally:
            self._run = None
        results = run.results(self._clock)
        return results[0] if is_single else results

    def peek(self) -> list[SearchResult]:
        """The results so far, one a game; to be called by `progress`, when the search stands still.

        Look at their trees at once: one that lets go of what is proven numbers its nodes anew.

        Raises:
            RuntimeError: when nothing is being searched.
        """
        if self._run is None:
            raise RuntimeError("no search is in progress; call peek() from the progress callback")
        return self._run.results(self._clock)

    def advance(self, actions: int | Sequence[int]) -> None:
        """Moves the root of each game along its action, mine or the opponent's."""
        self._clock.time += 1
        use(self.device)
        if self._tree is None:
            return
        games = self._tree.roots.shape[0]
        moves = np.atleast_1d(np.asarray(actions, np.int32))
        if moves.shape != (games,):
            raise ValueError(f"{len(moves)} actions were given for {games} games")
        self._trees.advance(self._tree, moves)

    def _as_batch(self, states: Any) -> NDArray[Any]:
        """The states as one array [B].

        Raises:
            ValueError: for states of another game, finished ones, and those left to chance.
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
        """The kept tree, emptied where it has another root, or a new one; large enough."""
        tree, trees = self._tree, self._trees
        if tree is None or tree.roots.shape[0] != len(batch):
            self._tree = None  # its memory may be needed
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
            self._tree = trees.enlarge(tree, larger)
        assert self._tree is not None
        return self._tree

    def _begin(self, tree: Tree, seed: int) -> "AnyRun":
        if self.device == "cpu":
            return Run(self._setup, tree, seed)
        from plainzero.search.gpu.runner import DeviceRun

        return DeviceRun(self._setup, tree, seed)

    @property
    def _setup(self) -> Setup:
        """How to search now: `config` may be exchanged between searches."""
        return Setup(self.game, self.evaluator, self.config, self.cache)

    @property
    def _trees(self) -> "AnyTrees":
        if self.device == "cpu":
            return HostTrees(self._setup)
        from plainzero.search.gpu.runner import DeviceTrees

        return DeviceTrees(self._setup)


def _beside(evaluator: Evaluator, device: str) -> str:
    """The device that is meant: the GPU of an evaluator that is on one, unless it is the CPU.

    Raises:
        ValueError: when they are on different GPUs.
    """
    own = device_of(evaluator)
    if "cpu" in (own, device) or own == "cuda":
        return device
    if device not in ("auto", "cuda", own):
        raise ValueError(
            f"the evaluator is on {own} and the search on {device}; choose one GPU for both"
        )
    return own


def _whole(seed: Any) -> int:
    """The seed as a plain whole number.

    Raises:
        ValueError: when it is none.
    """
    try:
        return operator.index(seed)
    except TypeError:
        raise ValueError(f"the seed is {seed!r}; it must be a whole number") from None


def _are_equal(state: State, other: State) -> bool:
    """Whether two positions agree in every field; the bytes between fields mean nothing."""
    names = state.dtype.names or ()
    return all(np.array_equal(state[name], other[name]) for name in names)
