"""The games of one thread: evaluates rounds of leaves, returns finished games, starts new ones."""

import hashlib
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.config import SearchConfig, check_for_game
from plainzero.search.evaluate_leaves import LeafEvaluator
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.search.evaluators import HostEvaluator
from plainzero.search.resolve_options import make_options, resolve
from plainzero.search.runner import check_faults
from plainzero.search.scratch_memory import make_scratch, make_streams
from plainzero.search.tree_memory import make_tree, plan_tree
from plainzero.selfplay.config import SelfPlayConfig, check_selfplay_search, resolve_selfplay
from plainzero.selfplay.games_in_progress import Games, make_games, make_play_options, set_step
from plainzero.selfplay.records import GameRecord, take_records
from plainzero.selfplay.turn_kernels import start_games, start_searches, take_turns
from plainzero.targets.target import USUAL_CHOICE, Choice

_REUSED_SEARCHES = 3  # room for reused subtrees, in searches


class Timing(NamedTuple):
    """What a worker did since it was last asked, and how long it took."""

    seconds: float
    network_seconds: float
    evaluations: int
    simulations: int
    positions: int  # searched moves, unfinished games included
    cache_lookups: int
    cache_hits: int


class Worker:
    """Plays games side by side with one evaluator.

    Args:
        game: the game.
        evaluator: from observations to logits and values; used by this worker alone.
        search: options of the searches.
        config: options of the games.
        seed: random seed of the run.
        number: of this worker; each has its own random streams.
        cache: of evaluations, or None.
        choice: the targets that are learned.
    """

    def __init__(  # noqa: D107
        self,
        game: Game,
        evaluator: HostEvaluator,
        search: SearchConfig,
        config: SelfPlayConfig,
        seed: int,
        number: int = 0,
        cache: EvaluationCache | None = None,
        choice: Choice = USUAL_CHOICE,
    ) -> None:
        check_for_game(search, game)
        check_selfplay_search(search, config)
        self.game, self.evaluator, self.cache = game, evaluator, cache
        self.search = resolve(search, evaluator)
        self.config = resolve_selfplay(config, game)
        self._tag = register(game)
        count = self.config.games
        size = plan_tree(game, self.search, count, reused_nodes(search, self.config))
        self._tree = make_tree(game, self.search, count, size)
        self._scratch = make_scratch(game, self.search, count, seed)
        self._scratch.streams[:] = make_streams(seed, count, number * count)
        self._options = make_options(self.search, game)
        self._leaves = LeafEvaluator(game, self._tree, self._scratch, self._timed_evaluator, cache)
        self._play_options = make_play_options(self.config, self.search, choice)
        self._ended = np.zeros(count, np.int64)
        self.games: Games = make_games(game, count)
        self._is_started = False
        self._cache_counts = (0, 0)  # lookups and hits when timing was last asked
        self._network_seconds, self._evaluations, self._since = 0.0, 0, time.perf_counter()
        self._of_ended = self._reported = np.zeros(2, np.int64)  # see _work_done

    def use_weights(self, step: int) -> None:
        """Restarts the searches, since the evaluator now has the weights of that step."""
        set_step(self._play_options, self.config, self.search, step)
        if self.cache is not None:
            self.cache.clear()
        if self._is_started:
            start_searches(self._tag, *self._arrays())

    def play_round(self) -> list[GameRecord]:
        """Evaluates one leaf of every game; returns the games that ended, and starts new ones.

        Raises:
            RuleFault: if the game breaks its contract.
            EvaluatorError: if the evaluator returned something else than numbers.
        """
        if not self._is_started:
            self._start(np.arange(self.config.games))
            self._play_options["staggered"] = False
            self._is_started = True
        tree, scratch, count = self._tree, self._scratch, self.config.games
        cpu.select_games(self._tag, tree, scratch, self._options, self.games.states, 0, count)
        answers = self._leaves.evaluate()
        if answers is not None:
            cpu.finish_games(self._tag, tree, scratch, self._options, *answers, 0, count)
        check_faults(self.game, int(np.bitwise_or.reduce(scratch.work["faults"])))
        num_ended = take_turns(self._tag, *self._arrays(), self._options, self._ended)
        return self._replace(self._ended[:num_ended]) if num_ended else []

    def timing(self) -> Timing:
        """What was done since the last call."""
        now, cache = time.perf_counter(), self.cache
        lookups, hits = (cache.lookups, cache.hits) if cache is not None else (0, 0)
        done = self._work_done()
        simulations, positions = (done - self._reported).tolist()
        timing = Timing(
            seconds=now - self._since,
            network_seconds=self._network_seconds,
            evaluations=self._evaluations,
            simulations=simulations,
            positions=positions,
            cache_lookups=lookups - self._cache_counts[0],
            cache_hits=hits - self._cache_counts[1],
        )
        self._cache_counts, self._reported = (lookups, hits), done
        self._network_seconds, self._evaluations, self._since = 0.0, 0, now
        return timing

    def state(self) -> dict[str, NDArray[Any]]:
        """The games in progress, as plain arrays of bytes and numbers."""
        games = self.games
        rules = f"{self.game.source_digest} {games.status.dtype} {games.moves.dtype}"
        return {
            "rules": np.array([*hashlib.sha256(rules.encode()).digest()], np.uint8),
            "streams": self._scratch.streams.copy(),
            "is_started": np.array([self._is_started]),
            "states": games.states.view(np.uint8).copy(),
            "status": games.status.view(np.uint8).copy(),
            "moves": games.moves.view(np.uint8).copy(),
            "policies": games.policies.copy(),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Resumes the games that `state` returned.

        Raises:
            ValueError: if they were played by other rules, or are more or fewer.
        """
        own = self.state()
        for name, array in own.items():
            if name not in state or state[name].shape != array.shape:
                raise ValueError(f"the saved games do not fit: {name} differs")
        if not np.array_equal(state["rules"], own["rules"]):
            raise ValueError("the saved games were played by other rules")
        self._scratch.streams[:] = state["streams"]
        self._is_started = bool(state["is_started"][0])
        self.games.states.view(np.uint8)[:] = state["states"]
        self.games.status.view(np.uint8)[:] = state["status"]
        self.games.moves.view(np.uint8)[:] = state["moves"]
        self.games.policies[:] = state["policies"]
        self._reported = self._work_done()  # done before, not by this worker
        if self._is_started:
            self._play_options["staggered"] = False
            start_searches(self._tag, *self._arrays())

    def _arrays(self) -> tuple[Any, ...]:
        return self._tree, self._scratch, self.games, self._play_options

    def _start(self, rows: NDArray[np.int64]) -> None:
        start_games(self._tag, *self._arrays(), rows, len(rows))

    def _replace(self, rows: NDArray[np.int64]) -> list[GameRecord]:
        """The records of the games that ended; new ones start in their rows."""
        records = take_records(self.games, rows)
        self._of_ended = self._of_ended + _work_of(self.games.status[rows])
        self._start(rows)
        return records

    def _work_done(self) -> NDArray[np.int64]:
        """[2] simulations and searched moves of all games so far, unfinished ones included."""
        return self._of_ended + _work_of(self.games.status)

    def _timed_evaluator(self, planes: NDArray[np.float32]) -> tuple[Any, Any]:
        start = time.perf_counter()
        answers = self.evaluator(planes)
        self._network_seconds += time.perf_counter() - start
        self._evaluations += len(planes)
        return answers


def reused_nodes(search: SearchConfig, config: SelfPlayConfig) -> int:
    """Room for the nodes of earlier searches that are reused."""
    searched = max(search.simulations, search.visits, config.cheap_simulations)
    return searched * _REUSED_SEARCHES if config.reuse_tree and search.simulations else 0


def _work_of(status: NDArray[Any]) -> NDArray[np.int64]:
    return np.array([status["simulations"].sum(), status["searches"].sum()], np.int64)
