"""Gradient steps: the network in training, its optimiser, and the averaged weights that play."""

import copy
import functools
import itertools
import logging
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tesuji.networks.evaluators import available_engines
from tesuji.networks.torch_engine import torch_threads
from tesuji.networks.weights import put_weights
from tesuji.training.config import TrainingConfig
from tesuji.training.losses import Measures, compute_losses, measure, mover_values
from tesuji.training.replay import Batch, Plan

_log = logging.getLogger("tesuji")
_AVERAGING_START = 10.0  # steps over which the average begins to reach back
_CALIBRATION_BINS = 10
_OPTIMIZER_ENTRIES = {"sgd": {"momentum_buffer"}, "adamw": {"step", "exp_avg", "exp_avg_sq"}}


class Learner:
    """Trains a network.

    Attributes:
        network: the weights as the steps left them.
        average: the averaged weights, which play.
        step: steps taken so far.
    """

    def __init__(self, network: nn.Module, config: TrainingConfig, threads: int) -> None:
        """Begins at step 0 with the network as it is."""
        self.config, self.step = config, 0
        self.network: Any = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average: Any = copy.deepcopy(self.network).requires_grad_(False)
        self._threads = threads
        self._optimizer = _make_optimizer(network, config)
        self._is_bf16 = config.precision == "bfloat16" or (
            config.precision == "auto" and "torch-bf16" in available_engines(network)
        )

    def learn(self, plan: Plan, progress: float) -> dict[str, float]:
        """Takes the plan's steps; `progress` of the run, 0 to 1, sets the learning rate.

        Returns:
            What was measured on the way, averages over all positions.
        """
        report = _Report(self.config.value_weight)
        rate = 0.0
        with torch_threads(1), ThreadPoolExecutor(self._threads) as executor:
            while (batch := plan.next()) is not None:
                rate = self._set_rate(progress)
                losses = self._take_step(batch, executor, report)
                plan.learned(batch, losses)
        return report.averages() | {"learning_rate": rate}

    def _take_step(
        self, batch: Batch, executor: ThreadPoolExecutor, report: "_Report"
    ) -> NDArray[np.float32]:
        """One step; the loss of each position.

        Each thread takes a part of the batch. PyTorch's own threads wait for each other by
        spinning, which is many times slower where another process has one of the cores.
        """
        parts = [
            Batch(*part) for part in zip(*(_split(a, self._threads) for a in batch), strict=True)
        ]
        count = len(batch.rows)
        if self._threads == 1:
            done = [self._differentiate(parts[0], count)]
        else:
            done = list(executor.map(self._differentiate, parts, itertools.repeat(count)))
        self._optimizer.zero_grad(set_to_none=True)
        for parameter, *gradients in zip(
            self.network.parameters(), *(part.gradients for part in done), strict=True
        ):
            parameter.grad = functools.reduce(torch.add, gradients)
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip_norm)
        if not torch.isfinite(norm):
            raise FloatingPointError(
                f"the gradient became {float(norm)} at step {self.step}; "
                "set a smaller training.learning_rate"
            )
        self._optimizer.step()
        self.step += 1
        self._update_average()
        for part in done:
            report.add(part.measures, part.values, part.outcomes)
        report.norms.append(float(norm))
        return np.concatenate([part.losses for part in done])

    def _differentiate(self, part: Batch, count: int) -> "_Part":
        """The gradients of a part of a batch of `count` positions."""
        with torch_threads(1):
            planes = torch.from_numpy(part.planes)
            if planes.ndim == 4:
                planes = planes.contiguous(memory_format=torch.channels_last)
            policies, values = torch.from_numpy(part.policies), torch.from_numpy(part.values)
            with torch.autocast("cpu", torch.bfloat16, enabled=self._is_bf16):
                output = self.network(planes)
            losses = compute_losses(output, policies, values)
            each = losses.policy + self.config.value_weight * losses.value
            loss = (each * torch.from_numpy(part.weights)).sum() / count
            gradients = torch.autograd.grad(loss, list(self.network.parameters()))
            return _Part(
                gradients=gradients,
                losses=each.detach().numpy(),
                measures=measure(output, policies, losses),
                values=mover_values(output).detach().numpy(),
                outcomes=part.outcomes,
            )

    def _set_rate(self, progress: float) -> float:
        rate = self.config.learning_rate * rate_factor(self.config, progress)
        rate *= min(1.0, (self.step + 1) / max(1, self.config.warmup_steps))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        return rate

    def _update_average(self) -> None:
        reach = (1.0 + self.step) / (_AVERAGING_START + self.step)
        decay = min(self.config.average_decay, reach)
        with torch.no_grad():
            averages = list(self.average.parameters())
            torch._foreach_lerp_(averages, list(self.network.parameters()), 1.0 - decay)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, as tensors by name."""
        tensors = {"step": torch.tensor(self.step)}
        for name, tensor in self.network.state_dict().items():
            tensors[f"network.{name}"] = tensor.contiguous()
        for name, tensor in self.average.state_dict().items():
            tensors[f"average.{name}"] = tensor.contiguous()
        for index, entry in self._optimizer.state_dict()["state"].items():
            for name, value in entry.items():
                if isinstance(value, Tensor):
                    tensors[f"optimizer.{index}.{name}"] = value.contiguous()
        return tensors

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Goes on where `state` was taken; what another optimiser had gathered is left out.

        Raises:
            ValueError: when the tensors are of another network.
        """
        for prefix, network in (("network.", self.network), ("average.", self.average)):
            own = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
            put_weights(network, own, "the saved state")
        entries: dict[int, dict[str, Any]] = {}
        parameters, unknown = list(self.network.parameters()), set()
        for key, tensor in tensors.items():
            if key.startswith("optimizer."):
                _, index, name = key.split(".", 2)
                if name not in _OPTIMIZER_ENTRIES[self.config.optimizer]:
                    unknown.add(name)
                    continue
                parameter = parameters[int(index)]
                entry = entries.setdefault(int(index), {})
                is_alike = tensor.shape == parameter.shape
                # In the parameter's memory format: the fused step goes through both as they lie.
                entry[name] = torch.empty_like(parameter).copy_(tensor) if is_alike else tensor
        if unknown:
            _log.warning(
                "%s begins anew: the saved %s is of another optimiser",
                self.config.optimizer,
                ", ".join(sorted(unknown)),
            )
        state = self._optimizer.state_dict()
        state["state"] = entries
        self._optimizer.load_state_dict(state)
        self.step = int(tensors["step"])


def rate_factor(config: TrainingConfig, progress: float) -> float:
    """The share of the learning rate that is left at `progress`, 0 to 1, of the run."""
    progress = min(1.0, max(0.0, progress))
    if config.schedule == "cosine":
        return config.final_rate + (1 - config.final_rate) * (1 + math.cos(math.pi * progress)) / 2
    if config.schedule == "step":
        return 1.0 if progress < 0.5 else 0.1 if progress < 0.8 else 0.01
    return 1.0


class _Part(NamedTuple):
    """What one thread found out of its share of a batch."""

    gradients: tuple[Tensor, ...]
    losses: NDArray[np.float32]
    measures: Measures
    values: NDArray[np.float32]  # v for the mover
    outcomes: NDArray[np.float32]  # how the games ended


def _split(array: NDArray[Any], parts: int) -> list[NDArray[Any]]:
    return np.array_split(array, parts)


class _Report:
    """Sums over the steps of a generation."""

    def __init__(self, value_weight: float) -> None:
        self._value_weight = value_weight
        self._sums = np.zeros(len(Measures._fields))
        self._bins = np.zeros((_CALIBRATION_BINS, 3))  # positions, Σ v, Σ z
        self._squares = np.zeros(3)  # Σ v², Σ z², Σ (z − v)²
        self.norms: list[float] = []

    def add(self, measures: Measures, v: NDArray[np.float32], z: NDArray[np.float32]) -> None:
        self._sums += np.array(measures)
        places = np.clip(((v + 1) / 2 * _CALIBRATION_BINS).astype(int), 0, _CALIBRATION_BINS - 1)
        for column, numbers in enumerate((np.ones_like(v), v, z)):
            self._bins[:, column] += np.bincount(places, numbers, _CALIBRATION_BINS)
        self._squares += [float(np.square(numbers).sum()) for numbers in (v, z, z - v)]

    def averages(self) -> dict[str, float]:
        sums = Measures._make(self._sums.tolist())
        if not sums.positions:
            return {"steps": 0.0}
        n = sums.positions
        gaps = np.abs(self._bins[:, 1] - self._bins[:, 2]).sum() / n
        return {
            "steps": float(len(self.norms)),
            "loss": (sums.policy_loss + self._value_weight * sums.value_loss) / n,
            "policy_loss": sums.policy_loss / n,
            "value_loss": sums.value_loss / n,
            "policy_entropy": sums.policy_entropy / n,
            "target_entropy": sums.target_entropy / n,
            "policy_kl": (sums.policy_loss - sums.target_entropy) / n,
            "search_agreement": sums.agreement / n,
            "value_mean": sums.value_sum / n,
            "value_calibration_error": float(gaps),
            "gradient_norm": float(np.mean(self.norms)),
            **self._value_spread(),
        }

    def _value_spread(self) -> dict[str, float]:
        """The spread of v, and the share of the variance of z that v explains, if z has any."""
        n, v, z = self._bins.sum(0).tolist()
        v2, z2, error = (self._squares / n).tolist()
        found = {"value_spread": math.sqrt(max(0.0, v2 - (v / n) ** 2))}
        variance = z2 - (z / n) ** 2
        return found | ({"value_explained": 1 - error / variance} if variance > 1e-6 else {})


def _make_optimizer(network: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    if config.optimizer == "sgd":
        return torch.optim.SGD(
            network.parameters(),
            config.learning_rate,
            momentum=config.momentum,
            weight_decay=config.weight_decay,
        )
    return torch.optim.AdamW(
        network.parameters(), config.learning_rate, weight_decay=config.weight_decay, fused=True
    )
