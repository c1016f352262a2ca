"""The optimisers of a learner on a GPU: PyTorch's fused steps, which a CUDA graph can capture.

`torch.optim` has the same steps, but imports PyTorch's compiler for them, which delays the first
start by five seconds.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from plainzero.networks.torch_private import AdamState, adamw_step, sgd_step
from plainzero.training.settings import TrainingConfig

_BETAS, _EPSILON = (0.9, 0.999), 1e-8  # as `torch.optim.AdamW` has them


class FusedOptimizer:
    """SGD with momentum or AdamW, for all parameters at once.

    Attributes:
        state: of each parameter, named as in `torch.optim`; empty before the first step.
    """

    def __init__(self, parameters: Iterable[Tensor], config: TrainingConfig, rate: Tensor) -> None:
        """Starts without state; each step reads the learning rate from `rate` []."""
        self.parameters, self.config, self.rate = [*parameters], config, rate
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Drops the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        """Takes a step along the gradients; parameters without one do not change."""
        moved = [parameter for parameter in self.parameters if parameter.grad is not None]
        for parameter in moved:
            if parameter not in self.state:
                self.state[parameter] = self._initial_state(parameter)
        if not moved:
            return
        entries = [self.state[parameter] for parameter in moved]
        gathered = {name: [entry[name] for entry in entries] for name in entries[0]}
        gradients = [parameter.grad for parameter in moved if parameter.grad is not None]
        with torch.no_grad():
            decay = self.config.weight_decay
            if self.config.optimizer == "sgd":
                buffers = gathered["momentum_buffer"]
                sgd_step(moved, gradients, buffers, self.rate, self.config.momentum, decay)
            else:
                state = AdamState(**gathered)
                adamw_step(moved, gradients, state, self.rate, _BETAS, decay, _EPSILON)

    def _initial_state(self, parameter: Tensor) -> dict[str, Tensor]:
        if self.config.optimizer == "sgd":
            return {"momentum_buffer": torch.zeros_like(parameter)}
        return {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }

    def state_dict(self) -> dict[str, Any]:
        """The state by the number of the parameter, as in `torch.optim`."""
        entries = {i: self.state[p] for i, p in enumerate(self.parameters) if p in self.state}
        return {"state": entries}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Resumes from what `state_dict` returned; parameters missing there start without state."""
        self.state.clear()
        for index, entry in saved["state"].items():
            parameter = self.parameters[index]
            self.state[parameter] = {
                name: tensor.to(parameter.device, torch.float32) for name, tensor in entry.items()
            }
