"""The networks of the runs and those that ship, ready to evaluate, for many searches at once."""

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.opponents import bundled_networks as shipped
from plainzero.opponents.network_files import NetworkFile, NetworkFileError
from plainzero.search.config import SearchConfig
from plainzero.server.lru_cache import Kept
from plainzero.server.api.schemas.runs import Opinion
from plainzero.server.runs.reader import RunReader, Stamp, stamp_of
from plainzero.server.runs.catalogue import Runs

if TYPE_CHECKING:
    from plainzero.networks.network_evaluators import NetworkEvaluator
    from plainzero.training.saved_run import SavedRun

_EVALUATORS_KEPT = 6
_OPINIONS_KEPT = 64 << 20  # bytes
_OPINION_BYTES = 1000  # of one, with its key; and
_SHARE_BYTES = 32  # of each move's share in it, an object of its own
_MAKING = threading.Lock()  # PyTorch's exporter to ONNX serves one caller in the whole process
_TRIES = 3  # a run that keeps few weights may delete the newest while they are being read

Floats = NDArray[np.float32]


class Weights:
    """Evaluators by run and step, or by game; those used last are kept. Safe for threads."""

    def __init__(self, runs: Runs) -> None:
        """Of those runs; nothing is loaded yet."""
        self.runs = runs
        self.opinions: Kept[Opinion] = Kept(_OPINIONS_KEPT, _bytes_of)
        self._evaluators: Kept[SharedEvaluator] = Kept(_EVALUATORS_KEPT)

    def saved(self, run: str) -> "SavedRun":
        """A run to play with."""
        return self.runs.saved(run)

    def evaluator(self, run: str, step: int | None = None) -> "tuple[SharedEvaluator, int]":
        """The network of a step, by default of the newest that plays; and the step.

        Raises:
            ValueError: when the run cannot be read, or has no such weights.
        """
        reader = self.runs.reader(run)
        saved = reader.open().saved
        for attempt in range(1, _TRIES + 1):
            chosen = self.newest_step(run) if step is None else step
            stamp = self.stamp(reader, chosen)

            def load(chosen: int = chosen) -> SharedEvaluator:
                network = saved.network(chosen)
                engine = _engine_for_one(network)
                return SharedEvaluator(lambda: saved.wrap(network, engine))

            try:
                return self._evaluators.find((reader.path, chosen, stamp), load), chosen
            except ValueError as error:
                if step is not None or attempt == _TRIES:
                    raise ValueError(reader.without_path(error)) from error
        raise AssertionError("the last attempt returns or raises")

    def shipped(self, game: Game) -> "tuple[SharedEvaluator, SearchConfig]":
        """The network that ships for a game, and the options it is meant to be used with.

        Raises:
            ValueError: when there is none, or it cannot be used here; names no folder.
        """
        try:
            file = shipped.find_shipped(game)
            key = file.path, game, stamp_of(file.path)
            evaluator = self._evaluators.find(key, lambda: _share_shipped(file, game))
        except NetworkFileError as error:
            raise ValueError(str(error).replace(f"{shipped.FOLDER}{os.sep}", "")) from error
        return evaluator, file.search_config(1)

    def newest_step(self, run: str) -> int:
        """The step whose weights play: the latest, or with a gate the latest that passed it.

        Raises:
            ValueError: when there are none yet.
        """
        reader = self.runs.reader(run)
        steps = reader.steps()
        if not steps:
            raise ValueError(f"{run} has no weights yet; they come with its first generation")
        if not reader.open().saved.config.run.gate:
            return steps[-1]
        passed = (g.step for g in reversed(reader.generations()) if g.numbers.get("gate_passed"))
        return next(passed, steps[0])

    def stamp(self, reader: RunReader, step: int) -> Stamp:
        """What tells weights apart that were written anew.

        Raises:
            ValueError: when there are no weights of that step.
        """
        stamp = stamp_of(reader.open().saved.folder.weights_file(step))
        if stamp is None:
            steps = reader.steps()
            near = min(steps, key=lambda other: abs(other - step), default=None)
            hint = f"the nearest are of {near}" if near is not None else "it has none yet"
            raise ValueError(f"{reader.name} has no weights of step {step}; {hint}")
        return stamp


def _bytes_of(opinion: Opinion) -> int:
    return _OPINION_BYTES + _SHARE_BYTES * len(opinion.policy)


def _share_shipped(file: NetworkFile, game: Game) -> "SharedEvaluator":
    from plainzero.networks.network_evaluators import make_evaluator

    network = file.load(game)
    engine = _engine_for_one(network)
    return SharedEvaluator(lambda: make_evaluator(network, game, engine))


def _engine_for_one(network: Any) -> str:
    """The engine that is quickest with a single position: a person's search has one tree.

    The run's own is chosen for the batches of self-play. With Connect Four's 4×48 network one
    position takes onnx 0.14 ms, torch 0.44 ms and torch-int8 0.66 ms (docs/lab-notebook.md).
    """
    from plainzero.networks.network_evaluators import available_engines

    return "onnx" if "onnx" in available_engines(network) else "torch"


class SharedEvaluator:
    """An evaluator that any number of threads may call at once.

    An engine serves one caller at a time, so each call borrows one; another is made where all are
    in use. An engine computes in one thread, so that two searches share two cores and no more.
    """

    def __init__(self, make: "Callable[[], NetworkEvaluator]") -> None:
        """Makes the first engine; `make` must give equal ones."""
        self._make = make
        self._lock = threading.Lock()
        first = self._make_engine()
        self.engine = first.engine
        self._free = [first]

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations, as `NetworkEvaluator` gives them."""
        with self._lock:
            engine: Any = self._free.pop() if self._free else None
        if engine is None:
            engine = self._make_engine()
        try:
            answer: tuple[Floats, Floats] = engine(planes)
            return answer
        finally:
            with self._lock:
                self._free.append(engine)

    def _make_engine(self) -> "NetworkEvaluator":
        with _MAKING:
            return self._make()
