"""A generation's games: workers in threads, every finished game written down at once."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
import torch

from plainzero.games.contract import Game
from plainzero.networks.network_evaluators import NetworkEvaluator, make_evaluator
from plainzero.networks.weights import load_weights, save_weights
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.selfplay.columns import outcomes_of
from plainzero.selfplay.observations import DevicePositions, Positions, targets_of
from plainzero.selfplay.records import GameRecord
from plainzero.selfplay.shards import Journal, list_shards, read_shard, write_shard
from plainzero.selfplay.worker import Worker
from plainzero.training.metrics import describe_games, describe_speed
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig

_log = logging.getLogger("plainzero")
_TOLD_EVERY = 0.1  # seconds between words to whoever watches


class Played(NamedTuple):
    """What there is to learn from the games of a generation, how they went, and how fast."""

    positions: Positions | DevicePositions
    games: int
    metrics: dict[str, float]


class Generator:
    """Plays the games of each generation.

    With one thread a generation is the same however often it is played, so what a killed process
    had played of one is played again; games in the journal that do not come again, because settings
    were changed meanwhile, are added. With more threads it depends on their pace: then the games in
    the journal count, and those that were in progress are given up.
    """

    def __init__(
        self, folder: RunFolder, config: RunConfig, game: Game, network: Any, threads: int
    ) -> None:
        """Makes a worker for each thread; none has begun."""
        self.folder, self.config, self.game = folder, config, game
        self.engine = config.run.engine
        self._journal = Journal(folder.journal, game)
        self._lock = threading.Lock()
        self._is_stopped = False
        self._expected: deque[GameRecord] = deque()  # in the journal, and to be played again
        self.evaluators: list[NetworkEvaluator] = [
            make_evaluator(network, game, self.engine) for _ in range(threads)
        ]
        self._workers = [self._make_worker(number, config.run.seed) for number in range(threads)]

    def _make_worker(self, number: int, seed: int) -> Worker:
        room = self.config.run.cache_bytes
        return Worker(
            self.game,
            self.evaluators[number],
            self.config.search,
            self.config.selfplay,
            seed,
            number,
            EvaluationCache(self.game, room) if room else None,
        )

    def stop(self) -> None:
        """Ends self-play after the round that is under way."""
        self._is_stopped = True

    def use_weights(self, network: Any) -> None:
        """Loads new weights into the running evaluators."""
        for evaluator in self.evaluators:
            evaluator.load(network)

    def play(
        self,
        generation: int,
        step: int,
        tell: Callable[[int, int, int], None],
        seconds: float,
    ) -> Played | None:
        """Plays a generation with the weights of `step`, or reads it where that was done before.

        Returns None where it was stopped, or `seconds` were over, before enough was played; what
        was finished is in the journal.
        """
        shard = next(
            (s for s in list_shards(self.folder.games) if s.generation == generation), None
        )
        if shard is not None and (records := read_shard(self.game, shard)):
            self._journal.clear()  # its games are in the shard
            return self._played(records, {})
        early = self._begin(generation, step)
        start, deadline = time.monotonic(), time.monotonic() + seconds
        records, is_enough = self._play_until_enough(early, generation, tell, deadline)
        if not is_enough:
            return None
        timings = [worker.timing() for worker in self._workers]
        metrics = describe_speed(timings, len(records) - len(early), time.monotonic() - start)
        records += self._expected
        self._save(generation, records)
        return self._played(records, metrics)

    def _played(self, records: list[GameRecord], speed: dict[str, float]) -> Played:
        metrics = speed | describe_games(outcomes_of(records))
        return Played(targets_of(self.game, records), len(records), metrics)

    def begin(self, generation: int, step: int) -> None:
        """Starts a generation early where something else can play it: not here."""

    def wait_until_saved(self) -> None:
        """Returns once the games of all generations played are on disk: here, at once."""

    def _begin(self, generation: int, step: int) -> list[GameRecord]:
        """Readies the workers; the games of this generation that are known already."""
        early = self._journal.read()
        self._expected = deque(early if len(self._workers) == 1 else ())
        if self._expected or not early:
            early, is_fresh = [], generation > 1 and not self._restore(generation - 1)
        else:  # games that were in progress are in the journal now, or given up
            is_fresh = True
        if is_fresh:  # and not those games again that this seed began with
            seed = hash((self.config.run.seed, generation, len(early)))
            self._workers = [self._make_worker(n, seed) for n in range(len(self._workers))]
        for worker in self._workers:
            worker.use_weights(step)
            worker.timing()
        return early

    def _play_until_enough(
        self,
        early: list[GameRecord],
        generation: int,
        tell: Callable[[int, int, int], None],
        deadline: float,
    ) -> tuple[list[GameRecord], bool]:
        """All records of the generation, and whether they are enough."""
        wanted = self.config.training.generation_positions
        records, count = list(early), sum(int(record.is_target.sum()) for record in early)
        told = 0.0

        def take(finished: list[GameRecord]) -> None:
            nonlocal count, told
            if new := self._unwritten(finished):
                self._journal.append(new)
            with self._lock:
                records.extend(finished)
                count += sum(int(record.is_target.sum()) for record in finished)
                if time.monotonic() - told > _TOLD_EVERY:
                    told = time.monotonic()
                    tell(generation, count, wanted)

        def is_over() -> bool:
            return count >= wanted or self._is_stopped or time.monotonic() > deadline

        def work(worker: Worker) -> None:
            while not is_over():
                take(worker.play_round())

        self._work_in_threads(work)
        return records, count >= wanted

    def _work_in_threads(self, work: Callable[[Worker], None]) -> None:
        """Has every worker work; the first fault of any of them stops all, and is raised."""
        if len(self._workers) == 1:
            work(self._workers[0])
            return
        with ThreadPoolExecutor(len(self._workers)) as executor:
            try:
                jobs = [executor.submit(work, worker) for worker in self._workers]
                for job in wait(jobs, return_when=FIRST_EXCEPTION).done:
                    job.result()
            except BaseException:
                self._is_stopped = True  # the other threads must not play on
                raise

    def _unwritten(self, finished: Sequence[GameRecord]) -> list[GameRecord]:
        """Those that are not in the journal from before.

        They come in the journal's order, but games of other settings, which do not come again, may
        stand before them and between them.
        """
        new = []
        for record in finished:
            places = (n for n, known in enumerate(self._expected) if _are_equal(known, record))
            if (place := next(places, None)) is not None:
                del self._expected[place]
            else:
                new.append(record)
        return new

    def _save(self, generation: int, records: list[GameRecord]) -> None:
        """The games in progress first: a shard means that both are there."""
        tensors = {
            f"{number}.{name}": torch.from_numpy(array)
            for number, worker in enumerate(self._workers)
            for name, array in worker.state().items()
        }
        save_weights(tensors, self.folder.ongoing_file(generation), {})
        write_shard(self.folder.games, self.game, generation, records)
        self._journal.clear()

    def _restore(self, generation: int) -> bool:
        """Puts the games that were in progress after a generation back into the workers.

        Returns:
            Whether there are such games for them; no finished game is among those.
        """
        path = self.folder.ongoing_file(generation)
        try:
            tensors, _ = load_weights(path)
            for number, worker in enumerate(self._workers):
                prefix = f"{number}."
                own = {
                    name.removeprefix(prefix): tensor.numpy()
                    for name, tensor in tensors.items()
                    if name.startswith(prefix)
                }
                if own:  # not for a thread more than there were
                    worker.restore(own)
        except ValueError as error:
            _log.warning("the games that were in progress are given up: %s", error)
            return False
        return True

    def forget(self, generation: int) -> None:
        """Deletes the games in progress after a generation that nobody will go back to."""
        self.folder.ongoing_file(generation).unlink(missing_ok=True)


def _are_equal(record: GameRecord, other: GameRecord) -> bool:
    same_moves = np.array_equal(record.moves, other.moves)
    return same_moves and np.array_equal(record.policies, other.policies)
