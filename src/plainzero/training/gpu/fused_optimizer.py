"""The optimisers of a learner on a GPU: PyTorch's fused steps, which a CUDA graph can hold.

`torch.optim` has the same steps, but imports PyTorch's compiler for them: five seconds of a first
start, in which Python does nothing else.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from plainzero.training.settings import TrainingConfig

_BETAS, _EPSILON = (0.9, 0.999), 1e-8  # as `torch.optim.AdamW` has them


class FusedOptimizer:
    """SGD with momentum or AdamW, over all parameters at once.

    Attributes:
        state: what was gathered for each parameter, named as in `torch.optim`; empty before a step.
    """

    def __init__(self, parameters: Iterable[Tensor], config: TrainingConfig, rate: Tensor) -> None:
        """Has gathered nothing; each step reads `rate` [] where that lies."""
        self.parameters, self.config, self.rate = [*parameters], config, rate
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    def zero_grad(self) -> None:
        """Forgets the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        """Takes a step along the gradients; parameters without one stay as they are."""
        moved = [parameter for parameter in self.parameters if parameter.grad is not None]
        for parameter in moved:
            if parameter not in self.state:
                self.state[parameter] = self._nothing_gathered(parameter)
        if not moved:
            return
        entries = [self.state[parameter] for parameter in moved]
        gathered = {name: [entry[name] for entry in entries] for name in entries[0]}
        gradients = [parameter.grad for parameter in moved]
        with torch.no_grad():
            if self.config.optimizer == "sgd":
                self._take_sgd_step(moved, gradients, **gathered)
            else:
                self._take_adamw_step(moved, gradients, **gathered)

    def _nothing_gathered(self, parameter: Tensor) -> dict[str, Tensor]:
        if self.config.optimizer == "sgd":
            return {"momentum_buffer": torch.zeros_like(parameter)}
        return {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }

    def _take_sgd_step(
        self, moved: list[Tensor], gradients: list[Any], momentum_buffer: list[Tensor]
    ) -> None:
        torch._fused_sgd_(
            moved,
            gradients,
            momentum_buffer,
            weight_decay=self.config.weight_decay,
            momentum=self.config.momentum,
            lr=self.rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,  # which begins with the gradient, as it does from zero
        )

    def _take_adamw_step(
        self,
        moved: list[Tensor],
        gradients: list[Any],
        step: list[Tensor],
        exp_avg: list[Tensor],
        exp_avg_sq: list[Tensor],
    ) -> None:
        torch._foreach_add_(step, 1)
        torch._fused_adamw_(
            moved,
            gradients,
            exp_avg,
            exp_avg_sq,
            [],
            step,
            amsgrad=False,
            lr=self.rate,
            beta1=_BETAS[0],
            beta2=_BETAS[1],
            weight_decay=self.config.weight_decay,
            eps=_EPSILON,
            maximize=False,
        )

    def state_dict(self) -> dict[str, Any]:
        """What was gathered, by the number of the parameter, as in `torch.optim`."""
        entries = {i: self.state[p] for i, p in enumerate(self.parameters) if p in self.state}
        return {"state": entries}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Goes on with what `state_dict` gave; what is missing there begins anew."""
        self.state.clear()
        for index, entry in saved["state"].items():
            parameter = self.parameters[index]
            self.state[parameter] = {
                name: tensor.to(parameter.device, torch.float32) for name, tensor in entry.items()
            }
