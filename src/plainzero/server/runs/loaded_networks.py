"""Networks of runs and bundled ones, loaded as evaluators that many searches share."""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.opponents import bundled_networks
from plainzero.opponents.network_files import NetworkFile, NetworkFileError
from plainzero.search.config import SearchConfig
from plainzero.server.api.schemas.runs import CheckpointEvaluation
from plainzero.server.lru_cache import LruCache
from plainzero.server.runs.catalogue import Runs
from plainzero.server.runs.reader import RunReader, Stamp, stamp_of

if TYPE_CHECKING:
    from plainzero.networks.network_evaluators import NetworkEvaluator
    from plainzero.training.saved_run import SavedRun

_CACHED_EVALUATORS = 6
_EVALUATION_CACHE_BYTES = 64 << 20
_EVALUATION_BYTES = 1000  # of one entry with its key
_SHARE_BYTES = 32  # of each move in it
_EXPORT_LOCK = threading.Lock()  # PyTorch's ONNX exporter is not thread-safe
_TRIES = 3  # a run that keeps few weights may delete the newest while they are being read

Floats = NDArray[np.float32]


class LoadedNetworks:
    """Evaluators by run and step, or by game; the most recently used are cached. Thread-safe."""

    def __init__(self, runs: Runs) -> None:
        """For those runs; nothing is loaded yet."""
        self.runs = runs
        self.evaluations: LruCache[CheckpointEvaluation] = LruCache(
            _EVALUATION_CACHE_BYTES, _bytes_of
        )
        self._evaluators: LruCache[SharedEvaluator] = LruCache(_CACHED_EVALUATORS)

    def saved(self, run: str) -> "SavedRun":
        """A run to play against."""
        return self.runs.saved(run)

    def evaluator(self, run: str, step: int | None = None) -> "tuple[SharedEvaluator, int]":
        """The evaluator of a step, by default `newest_step`, and the step.

        Raises:
            ValueError: if the run cannot be opened, or has no such weights.
        """
        reader = self.runs.reader(run)
        saved = reader.open().saved
        for attempt in range(1, _TRIES + 1):
            chosen = self.newest_step(run) if step is None else step
            stamp = self.stamp(reader, chosen)

            def load(chosen: int = chosen) -> SharedEvaluator:
                network = saved.network(chosen)
                backend = _backend_for_one(network)
                return SharedEvaluator(lambda: saved.wrap(network, backend))

            try:
                return self._evaluators.get((reader.path, chosen, stamp), load), chosen
            except ValueError as error:
                if step is not None or attempt == _TRIES:
                    raise ValueError(reader.without_path(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def bundled(self, game: Game) -> "tuple[SharedEvaluator, SearchConfig]":
        """The bundled network of a game, and its recommended search options.

        Raises:
            ValueError: if there is none, or it cannot be used here; without its path.
        """
        try:
            file = bundled_networks.find_bundled_network(game)
            key = file.path, game, stamp_of(file.path)
            evaluator = self._evaluators.get(key, lambda: _share_bundled(file, game))
        except NetworkFileError as error:
            message = str(error).replace(f"{bundled_networks.FOLDER}{os.sep}", "")
            raise ValueError(message) from error
        return evaluator, file.search_config(1)

    def newest_step(self, run: str) -> int:
        """The step whose weights play: the latest, or with a gate the latest that passed it.

        Raises:
            ValueError: if there are none yet.
        """
        reader = self.runs.reader(run)
        steps = reader.steps()
        if not steps:
            raise ValueError(f"{run} has no weights yet; its first generation saves some")
        if not reader.open().saved.config.run.gate:
            return steps[-1]
        passed = (g.step for g in reversed(reader.generations()) if g.numbers.get("gate_passed"))
        return next(passed, steps[0])

    def stamp(self, reader: RunReader, step: int) -> Stamp:
        """A value that changes when the weights are written again.

        Raises:
            ValueError: if there are no weights of that step.
        """
        stamp = stamp_of(reader.open().saved.folder.weights_file(step))
        if stamp is None:
            steps = reader.steps()
            near = min(steps, key=lambda other: abs(other - step), default=None)
            hint = f"the nearest step is {near}" if near is not None else "it has none yet"
            raise ValueError(f"{reader.name} has no weights of step {step}; {hint}")
        return stamp


def _bytes_of(evaluation: CheckpointEvaluation) -> int:
    return _EVALUATION_BYTES + _SHARE_BYTES * len(evaluation.policy)


def _share_bundled(file: NetworkFile, game: Game) -> "SharedEvaluator":
    from plainzero.networks.network_evaluators import make_evaluator

    network = file.load(game)
    backend = _backend_for_one(network)
    return SharedEvaluator(lambda: make_evaluator(network, game, backend))


def _backend_for_one(network: Any) -> str:
    """The fastest backend for single positions, because these searches have one tree each.

    The run's own backend is chosen for the batches of self-play. With Connect Four's 4×48 network
    one position takes onnx 0.14 ms, torch 0.44 ms and torch-int8 0.66 ms (docs/lab-notebook.md).
    """
    from plainzero.networks.network_evaluators import available_backends

    return "onnx" if "onnx" in available_backends(network) else "torch"


class SharedEvaluator:
    """An evaluator that any number of threads may call at the same time.

    An evaluator of a network serves one caller at a time, so each call borrows one; another is made
    if all are in use. Each computes in one thread, so that two searches share two cores and no
    more.
    """

    def __init__(self, make: "Callable[[], NetworkEvaluator]") -> None:
        """Makes the first evaluator; `make` must return equal ones."""
        self._make = make
        self._lock = threading.Lock()
        first = self._make_evaluator()
        self.backend = first.backend
        self._free = [first]

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations, like those of `NetworkEvaluator`."""
        with self._lock:
            evaluator = self._free.pop() if self._free else None
        if evaluator is None:
            evaluator = self._make_evaluator()
        try:
            return evaluator(planes)
        finally:
            with self._lock:
                self._free.append(evaluator)

    def _make_evaluator(self) -> "NetworkEvaluator":
        with _EXPORT_LOCK:
            return self._make()
