"""Who plays in `plainzero bench selfplay`: PlainZero's workers, and peers in processes of their own."""

import itertools
import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from plainzero.bench.peer_process import end_process
from plainzero.games.contract import Game
from plainzero.networks.network_evaluators import make_evaluator
from plainzero.search.config import SearchConfig
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.worker import Worker

_SERVE = Path(__file__).parent / "peers" / "play_windows.py"
_STAGGERING_GAMES = 4  # finished for each game side by side before anything is measured
_WARM_MOVES = 3  # then played in each with the network, where trees or answers are kept


class Sample(NamedTuple):
    """What was done in one window, all threads or processes together."""

    positions: float  # searched moves
    games: float  # finished
    simulations: float
    evaluations: float
    seconds: float  # of the window
    rate: float  # positions a second
    processor_seconds: float
    network_share: float = 0.0  # of the threads' time; 0 for peers
    cache_lookups: float = 0.0
    cache_hits: float = 0.0


class Player(Protocol):
    """One row of the report."""

    name: str
    engine: str
    batch: int
    """Games side by side in each thread or process."""
    missing: str
    """Why it cannot play and what to do, or nothing."""

    def measure(self, seconds: float) -> Sample:
        """Plays for about so long."""

    def close(self) -> None:
        """Ends what was started."""


@dataclass(frozen=True)
class OwnWay:
    """How PlainZero plays in a row."""

    name: str
    engine: str
    search: SearchConfig
    selfplay: SelfPlayConfig
    cache_bytes: int = 0


class OwnPlayer:
    """PlainZero's self-play: a worker for each core, in a thread that is pinned to it."""

    missing = ""

    def __init__(self, way: OwnWay, game: Game, network: Any, cores: Sequence[int]) -> None:
        """Makes the workers and begins their games."""
        self.name, self.engine, self.batch = way.name, way.engine, way.selfplay.games
        remaining = itertools.cycle(cores)
        self._threads = ThreadPoolExecutor(len(cores), initializer=lambda: _pin(next(remaining)))
        self._workers = [_make_worker(way, game, network, number) for number in range(len(cores))]
        self._play_all(lambda worker: _stagger(worker, game))
        if way.selfplay.reuse_tree or way.cache_bytes:
            self._play_all(_warm_up)

    def measure(self, seconds: float) -> Sample:
        """Plays on for about so long."""
        for worker in self._workers:
            worker.timing()
        start, processor = time.perf_counter(), time.process_time()
        played = self._play_all(
            lambda worker: (_play_until(worker, start + seconds), worker.timing())
        )
        spent, processor = time.perf_counter() - start, time.process_time() - processor
        timings = [timing for _, timing in played]
        total = {name: sum(getattr(t, name) for t in timings) for name in timings[0]._fields}
        return Sample(
            positions=total["positions"],
            games=sum(games for games, _ in played),
            simulations=total["simulations"],
            evaluations=total["evaluations"],
            seconds=spent,
            rate=sum(timing.positions / timing.seconds for timing in timings),
            processor_seconds=processor,
            network_share=total["network_seconds"] / total["seconds"],
            cache_lookups=total["cache_lookups"],
            cache_hits=total["cache_hits"],
        )

    def close(self) -> None:
        """Ends the threads."""
        self._threads.shutdown()

    def _play_all(self, play: Callable[[Worker], Any]) -> list[Any]:
        return list(self._threads.map(play, self._workers))


def _pin(core: int) -> None:
    """Keeps the calling thread on one core, as the peers' processes are."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def _make_worker(way: OwnWay, game: Game, network: Any, number: int) -> Worker:
    evaluator = make_evaluator(network, game, way.engine)
    cache = EvaluationCache(game, way.cache_bytes) if way.cache_bytes else None
    return Worker(game, evaluator, way.search, way.selfplay, 0, number, cache)


def _stagger(worker: Worker, game: Game) -> None:
    """Brings games and searches to different stages, as they are after hours of play.

    Otherwise all moves of a window would fall into a few of its rounds. The evaluations cost
    nothing; what the trees keep of them is gone after the moves that follow.
    """
    evaluator = worker.evaluator
    worker.evaluator = lambda planes: (
        np.zeros((len(planes), game.num_actions), np.float32),
        np.zeros(len(planes), np.float32),
    )
    ended = 0
    while ended < _STAGGERING_GAMES * worker.config.games:
        ended += len(worker.play_round())
    worker.evaluator = evaluator
    if worker.cache is not None:
        worker.cache.clear()


def _warm_up(worker: Worker) -> None:
    worker.timing()
    played = 0
    while played < _WARM_MOVES * worker.config.games:
        worker.play_round()
        played += worker.timing().positions


def _play_until(worker: Worker, deadline: float) -> int:
    """Plays until the deadline; how many games were finished."""
    games = 0
    while time.perf_counter() < deadline:
        games += len(worker.play_round())
    return games


@dataclass(frozen=True)
class PeerWay:
    """How a peer plays in a row: `module` of the folder peers, and the settings it gets."""

    name: str
    module: str
    settings: dict[str, Any]
    install: str
    """What `pip install` needs to get it."""
    batch: int = 1
    engine: str = "jax float32"


class PeerPlayer:
    """A peer's self-play, in a process for each core."""

    def __init__(self, way: PeerWay, python: Path, cores: Sequence[int]) -> None:
        """Starts the processes and waits until they are ready."""
        self.name, self.engine, self.batch = way.name, way.engine, way.batch
        self.missing = ""
        self.versions: dict[str, str] = {}
        self._processes = [_start(python, way, number, core) for number, core in enumerate(cores)]
        for answer in self._answers():
            self.versions.update(answer.get("ready", {}))
            if "missing" in answer:
                self.missing = f"not installed ({answer['missing']}): pip install {way.install}"
            elif "ready" not in answer:
                self.missing = f"failed: {answer.get('failed', 'it ended without a word')}"
        if self.missing:
            self.close()

    def measure(self, seconds: float) -> Sample:
        """Has every process play for about so long."""
        for process in self._processes:
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
        answers = self._answers()
        if not all(answers):
            raise RuntimeError(f"a process of {self.name} ended while it was being measured")
        names = ("positions", "games", "simulations", "evaluations", "processor_seconds")
        return Sample(
            **{name: sum(answer[name] for answer in answers) for name in names},
            seconds=max(answer["seconds"] for answer in answers),
            rate=sum(answer["positions"] / answer["seconds"] for answer in answers),
        )

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            end_process(process)

    def _answers(self) -> list[dict[str, Any]]:
        """The next line of each process; nothing of one that has ended."""
        return [json.loads(process.stdout.readline() or "{}") for process in self._processes]


def _start(python: Path, way: PeerWay, number: int, core: int) -> Any:
    settings = json.dumps({**way.settings, "seed": number})
    return subprocess.Popen(
        [str(python), str(_SERVE), way.module, str(core), settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
