"""A generation's games on the CPU: workers in threads, each finished game written immediately."""

import dataclasses
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np
import torch
from torch import nn

from plainzero.games.contract import Game
from plainzero.networks.network_evaluators import NetworkEvaluator, make_evaluator
from plainzero.networks.weights import load_weights, save_weights
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.selfplay.observations import targets_of
from plainzero.selfplay.records import GameRecord, join
from plainzero.selfplay.shards import Journal, list_shards, read_shard, write_shard
from plainzero.selfplay.worker import Worker
from plainzero.training.interfaces import Played
from plainzero.training.metrics import describe_games, describe_speed
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig, choice_of

_log = logging.getLogger("plainzero")
_PROGRESS_EVERY = 0.1  # seconds between reports


class CpuGenerator:
    """Plays the games of each generation on the CPU; see `Generator`.

    With one thread a generation is reproducible, so that the games a killed process had finished
    are played again; games in the journal that do not recur, because settings have changed, are
    added. With several threads the games depend on timing: then those in the journal count, and
    those that were in progress are abandoned.
    """

    def __init__(
        self, folder: RunFolder, config: RunConfig, game: Game, network: nn.Module, threads: int
    ) -> None:
        """Makes a worker for each thread; none has started."""
        self.folder, self.config, self.game = folder, config, game
        self._journal = Journal(folder.journal, game)
        self._lock = threading.Lock()
        self._is_stopped = False
        self._expected: deque[GameRecord] = deque()  # in the journal, to be played again
        self.evaluators: list[NetworkEvaluator] = [
            make_evaluator(network, game, config.run.backend) for _ in range(threads)
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
            choice_of(self.config.training),
        )

    def prepare(self) -> None:
        """Compiles what self-play needs, by a round of another worker's game."""
        config = dataclasses.replace(self.config.selfplay, games=1)
        worker = Worker(self.game, self.evaluators[0], self.config.search, config, 0)
        worker.play_round()
        worker.use_weights(0)

    def stop(self) -> None:
        """Ends self-play after the current round."""
        self._is_stopped = True

    def use_weights(self, network: nn.Module) -> None:
        """Loads new weights into the evaluators."""
        for evaluator in self.evaluators:
            evaluator.load(network)

    def play(
        self,
        generation: int,
        step: int,
        on_progress: Callable[[int, int, int], None],
        seconds: float,
    ) -> Played | None:
        """Plays a generation, or reads it if it was played before; see `Generator`.

        The finished games of an incomplete generation are in the journal.
        """
        shard = next(
            (s for s in list_shards(self.folder.games) if s.generation == generation), None
        )
        if shard is not None and (records := read_shard(self.game, shard)):
            self._journal.clear()  # its games are in the shard
            return self._played(records, {})
        early = self._begin(generation, step)
        start, deadline = time.monotonic(), time.monotonic() + seconds
        records, is_enough = self._play_until_enough(early, generation, on_progress, deadline)
        if not is_enough:
            return None
        timings = [worker.timing() for worker in self._workers]
        metrics = describe_speed(timings, len(records) - len(early), time.monotonic() - start)
        records += self._expected
        self._save(generation, records)
        return self._played(records, metrics)

    def _played(self, records: list[GameRecord], speed: dict[str, float]) -> Played:
        columns = join(records)
        metrics = speed | describe_games(columns.per_game, columns.lengths)
        choice = choice_of(self.config.training)
        return Played(targets_of(self.game, records, choice), len(records), metrics)

    def begin(self, generation: int, step: int) -> None:
        """Does nothing: the processor has enough to do until the games are needed."""

    def wait_until_saved(self) -> None:
        """Returns at once: `play` saves the games."""

    def _begin(self, generation: int, step: int) -> list[GameRecord]:
        """Prepares the workers; returns the games of this generation from the journal."""
        early = self._journal.read()
        self._expected = deque(early if len(self._workers) == 1 else ())
        if self._expected or not early:
            early, is_fresh = [], generation > 1 and not self._restore(generation - 1)
        else:  # games that were in progress are in the journal now, or abandoned
            is_fresh = True
        if is_fresh:  # not the first games of this seed again
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
        on_progress: Callable[[int, int, int], None],
        deadline: float,
    ) -> tuple[list[GameRecord], bool]:
        """The records of the generation, and whether it is complete."""
        wanted = self.config.training.generation_positions
        records, count = list(early), sum(int(record.is_target.sum()) for record in early)
        reported = 0.0

        def take(finished: list[GameRecord]) -> None:
            nonlocal count, reported
            if new := self._unwritten(finished):
                self._journal.append(new)
            with self._lock:
                records.extend(finished)
                count += sum(int(record.is_target.sum()) for record in finished)
                if time.monotonic() - reported > _PROGRESS_EVERY:
                    reported = time.monotonic()
                    on_progress(generation, count, wanted)

        def is_over() -> bool:
            return count >= wanted or self._is_stopped or time.monotonic() > deadline

        def work(worker: Worker) -> None:
            while not is_over():
                take(worker.play_round())

        self._work_in_threads(work)
        return records, count >= wanted

    def _work_in_threads(self, work: Callable[[Worker], None]) -> None:
        """Runs all workers; the first error stops them, and is raised."""
        if len(self._workers) == 1:
            work(self._workers[0])
            return
        with ThreadPoolExecutor(len(self._workers)) as executor:
            try:
                jobs = [executor.submit(work, worker) for worker in self._workers]
                for job in wait(jobs, return_when=FIRST_EXCEPTION).done:
                    job.result()
            except BaseException:
                self._is_stopped = True  # ends the other threads
                raise

    def _unwritten(self, finished: Sequence[GameRecord]) -> list[GameRecord]:
        """The games that are not in the journal yet.

        Games recur in the journal's order, but games of other settings, which do not recur, may be
        in between.
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
        """Saves the games in progress, then the finished ones: a shard implies both."""
        tensors = {
            f"{number}.{name}": torch.from_numpy(array)
            for number, worker in enumerate(self._workers)
            for name, array in worker.state().items()
        }
        save_weights(tensors, self.folder.ongoing_file(generation), {})
        write_shard(self.folder.games, self.game, generation, join(records))
        self._journal.clear()

    def _restore(self, generation: int) -> bool:
        """Restores the games that were in progress after a generation.

        Returns:
            Whether they could be restored; none of them is finished.
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
                if own:  # there may have been fewer threads
                    worker.restore(own)
        except ValueError as error:
            _log.warning("dropping the games in progress: %s", error)
            return False
        return True

    def forget(self, generation: int) -> None:
        """Deletes the games in progress after a generation, which are no longer needed."""
        self.folder.ongoing_file(generation).unlink(missing_ok=True)


def _are_equal(record: GameRecord, other: GameRecord) -> bool:
    names = ("moves", "policies", "values")
    return all(np.array_equal(getattr(record, name), getattr(other, name)) for name in names)
