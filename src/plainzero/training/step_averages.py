"""The metrics of a generation's steps: sums over positions, and their averages."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plainzero.networks.architectures import Output
from plainzero.targets.target import Batch
from plainzero.training.losses import Losses, Measures, measure

_CALIBRATION_BINS = 10


class StepAverages:
    """Sums over the steps of a generation, on the learner's device, and their averages.

    The tensors keep their addresses, since a captured step adds to them.
    """

    def __init__(self, weights: Mapping[str, float], device: torch.device | str = "cpu") -> None:
        """Starts at zero, for losses with these weights, by name."""
        self._weights = weights

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.float64, device=device)

        self._measures = zeros(len(weights) + len(Measures._fields) + 1)
        self._bins, self._squares = zeros(_CALIBRATION_BINS, 3), zeros(3)
        self._steps = zeros(2)  # their number, Σ of their gradients' norms
        self._failed = zeros(2)  # 1 + the first step whose norm is not finite (0: none), that norm
        self.tensors = [self._measures, self._bins, self._squares, self._steps, self._failed]

    def clear(self) -> None:
        """Resets all sums to zero."""
        for tensor in self.tensors:
            tensor.zero_()

    def add(self, output: Output, batch: Batch, losses: Losses) -> None:
        """Adds a batch, or a part of one."""
        with torch.no_grad():
            counts = batch.counts
            measures = measure(output, batch)
            each = torch.stack([*losses.values(), *measures, torch.ones_like(counts)])
            self._measures.add_((each * counts).sum(1, dtype=torch.float64))
            v, z = measures.value, batch.targets["outcomes"][:, 0]
            places = ((v + 1) / 2 * _CALIBRATION_BINS).long().clamp(0, _CALIBRATION_BINS - 1)
            numbers = torch.stack([torch.ones_like(v), v, z], 1) * counts[:, None]
            self._bins.index_add_(0, places, numbers.double())
            squares = torch.stack([v, z, z - v]).square() * counts
            self._squares.add_(squares.sum(1, dtype=torch.float64))

    def add_norm(self, norm: Tensor) -> None:
        """Counts a step whose gradient has the norm []."""
        norm = norm.double()
        self._steps.add_(torch.stack([torch.ones_like(norm), norm]))
        is_first = ~torch.isfinite(norm) & (self._failed[0] == 0)
        self._failed.copy_(torch.where(is_first, torch.stack([self._steps[0], norm]), self._failed))

    def failure(self) -> tuple[int, float] | None:
        """The first step, from 0, whose gradient is not finite, and its norm; waits for both."""
        step, norm = self._failed.tolist()
        return (int(step) - 1, norm) if step else None

    def averages(self) -> dict[str, float]:
        """The averages by metric name; waits for the device."""
        steps, norms = self._steps.tolist()
        sums = _Sums(*(t.cpu().numpy() for t in (self._measures, self._bins, self._squares)))
        return _averages(sums, self._weights, int(steps), norms / max(1.0, steps))


class _Sums(NamedTuple):
    """Sums over positions; v is the network's value for the mover, z the game's result."""

    measures: NDArray[np.float64]  # [losses, fields of Measures, and positions]
    bins: NDArray[np.float64]  # [bins of v, 3] positions, Σ v, Σ z
    squares: NDArray[np.float64]  # [3] Σ v², Σ z², Σ (z − v)²


def _averages(
    sums: _Sums, weights: Mapping[str, float], steps: int, norm: float
) -> dict[str, float]:
    *measures, n = sums.measures.tolist()
    if not n:
        return {"steps": 0.0}
    names = (*(f"{name}_loss" for name in weights), *Measures._fields)
    mean = dict(zip(names, (total / n for total in measures), strict=True))
    gaps = np.abs(sums.bins[:, 1] - sums.bins[:, 2]).sum() / n
    return {
        "steps": float(steps),
        "loss": sum(weight * mean[f"{name}_loss"] for name, weight in weights.items()),
        **{f"{name}_loss": mean[f"{name}_loss"] for name in weights},
        "policy_entropy": mean["policy_entropy"],
        "target_entropy": mean["target_entropy"],
        "policy_kl": mean["policy_loss"] - mean["target_entropy"],
        "search_agreement": mean["agreement"],
        "value_mean": mean["value"],
        "value_calibration_error": float(gaps),
        "gradient_norm": norm,
        **_value_spread(sums),
    }


def _value_spread(sums: _Sums) -> dict[str, float]:
    """The spread of v, and the share of the variance of z that v explains, unless z is constant."""
    n, v, z = sums.bins.sum(0).tolist()
    v2, z2, error = (sums.squares / n).tolist()
    found = {"value_spread": math.sqrt(max(0.0, v2 - (v / n) ** 2))}
    variance = z2 - (z / n) ** 2
    return found | ({"value_explained": 1 - error / variance} if variance > 1e-6 else {})
