"""Gradient steps: the network in training, its optimiser, and the averaged weights that play."""

import copy
import functools
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plainzero.networks.backends.torch_backend import torch_threads
from plainzero.networks.network_evaluators import available_engines
from plainzero.training.losses import Measures, compute_losses, measure, mover_values
from plainzero.training.optimizers import (
    averaging_decay,
    gradient_error,
    learning_rate,
    make_optimizer,
    restore_state,
    saved_state,
)
from plainzero.training.replay import Batch, Plan
from plainzero.training.settings import TrainingConfig
from plainzero.training.step_averages import Report


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
        self._optimizer = make_optimizer(network, config)
        self._is_bf16 = config.precision == "bfloat16" or (
            config.precision == "auto" and "torch-bf16" in available_engines(network)
        )

    def learn(self, plan: Plan, progress: float) -> dict[str, float]:
        """Takes the plan's steps; `progress` of the run, 0 to 1, sets the learning rate.

        Returns:
            What was measured on the way, averages over all positions.
        """
        report = Report(self.config.value_weight)
        rate = 0.0
        with torch_threads(1), ThreadPoolExecutor(self._threads) as executor:
            while (batch := plan.next()) is not None:
                rate = self._set_rate(progress)
                losses = self._take_step(batch, executor, report)
                plan.learned(batch, losses)
        return report.averages() | {"learning_rate": rate}

    def _take_step(
        self, batch: Batch, executor: ThreadPoolExecutor, report: Report
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
            raise gradient_error(float(norm), self.step)
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
        rate = learning_rate(self.config, self.step, progress)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        return rate

    def _update_average(self) -> None:
        decay = averaging_decay(self.config, self.step)
        with torch.no_grad():
            averages = list(self.average.parameters())
            torch._foreach_lerp_(averages, list(self.network.parameters()), 1.0 - decay)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, as tensors by name."""
        return saved_state(self.step, self.network, self.average, self._optimizer)

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Goes on where `state` was taken; what another optimiser had gathered is left out.

        Raises:
            ValueError: when the tensors are of another network.
        """
        self.step = restore_state(tensors, self.network, self.average, self._optimizer, self.config)


class _Part(NamedTuple):
    """What one thread found out of its share of a batch."""

    gradients: tuple[Tensor, ...]
    losses: NDArray[np.float32]
    measures: Measures
    values: NDArray[np.float32]  # v for the mover
    outcomes: NDArray[np.float32]  # how the games ended


def _split(array: NDArray[Any], parts: int) -> list[NDArray[Any]]:
    return np.array_split(array, parts)
