"""What steps depend on beside the data: the optimiser, rates, and how both are saved."""

import logging
import math
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from plainzero.networks.weights import put_weights
from plainzero.training.settings import TrainingConfig

_log = logging.getLogger("plainzero")
_AVERAGING_START = 10.0  # steps over which the average begins to reach back
_OPTIMIZER_ENTRIES = {"sgd": {"momentum_buffer"}, "adamw": {"step", "exp_avg", "exp_avg_sq"}}


class Optimizer(Protocol):
    """What is asked of an optimiser to save and restore what it gathered."""

    def state_dict(self) -> dict[str, Any]:
        """What it gathered stands under `state`, by the number of the parameter."""

    def load_state_dict(self, saved: dict[str, Any], /) -> None:
        """Goes on with what `state_dict` gave."""


def make_optimizer(network: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """The optimiser of a learner on the CPU, which reads its rate as a number."""
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


def learning_rate(config: TrainingConfig, step: int, progress: float) -> float:
    """The rate of the step after `step` steps, at `progress`, 0 to 1, of the run."""
    rate = config.learning_rate * rate_factor(config, progress)
    return rate * min(1.0, (step + 1) / max(1, config.warmup_steps))


def rate_factor(config: TrainingConfig, progress: float) -> float:
    """The share of the learning rate that is left at `progress`, 0 to 1, of the run."""
    progress = min(1.0, max(0.0, progress))
    if config.schedule == "cosine":
        return config.final_rate + (1 - config.final_rate) * (1 + math.cos(math.pi * progress)) / 2
    if config.schedule == "step":
        return 1.0 if progress < 0.5 else 0.1 if progress < 0.8 else 0.01
    return 1.0


def averaging_decay(config: TrainingConfig, step: int) -> float:
    """The share of the averaged weights that stays after the step that makes it `step` steps."""
    reach = (1.0 + step) / (_AVERAGING_START + step)
    return min(config.average_decay, reach)


def gradient_error(norm: float, step: int) -> FloatingPointError:
    """What to raise where the gradient of the step after `step` steps is no number."""
    return FloatingPointError(
        f"the gradient became {norm} at step {step}; set a smaller training.learning_rate"
    )


def saved_state(
    step: int, network: nn.Module, average: nn.Module, optimizer: Optimizer
) -> dict[str, Tensor]:
    """Everything that the next step depends on, as tensors on the CPU by name."""
    tensors = {"step": torch.tensor(step)}
    for name, tensor in network.state_dict().items():
        tensors[f"network.{name}"] = _on_host(tensor)
    for name, tensor in average.state_dict().items():
        tensors[f"average.{name}"] = _on_host(tensor)
    for index, entry in optimizer.state_dict()["state"].items():
        for name, value in entry.items():
            if isinstance(value, Tensor):
                tensors[f"optimizer.{index}.{name}"] = _on_host(value)
    return tensors


def _on_host(tensor: Tensor) -> Tensor:
    """It on the CPU in the usual order of channels: the tensor itself, where it is so already.

    A GPU brings it into that order: the threads by which PyTorch does it on a CPU wait for
    milliseconds, for each tensor, while another process has one of its cores.
    """
    return tensor.contiguous().cpu()


def restore_state(
    tensors: dict[str, Tensor],
    network: nn.Module,
    average: nn.Module,
    optimizer: Optimizer,
    config: TrainingConfig,
) -> int:
    """Puts back what `saved_state` gave, and returns the step.

    Weights keep their addresses. What another optimiser had gathered is left out.

    Raises:
        ValueError: when the tensors are of another network.
    """
    for prefix, module in (("network.", network), ("average.", average)):
        own = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        put_weights(module, own, "the saved state")
    entries: dict[int, dict[str, Any]] = {}
    parameters, unknown = list(network.parameters()), set()
    for key, tensor in tensors.items():
        if key.startswith("optimizer."):
            _, index, name = key.split(".", 2)
            if name not in _OPTIMIZER_ENTRIES[config.optimizer]:
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
            config.optimizer,
            ", ".join(sorted(unknown)),
        )
    state = optimizer.state_dict()
    state["state"] = entries
    optimizer.load_state_dict(state)
    return int(tensors["step"])
