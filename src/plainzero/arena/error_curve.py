"""How the errors of a run fell: its weights, one after the other, on positions that are solved."""

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
"""Error rates of which it is told when they were reached first."""


class CurvePoint(NamedTuple):
    """The weights of one step."""

    seconds: float  # of the run's clock, when they were made
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
    """The error rates of up to `points` of a run's weights, spread over its time.

    Args:
        run: the run.
        sets: positions with the outcome of each move.
        points: at most so many weights; the last are always among them.
        simulations: of each search; 0: the network alone.
        device: where the network is computed.
        progress: called after each; where it raises StopIteration, what was done counts.

    Raises:
        RunError: when the run has no generation yet, or its weights were not kept.
        ValueError: for a device that there is not.
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
    """The second at which each level was first reached on a set; None for one that was not."""
    return {
        level: next((p.seconds for p in curve if p.errors[index] <= level), None)
        for level in LEVELS
    }


def spread(times: dict[int, float], points: int) -> dict[int, float]:
    """Of steps and when they were, up to so many: nearest to moments evenly apart."""
    steps, seconds = list(times), np.array(list(times.values()))
    if points >= len(steps):
        return times
    wanted = np.linspace(seconds[-1], seconds[0], points)
    nearest = {steps[int(np.abs(seconds - moment).argmin())] for moment in wanted}
    return {step: times[step] for step in steps if step in nearest}


def _times(run: SavedRun) -> dict[int, float]:
    """When the weights on disk were made, by step."""
    kept = set(run.steps)
    lines = read_metrics(run.folder.metrics_file)
    times = {line["step"]: float(line["seconds"]) for line in lines if line["step"] in kept}
    if not times:
        raise RunError(f"{run.folder.path} has no weights of a whole generation yet")
    return times


def _evaluator(run: SavedRun, device: str) -> Callable[[int], Any]:
    """A function from a step to an evaluator with its weights."""
    if device == "cpu":
        return run.evaluator
    from plainzero.networks.gpu.backend import CudaEvaluator
    from plainzero.networks.network_evaluators import has_cuda_bf16

    kept = CudaEvaluator(run.network(), run.game, device, has_cuda_bf16())

    def load(step: int) -> CudaEvaluator:
        kept.load(run.network(step))
        return kept

    return load
