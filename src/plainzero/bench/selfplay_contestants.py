"""The contestants of `plainzero bench selfplay`: PlainZero's workers, and peers in processes."""

import itertools
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from plainzero.bench.peer_process import stop_process
from plainzero.games.contract import Game
from plainzero.networks.architectures import Network
from plainzero.networks.network_evaluators import make_evaluator
from plainzero.operating_system import pin_thread
from plainzero.search.config import SearchConfig
from plainzero.search.evaluation_cache import EvaluationCache
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.worker import Worker

_PLAY_WINDOWS = Path(__file__).parent / "peers" / "play_windows.py"
_STAGGERING_GAMES = 4  # finished per parallel game before anything is measured
_WARM_MOVES = 3  # then played per game with the network, to fill caches and reused trees

T = TypeVar("T")


class Sample(NamedTuple):
    """The counts of one window, over all threads or processes."""

    positions: float  # searched moves
    games: float  # finished
    simulations: float
    evaluations: float
    seconds: float  # of the window
    rate: float  # positions per second
    processor_seconds: float
    network_share: float = 0.0  # of the threads' time; 0 for peers
    cache_lookups: float = 0.0
    cache_hits: float = 0.0


class Contestant(Protocol):
    """One row of the report."""

    name: str
    backend: str
    batch: int
    """Parallel games per thread or process."""
    missing: str
    """Why it cannot play and what to do; empty if it can."""
    versions: dict[str, str]
    """Versions of the contestant's own packages."""

    def measure(self, seconds: float) -> Sample:
        """Plays for about `seconds`."""

    def close(self) -> None:
        """Stops its threads or processes."""


@dataclass(frozen=True)
class OwnVariant:
    """How PlainZero plays in one row of the report."""

    name: str
    backend: str
    search: SearchConfig
    selfplay: SelfPlayConfig
    cache_bytes: int = 0


class OwnContestant:
    """PlainZero's self-play: one worker per core, in a thread pinned to that core."""

    missing = ""

    def __init__(
        self, variant: OwnVariant, game: Game, network: Network, cores: Sequence[int]
    ) -> None:
        """Creates the workers and starts their games."""
        self.name, self.backend, self.batch = variant.name, variant.backend, variant.selfplay.games
        self.versions: dict[str, str] = {}
        remaining = itertools.cycle(cores)
        self._threads = ThreadPoolExecutor(
            len(cores), initializer=lambda: pin_thread(next(remaining))
        )
        self._workers = [
            _make_worker(variant, game, network, number) for number in range(len(cores))
        ]
        self._play_all(lambda worker: _stagger(worker, game))
        if variant.selfplay.reuse_tree or variant.cache_bytes:
            self._play_all(_warm_up)

    def measure(self, seconds: float) -> Sample:
        """Continues to play for about `seconds`."""
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
        """Stops the threads."""
        self._threads.shutdown()

    def _play_all(self, play: Callable[[Worker], T]) -> list[T]:
        return list(self._threads.map(play, self._workers))


def _make_worker(variant: OwnVariant, game: Game, network: Network, number: int) -> Worker:
    evaluator = make_evaluator(network, game, variant.backend)
    cache = EvaluationCache(game, variant.cache_bytes) if variant.cache_bytes else None
    return Worker(game, evaluator, variant.search, variant.selfplay, 0, number, cache)


def _stagger(worker: Worker, game: Game) -> None:
    """Brings games and searches to different stages, as after hours of play.

    Otherwise all moves of a window would fall into a few of its rounds. A constant evaluator makes
    this fast; its values are gone from the trees after a few more moves.
    """
    evaluator = worker.evaluator
    worker.evaluator = lambda planes: (
        np.zeros((len(planes), game.num_actions), np.float32),
        np.zeros(len(planes), np.float32),
    )
    finished = 0
    while finished < _STAGGERING_GAMES * worker.config.games:
        finished += len(worker.play_round())
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
    """Plays until the deadline and returns the number of finished games."""
    games = 0
    while time.perf_counter() < deadline:
        games += len(worker.play_round())
    return games


@dataclass(frozen=True)
class PeerVariant:
    """How a peer plays in one row: a module of the folder `peers`, and its settings."""

    name: str
    module: str
    settings: dict[str, Any]
    install: str
    """The packages to install with pip."""
    batch: int = 1
    backend: str = "jax float32"


class PeerContestant:
    """A peer's self-play, in one process per core."""

    def __init__(self, variant: PeerVariant, python: Path, cores: Sequence[int]) -> None:
        """Starts the processes and waits until they are ready."""
        self.name, self.backend, self.batch = variant.name, variant.backend, variant.batch
        self.missing = ""
        self.versions: dict[str, str] = {}
        self._processes = [
            _start(python, variant, number, core) for number, core in enumerate(cores)
        ]
        for answer in self._answers():
            self.versions.update(answer.get("ready", {}))
            if "missing" in answer:
                self.missing = f"not installed ({answer['missing']}): pip install {variant.install}"
            elif "ready" not in answer:
                self.missing = f"failed: {answer.get('failed', 'its process exited')}"
        if self.missing:
            self.close()

    def measure(self, seconds: float) -> Sample:
        """Lets every process play for about `seconds`."""
        for process in self._processes:
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
        answers = self._answers()
        if not all(answers):
            raise RuntimeError(f"a process of {self.name} exited during the measurement")
        names = ("positions", "games", "simulations", "evaluations", "processor_seconds")
        return Sample(
            **{name: sum(answer[name] for answer in answers) for name in names},
            seconds=max(answer["seconds"] for answer in answers),
            rate=sum(answer["positions"] / answer["seconds"] for answer in answers),
        )

    def close(self) -> None:
        """Stops the processes."""
        for process in self._processes:
            stop_process(process)

    def _answers(self) -> list[dict[str, Any]]:
        """The next answer of each process; empty if the process has exited."""
        return [json.loads(process.stdout.readline() or "{}") for process in self._processes]


def _start(python: Path, variant: PeerVariant, number: int, core: int) -> Any:
    settings = json.dumps({**variant.settings, "seed": number})
    return subprocess.Popen(
        [str(python), str(_PLAY_WINDOWS), variant.module, str(core), settings],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
