"""The optimiser, the learning rate, and the state that a learner saves."""

import logging
import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from plainzero.networks.weights import put_weights
from plainzero.training.learned_network import Learned
from plainzero.training.settings import TrainingConfig

_log = logging.getLogger("plainzero")
_AVERAGING_START = 10.0  # steps; a young average must forget the random first weights quickly
_OPTIMIZER_ENTRIES = {"sgd": {"momentum_buffer"}, "adamw": {"step", "exp_avg", "exp_avg_sq"}}


class Optimizer(Protocol):
    """The methods of an optimiser that save and restore its state."""

    def state_dict(self) -> dict[str, Any]:
        """The optimiser's state, under `state`, by the number of the parameter."""

    def load_state_dict(self, saved: dict[str, Any], /) -> None:
        """Restores what `state_dict` returned."""


def make_optimizer(
    parameters: Sequence[nn.Parameter], config: TrainingConfig
) -> torch.optim.Optimizer:
    """The optimiser of a learner on the CPU."""
    if config.optimizer == "sgd":
        return torch.optim.SGD(
            parameters,
            config.learning_rate,
            momentum=config.momentum,
            weight_decay=config.weight_decay,
        )
    return torch.optim.AdamW(
        parameters, config.learning_rate, weight_decay=config.weight_decay, fused=True
    )


def next_rate(config: TrainingConfig, last: float, progress: float) -> float:
    """The rate of a step at `progress`, 0 to 1, of the run, after a step at the rate `last`.

    It rises from 0 to `learning_rate` in `warmup_steps` and never faster. AdamW's averages come
    from gradients at the lower rate; a run that is resumed with a later end would leave them
    behind in one step, and its loss would explode.
    """
    rate = config.learning_rate * rate_factor(config, progress)
    return min(rate, last + config.learning_rate / max(1, config.warmup_steps))


def rate_factor(config: TrainingConfig, progress: float) -> float:
    """The share of the learning rate that is left at `progress`, 0 to 1, of the run."""
    progress = min(1.0, max(0.0, progress))
    if config.schedule == "cosine":
        return config.final_rate + (1 - config.final_rate) * (1 + math.cos(math.pi * progress)) / 2
    if config.schedule == "step":
        return 1.0 if progress < 0.5 else 0.1 if progress < 0.8 else 0.01
    return 1.0


def averaging_decay(config: TrainingConfig, step: int) -> float:
    """The weight of the old average when step number `step` is averaged in."""
    reach = (1.0 + step) / (_AVERAGING_START + step)
    return min(config.average_decay, reach)


def gradient_error(norm: float, step: int) -> FloatingPointError:
    """The error for a gradient that is not finite, in the step after `step` steps."""
    return FloatingPointError(
        f"the gradient became {norm} at step {step}; set a smaller training.learning_rate"
    )


def saved_state(
    step: int, rate: float, learned: Learned, average: nn.Module, optimizer: Optimizer
) -> dict[str, Tensor]:
    """Everything that the next step depends on, as tensors on the CPU by name."""
    tensors = {"step": torch.tensor(step), "rate": torch.tensor(rate, dtype=torch.float64)}
    for name, tensor in learned.state().items():
        tensors[name] = _on_host(tensor)
    for name, tensor in average.state_dict().items():
        tensors[f"average.{name}"] = _on_host(tensor)
    labels = [*learned.named_parameters()]
    for index, entry in optimizer.state_dict()["state"].items():
        for name, value in entry.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer.{labels[index]}.{name}"] = _on_host(value)
    return tensors


def _on_host(tensor: Tensor) -> Tensor:
    """The tensor on the CPU, contiguous; the same object if it is so already.

    A GPU makes it contiguous: PyTorch's CPU threads would wait for milliseconds per tensor while
    another process uses one of the cores.
    """
    return tensor.contiguous().cpu()


def restore_state(
    tensors: dict[str, Tensor],
    learned: Learned,
    average: nn.Module,
    optimizer: Optimizer,
    config: TrainingConfig,
) -> tuple[int, float]:
    """Restores what `saved_state` returned; returns the step and the learning rate.

    Weights keep their addresses. The state of another optimiser is dropped; heads that were not
    learned before start anew.

    Raises:
        ValueError: if the tensors are of another network.
    """
    for prefix, module in (("network.", learned.network), ("average.", average)):
        own = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        put_weights(module, own, "the saved state")
    kept = learned.restore_heads(tensors)
    entries: dict[int, dict[str, Any]] = {}
    places, unknown = {label: i for i, label in enumerate(kept)}, set()
    for key, tensor in tensors.items():
        if key.startswith("optimizer."):
            label, _, name = key.removeprefix("optimizer.").rpartition(".")
            if name not in _OPTIMIZER_ENTRIES[config.optimizer]:
                unknown.add(name)
                continue
            parameter = kept.get(label)
            if parameter is None:
                continue  # of a head that is no longer learned, or is new
            entry = entries.setdefault(places[label], {})
            is_alike = tensor.shape == parameter.shape
            # In the parameter's memory format: the fused step walks both in memory order.
            entry[name] = torch.empty_like(parameter).copy_(tensor) if is_alike else tensor
    if unknown:
        _log.warning(
            "%s starts from zero: the saved %s belongs to another optimiser",
            config.optimizer,
            ", ".join(sorted(unknown)),
        )
    state = optimizer.state_dict()
    state["state"] = entries
    optimizer.load_state_dict(state)
    return int(tensors["step"]), float(tensors.get("rate", 0.0))
