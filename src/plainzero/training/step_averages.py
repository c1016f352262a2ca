"""What a generation's steps measured: sums over its positions, and the averages of them."""

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plainzero.networks.architectures import Output
from plainzero.training.losses import Losses, Measures, measure_each, mover_values

_CALIBRATION_BINS = 10


class Sums(NamedTuple):
    """Sums over positions; v is the network's value for the mover, z how the game ended."""

    measures: NDArray[np.float64]  # [fields of Measures]
    bins: NDArray[np.float64]  # [bins of v, 3] positions, Σ v, Σ z
    squares: NDArray[np.float64]  # [3] Σ v², Σ z², Σ (z − v)²


class Report:
    """Sums over the steps of a generation."""

    def __init__(self, value_weight: float) -> None:
        """Begins at zero."""
        self._value_weight = value_weight
        self._sums = Sums(
            np.zeros(len(Measures._fields)), np.zeros((_CALIBRATION_BINS, 3)), np.zeros(3)
        )
        self.norms: list[float] = []  # of each step's gradient

    def add(self, measures: Measures, v: NDArray[np.float32], z: NDArray[np.float32]) -> None:
        """Adds a part of a step's batch."""
        sums = self._sums
        sums.measures[:] += np.array(measures)
        places = np.clip(((v + 1) / 2 * _CALIBRATION_BINS).astype(int), 0, _CALIBRATION_BINS - 1)
        for column, numbers in enumerate((np.ones_like(v), v, z)):
            sums.bins[:, column] += np.bincount(places, numbers, _CALIBRATION_BINS)
        sums.squares[:] += [float(np.square(numbers).sum()) for numbers in (v, z, z - v)]

    def averages(self) -> dict[str, float]:
        """By the names of the metrics."""
        norm = float(np.mean(self.norms)) if self.norms else 0.0
        return _averages(self._sums, self._value_weight, len(self.norms), norm)


class DeviceReport:
    """The same sums in tensors of one device, which are read when a generation has ended.

    The tensors keep their addresses, since a captured step adds to them.
    """

    def __init__(self, value_weight: float, device: torch.device) -> None:
        """Begins at zero."""
        self._value_weight = value_weight

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.float64, device=device)

        self._measures = zeros(len(Measures._fields))
        self._bins, self._squares = zeros(_CALIBRATION_BINS, 3), zeros(3)
        self._steps = zeros(2)  # how many, Σ of their gradients' norms
        self._failed = zeros(2)  # 1 + the first whose norm is no number (0: none), that norm
        self.tensors = [self._measures, self._bins, self._squares, self._steps, self._failed]

    def clear(self) -> None:
        """Goes back to zero."""
        for tensor in self.tensors:
            tensor.zero_()

    def add(
        self, output: Output, policies: Tensor, losses: Losses, outcomes: Tensor, counts: Tensor
    ) -> None:
        """Adds a step's batch, each position `counts` [B] times: 1, or 0 for none at all."""
        with torch.no_grad():
            each = torch.stack([*measure_each(output, policies, losses), torch.ones_like(counts)])
            self._measures.add_((each * counts).sum(1, dtype=torch.float64))
            v, z = mover_values(output), outcomes
            places = ((v + 1) / 2 * _CALIBRATION_BINS).long().clamp(0, _CALIBRATION_BINS - 1)
            numbers = torch.stack([torch.ones_like(v), v, z], 1) * counts[:, None]
            self._bins.index_add_(0, places, numbers.double())
            squares = torch.stack([v, z, z - v]).square() * counts
            self._squares.add_(squares.sum(1, dtype=torch.float64))

    def add_norm(self, norm: Tensor) -> None:
        """Ends a step with the norm [] of its gradient."""
        norm = norm.double()
        self._steps.add_(torch.stack([torch.ones_like(norm), norm]))
        is_first = ~torch.isfinite(norm) & (self._failed[0] == 0)
        self._failed.copy_(torch.where(is_first, torch.stack([self._steps[0], norm]), self._failed))

    def failure(self) -> tuple[int, float] | None:
        """The first step, from 0, whose gradient is no number, and its norm; waits for both."""
        step, norm = self._failed.tolist()
        return (int(step) - 1, norm) if step else None

    def averages(self) -> dict[str, float]:
        """By the names of the metrics; waits for the steps to end."""
        steps, norms = self._steps.tolist()
        sums = Sums(*(t.cpu().numpy() for t in (self._measures, self._bins, self._squares)))
        return _averages(sums, self._value_weight, int(steps), norms / max(1.0, steps))


def _averages(sums: Sums, value_weight: float, steps: int, norm: float) -> dict[str, float]:
    measures = Measures._make(sums.measures.tolist())
    if not measures.positions:
        return {"steps": 0.0}
    n = measures.positions
    gaps = np.abs(sums.bins[:, 1] - sums.bins[:, 2]).sum() / n
    return {
        "steps": float(steps),
        "loss": (measures.policy_loss + value_weight * measures.value_loss) / n,
        "policy_loss": measures.policy_loss / n,
        "value_loss": measures.value_loss / n,
        "policy_entropy": measures.policy_entropy / n,
        "target_entropy": measures.target_entropy / n,
        "policy_kl": (measures.policy_loss - measures.target_entropy) / n,
        "search_agreement": measures.agreement / n,
        "value_mean": measures.value_sum / n,
        "value_calibration_error": float(gaps),
        "gradient_norm": norm,
        **_value_spread(sums),
    }


def _value_spread(sums: Sums) -> dict[str, float]:
    """The spread of v, and the share of the variance of z that v explains, if z has any."""
    n, v, z = sums.bins.sum(0).tolist()
    v2, z2, error = (sums.squares / n).tolist()
    found = {"value_spread": math.sqrt(max(0.0, v2 - (v / n) ** 2))}
    variance = z2 - (z / n) ** 2
    return found | ({"value_explained": 1 - error / variance} if variance > 1e-6 else {})
