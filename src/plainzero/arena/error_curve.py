"""A run's learning curve: the error rates of its weights on solved positions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from plainzero.arena.accuracy import evaluate_positions
from plainzero.devices import choose_device
from plainzero.opponents.solved_positions import PositionSet
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunError
from plainzero.training.saved_run import SavedRun

LEVELS = (0.05, 0.03, 0.02, 0.01)
"""Error rates whose first time is reported."""


class CurvePoint(NamedTuple):
    """The weights of one step."""

    seconds: float  # of the run's clock
    step: int
    errors: list[float]  # the error rate on each set


def measure_curve(
    run: SavedRun,
    sets: Sequence[PositionSet],
    points: int,
    simulations: int,
    device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> list[CurvePoint]:
    """The error rates of up to `points` of a run's weights, evenly spaced in time.

    Args:
        run: the run.
        sets: positions with the outcome of each move.
        points: maximum number of weights; the last ones are always included.
        simulations: of each search; 0: the network alone.
        device: where the network runs.
        progress: called after each point; StopIteration ends the measurement early.

    Raises:
        RunError: when the run has no weights of a whole generation.
        ValueError: for an unavailable device.
    """
    chosen = spread(_times(run), points)
    config = run.search_config(simulations) if simulations else None
    evaluate = _evaluator(run, choose_device(device, needs_torch=True))
    found = []
    for done, (step, seconds) in enumerate(chosen.items(), 1):
        evaluator = evaluate(step)
        parts = [evaluate_positions(run.game, evaluator, known, config) for known in sets]
        rates = [part.total.error_rate.mean for part in parts]
        found.append(CurvePoint(seconds, step, [float(rate) for rate in rates if rate is not None]))
        try:
            if progress is not None:
                progress(done, len(chosen))
        except StopIteration:
            break
    return found


def first_reached(curve: Sequence[CurvePoint], index: int) -> dict[float, float | None]:
    """When each level was first reached on a set, in seconds; None: never."""
    return {
        level: next((p.seconds for p in curve if p.errors[index] <= level), None)
        for level in LEVELS
    }


def spread(times: dict[int, float], points: int) -> dict[int, float]:
    """Up to `points` of the steps, nearest to evenly spaced times."""
    steps, seconds = list(times), np.array(list(times.values()))
    if points >= len(steps):
        return times
    wanted = np.linspace(seconds[-1], seconds[0], points)
    nearest = {steps[int(np.abs(seconds - moment).argmin())] for moment in wanted}
    return {step: times[step] for step in steps if step in nearest}


def _times(run: SavedRun) -> dict[int, float]:
    """The times of the weights on disk, by step."""
    on_disk = set(run.steps)
    lines = read_metrics(run.folder.metrics_file)
    times = {line["step"]: float(line["seconds"]) for line in lines if line["step"] in on_disk}
    if not times:
        raise RunError(f"{run.folder.path} has no weights of a whole generation yet")
    return times


def _evaluator(run: SavedRun, device: str) -> Callable[[int], Any]:
    """A function from a step to an evaluator with its weights."""
    if device == "cpu":
        return run.evaluator
    from plainzero.networks.gpu.backend import GpuNetworkEvaluator
    from plainzero.networks.network_evaluators import has_gpu_bf16

    kept = GpuNetworkEvaluator(run.network(), run.game, device, has_gpu_bf16())

    def load(step: int) -> GpuNetworkEvaluator:
        kept.load(run.network(step))
        return kept

    return load
