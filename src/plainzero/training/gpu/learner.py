"""Gradient steps on one device; the host only starts them."""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from plainzero.games.contract import Game
from plainzero.networks.architectures import Output
from plainzero.networks.backends.torch_backend import torch_threads
from plainzero.networks.extra_heads import ExtraHeads
from plainzero.networks.gpu.cudnn_network import tuned_convolutions
from plainzero.networks.network_evaluators import available_backends
from plainzero.networks.torch_private import lerp_all_on_gpu
from plainzero.training.gpu.fused_optimizer import FusedOptimizer
from plainzero.training.gpu.training_network import can_learn_fused, fused_output
from plainzero.training.interfaces import Replay
from plainzero.training.learned_network import Learned
from plainzero.training.losses import add_losses, compute_losses, loss_weights, scale_weights
from plainzero.training.optimizers import (
    averaging_decay,
    gradient_error,
    next_rate,
    restore_state,
    saved_state,
)
from plainzero.training.settings import TrainingConfig
from plainzero.training.step_averages import StepAverages

_WARM_UP_STEPS = 3  # before a capture, as PyTorch requires
_STEPS_BETWEEN_CHECKS = 500  # of the gradients; each check waits for the steps before it


class GpuLearner:
    """Trains a network on a device; see `Learner`.

    On CUDA a step, from drawing its batch to averaging the weights, is captured in a CUDA graph
    once, and again when a buffer of the replay was reallocated. Weights keep their addresses.
    """

    def __init__(
        self,
        network: nn.Module,
        config: TrainingConfig,
        device: torch.device | str,
        is_captured: bool = True,
        heads: ExtraHeads | None = None,
    ) -> None:
        """Starts at step 0 with the network and its extra heads, which are moved to the device.

        Without `is_captured`, and on PyTorch's "cpu", the operations of a step are started one by
        one.
        """
        self.config, self.step, self.device = config, 0, torch.device(device)
        is_cuda = self.device.type == "cuda"
        self._is_captured = is_captured and is_cuda
        has_bf16 = is_cuda or "torch-bf16" in available_backends(network)
        self._is_bf16 = config.precision == "bfloat16" or (config.precision == "auto" and has_bf16)
        self._is_fused = self._is_bf16 and can_learn_fused(network, self.device)
        moved: Any = network.to(self.device)
        self.network: Any = moved.to(memory_format=torch.channels_last)
        self.average: Any = copy.deepcopy(self.network).requires_grad_(False)
        self._last_rate = 0.0
        self._rate = torch.zeros((), device=self.device)  # of learning
        self._share = torch.zeros((), device=self.device)  # of the new weights in the average
        if heads:
            heads = heads.to(self.device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._learned = Learned(self.network, heads)
        self._optimizer = FusedOptimizer(self._learned.parameters(), config, self._rate)
        self._weights = loss_weights(config)
        self._averages = StepAverages(self._weights, self.device)
        self._graph: Any = None
        self._captured: tuple[Replay, tuple[int, int]] | None = None

    def prepare(self, game: Game) -> None:
        """Takes half a step from empty boards, so that the first one does not have to wait.

        cuDNN loads its kernels and tries its algorithms here, which takes seconds. Learns nothing.
        """
        shape = self.config.batch_size, *game.observation_shape
        planes = _laid_out(torch.zeros(shape, device=self.device))
        with torch_threads(1), _exact_convolutions(not self._is_bf16), tuned_convolutions():
            output = self._evaluate(planes)
            answers = *output[:3], *output.extras.values()
            parts = [answer.sum() for answer in answers if answer is not None]
            torch.autograd.backward(torch.stack(parts).sum())
        self._optimizer.zero_grad()

    def learn(self, replay: Replay, progress: float) -> dict[str, float]:
        """Takes the steps that the replay has planned; see `Learner`.

        A gradient that is not finite is found after further steps, which spoil both networks.
        """
        first = self.step
        self._averages.clear()
        with torch_threads(1), _exact_convolutions(not self._is_bf16), tuned_convolutions():
            while replay.prepare_step():
                self._last_rate = next_rate(self.config, self._last_rate, progress)
                self._rate.fill_(self._last_rate)
                self._share.fill_(1.0 - averaging_decay(self.config, self.step + 1))
                self._run_step(replay)
                self.step += 1
                if (self.step - first) % _STEPS_BETWEEN_CHECKS == 0:
                    self._check(first)
        self._check(first)
        return self._averages.averages() | {"learning_rate": self._last_rate}

    def _check(self, first: int) -> None:
        failure = self._averages.failure()
        if failure is not None:
            raise gradient_error(failure[1], first + failure[0])

    def _run_step(self, replay: Replay) -> None:
        if not self._is_captured:
            self._take_step(replay)
            return
        if self._captured is None or self._captured != (replay, replay.layout):
            self._capture(replay)
        self._graph.replay()

    def _capture(self, replay: Replay) -> None:
        """Captures a step, after some that are undone; see PyTorch's notes on CUDA graphs."""
        self._graph = self._captured = None  # gives its memory back first
        undo = self._snapshot(replay)
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_WARM_UP_STEPS):
                self._take_step(replay)
                undo()
            self._optimizer.zero_grad()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # Relaxed, because Numba may free memory during the capture, in this thread too, and other
        # threads use the device: none of that is part of the graph.
        with torch.cuda.graph(graph, capture_error_mode="relaxed"):
            self._take_step(replay)
        self._graph, self._captured = graph, (replay, replay.layout)

    def _snapshot(self, replay: Replay) -> Any:
        """A function that undoes the steps taken after this call."""
        changed: list[Tensor] = [
            *self._learned.parameters(),
            *self.average.parameters(),
            *self._averages.tensors,
            *replay.changed(),
        ]
        kept = [tensor.detach().clone() for tensor in changed]
        gathered = {id(tensor): tensor.clone() for tensor in self._optimizer_state()}

        def undo() -> None:
            with torch.no_grad():
                for tensor, old in zip(changed, kept, strict=True):
                    tensor.copy_(old)
                # State that the optimiser did not have yet is zero.
                for tensor in self._optimizer_state():
                    tensor.copy_(gathered.get(id(tensor), torch.zeros_like(tensor)))

        return undo

    def _optimizer_state(self) -> list[Tensor]:
        """The tensors of the optimiser's state."""
        entries = self._optimizer.state.values()
        return [tensor for entry in entries for tensor in entry.values()]

    def _take_step(self, replay: Replay) -> None:
        """Takes one step. Nothing here waits for the device, or depends on what it computes."""
        config, batch = self.config, replay.draw()
        planes = _laid_out(batch.planes)
        self._optimizer.zero_grad()
        output = self._evaluate(planes)
        losses = compute_losses(output, batch, config)
        each = add_losses(losses, scale_weights(self._weights, batch))
        # Backward, not grad: gradients then have the layout of the weights, as a fused step needs.
        torch.autograd.backward((each * batch.weights).sum() / batch.counts.sum())
        norm = nn.utils.clip_grad_norm_(self._learned.parameters(), config.clip_norm)
        self._optimizer.step()
        self._update_average()
        replay.learned(batch, each)
        self._averages.add(output, batch, losses)
        self._averages.add_norm(norm)

    def _evaluate(self, planes: Tensor) -> Output:
        """The network's output, in the precision of this learner."""
        if self._is_fused:
            return fused_output(self.network, planes, torch.bfloat16, self._learned.heads)
        with torch.autocast(
            self.device.type, torch.bfloat16, enabled=self._is_bf16, cache_enabled=False
        ):
            return self._learned(planes)

    def _update_average(self) -> None:
        with torch.no_grad():
            averages, targets = list(self.average.parameters()), list(self.network.parameters())
            lerp_all_on_gpu(averages, targets, self._share)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on; see `Learner`."""
        network = self._learned
        return saved_state(self.step, self._last_rate, network, self.average, self._optimizer)

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Resumes from a saved state of this or another learner; see `Learner`."""
        self.step, self._last_rate = restore_state(
            tensors, self._learned, self.average, self._optimizer, self.config
        )
        self._graph = self._captured = None  # the optimiser's state has other addresses now


def _laid_out(planes: Tensor) -> Tensor:
    """Planes [B, *shape] in the memory format of the weights."""
    return planes.contiguous(memory_format=torch.channels_last) if planes.ndim == 4 else planes


@contextlib.contextmanager
def _exact_convolutions(is_wanted: bool) -> Iterator[None]:
    """Convolutions in float32 are exact on CUDA, where PyTorch would use TF32."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = before and not is_wanted
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before
