"""Gradient steps on the CPU: the network, its optimiser, and the averaged weights that play."""

import copy
import functools
import itertools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plainzero.games.contract import Game
from plainzero.networks.architectures import Output
from plainzero.networks.backends.torch_backend import torch_threads
from plainzero.networks.extra_heads import ExtraHeads
from plainzero.networks.network_evaluators import available_backends
from plainzero.networks.torch_private import lerp_all
from plainzero.targets.target import Batch
from plainzero.training.interfaces import Replay
from plainzero.training.learned_network import Learned
from plainzero.training.losses import (
    Losses,
    add_losses,
    compute_losses,
    loss_weights,
    scale_weights,
)
from plainzero.training.optimizers import (
    averaging_decay,
    gradient_error,
    make_optimizer,
    next_rate,
    restore_state,
    saved_state,
)
from plainzero.training.settings import TrainingConfig
from plainzero.training.step_averages import StepAverages


class CpuLearner:
    """Trains a network on the CPU; see `Learner`."""

    def __init__(
        self,
        network: nn.Module,
        config: TrainingConfig,
        threads: int,
        heads: ExtraHeads | None = None,
    ) -> None:
        """Starts at step 0 with the network as it is, and heads for the targets that need them."""
        self.config, self.step, self._rate = config, 0, 0.0
        self.network: Any = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average: Any = copy.deepcopy(self.network).requires_grad_(False)
        self._threads, self._weights = threads, loss_weights(config)
        self._learned = Learned(self.network, heads)
        self._optimizer = make_optimizer(self._learned.parameters(), config)
        self._is_bf16 = config.precision == "bfloat16" or (
            config.precision == "auto" and "torch-bf16" in available_backends(network)
        )

    def prepare(self, game: Game) -> None:
        """Does nothing: a first step on the CPU takes no longer than the others."""

    def learn(self, replay: Replay, progress: float) -> dict[str, float]:
        """Takes the steps that the replay has planned; see `Learner`."""
        averages = StepAverages(self._weights)
        with torch_threads(1), ThreadPoolExecutor(self._threads) as executor:
            while replay.prepare_step():
                self._set_rate(progress)
                batch = _without_padding(replay.draw())
                losses = self._take_step(batch, executor, averages)
                replay.learned(batch, losses)
        return averages.averages() | {"learning_rate": self._rate}

    def _take_step(
        self, batch: Batch, executor: ThreadPoolExecutor, averages: StepAverages
    ) -> Tensor:
        """Takes one step; returns the loss [B] of each position.

        Each thread takes a part of the batch. PyTorch's own threads wait for each other by
        spinning, which is many times slower if another process uses one of the cores.
        """
        count = len(batch.rows)
        parts = _split(batch, self._threads)
        weights = scale_weights(self._weights, batch)
        if self._threads == 1:
            done = [self._differentiate(parts[0], count, weights)]
        else:
            same = itertools.repeat(count), itertools.repeat(weights)
            done = list(executor.map(self._differentiate, parts, *same))
        self._optimizer.zero_grad(set_to_none=True)
        parameters = self._learned.parameters()
        for parameter, *gradients in zip(
            parameters, *(part.gradients for part in done), strict=True
        ):
            parameter.grad = functools.reduce(torch.add, gradients)
        norm = nn.utils.clip_grad_norm_(parameters, self.config.clip_norm)
        if not torch.isfinite(norm):
            raise gradient_error(float(norm), self.step)
        self._optimizer.step()
        self.step += 1
        self._update_average()
        for part, found in zip(parts, done, strict=True):
            averages.add(found.output, part, found.losses)
        averages.add_norm(norm)
        return torch.cat([found.total for found in done])

    def _differentiate(
        self, part: Batch, count: int, weights: Mapping[str, Tensor | float]
    ) -> "_Part":
        """The gradients of a part of a batch of `count` positions."""
        with torch_threads(1):
            planes = part.planes
            if planes.ndim == 4:
                planes = planes.contiguous(memory_format=torch.channels_last)
            with torch.autocast("cpu", torch.bfloat16, enabled=self._is_bf16):
                output = self._learned(planes)
            losses = compute_losses(output, part, self.config)
            total = add_losses(losses, weights)
            loss = (total * part.weights).sum() / count
            gradients = torch.autograd.grad(loss, self._learned.parameters())
            return _Part(gradients, total.detach(), losses, output)

    def _set_rate(self, progress: float) -> None:
        self._rate = next_rate(self.config, self._rate, progress)
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate

    def _update_average(self) -> None:
        decay = averaging_decay(self.config, self.step)
        with torch.no_grad():
            averages = list(self.average.parameters())
            lerp_all(averages, list(self.network.parameters()), 1.0 - decay)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on; see `Learner`."""
        return saved_state(self.step, self._rate, self._learned, self.average, self._optimizer)

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Resumes from a saved state; see `Learner`. Drops the state of another optimiser."""
        self.step, self._rate = restore_state(
            tensors, self._learned, self.average, self._optimizer, self.config
        )


class _Part(NamedTuple):
    """What one thread computed from its part of a batch, b positions."""

    gradients: tuple[Tensor, ...]
    total: Tensor  # [b] the loss of each position
    losses: Losses  # its terms
    output: Output


def _without_padding(batch: Batch) -> Batch:
    """The batch's positions; on the CPU, padding would only cost time."""
    count = int(batch.counts.sum())
    return batch.map(lambda column: column[:count])


def _split(batch: Batch, count: int) -> list[Batch]:
    """Parts of a batch that are as equal as possible."""

    def part(place: int) -> Batch:
        return batch.map(lambda column: column.tensor_split(count)[place])

    return [part(place) for place in range(count)]
