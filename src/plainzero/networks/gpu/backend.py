"""A network on a GPU: for callers with NumPy arrays, and for searches on the same GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plainzero.games.contract import Game
from plainzero.networks.gpu.choose_network import choose_network
from plainzero.networks.gpu.gpu_network import GpuNetwork, TwoStepNetwork
from plainzero.networks.gpu.graphs import new_stream, record

Floats = NDArray[np.float32]

_MOST_AT_ONCE = 16_384  # positions of one call with NumPy arrays


class GpuNetworkEvaluator:
    """See `NetworkEvaluator`; `leaf_batch` is for searches on the GPU (see `LeafBatch`)."""

    def __init__(
        self,
        network: nn.Module,
        game: Game,
        device: torch.device | str = "cuda",
        is_bf16: bool = True,
        rows: int = _MOST_AT_ONCE,
    ) -> None:
        """Copies the network, and finds out what evaluates batches of `rows` fastest."""
        self.backend = "gpu-bf16" if is_bf16 else "gpu-float32"
        self.game, self.device = game, _numbered(torch.device(device))
        dtype = torch.bfloat16 if is_bf16 else torch.float32
        self.network = choose_network(network, game, self.device, dtype, rows)

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape; recorded graphs use them too."""
        with torch.no_grad():
            self.network.load(network)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        parts = [
            self._evaluate(planes[first : first + _MOST_AT_ONCE])
            for first in range(0, len(planes), _MOST_AT_ONCE)
        ]
        logits, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return logits, values if values.shape[1] > 1 else values[:, 0]

    @property
    def rows_at_once(self) -> int:
        """See `GpuEvaluator`."""
        return self.network.at_once

    def leaf_batch(self, rows: int) -> "GpuBatch":
        """Room for that many leaves, and this network."""
        return GpuBatch(self.network, self.game, rows, self.device)

    def _evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(planes).to(self.device))
            return logits.cpu().numpy(), values.cpu().numpy()


def _numbered(device: torch.device) -> torch.device:
    """The device with its number: plain cuda is the one in use."""
    if device.type != "cuda" or device.index is not None:
        return device
    return torch.device("cuda", torch.cuda.current_device())


class GpuBatch:
    """See `LeafBatch`."""

    def __init__(self, network: GpuNetwork, game: Game, rows: int, device: torch.device) -> None:
        """Allocates the arrays."""
        self._network, self._device = network, device
        self._side: Any = new_stream(device) if device.type == "cuda" else None
        self._is_captured: bool | None = None  # the side stream's work; None: there is none
        with torch.no_grad():
            self.planes = torch.zeros((rows, *game.observation_shape), device=device)
            answers = network(self.planes)
            self._buffers: Any = None
            if isinstance(network, TwoStepNetwork):
                self._buffers = network.make_buffers(rows)
        self.logits, self.values = (torch.zeros_like(answer) for answer in answers)

    def run(self) -> None:
        """Reads all rows; a network of one step also answers."""
        with torch.no_grad():
            if isinstance(self._network, TwoStepNetwork):
                self._network.read(self.planes, self._buffers)
                return
            logits, values = self._network(self.planes)
            self.logits.copy_(logits)
            self.values.copy_(values)

    def answer(self) -> None:
        """Answers what was read; see `LeafBatch`."""
        if isinstance(self._network, TwoStepNetwork):
            with torch.no_grad():
                self._network.answer(self._buffers, self.logits, self.values)

    def stream(self) -> int:
        """The stream on which PyTorch works now."""
        if self._device.type != "cuda":
            return 0
        return int(torch.cuda.current_stream(self._device).cuda_stream)

    def on_side_stream(self, work: Callable[[], object]) -> None:
        """Does `work` on another stream; see `LeafBatch`."""
        if self._device.type != "cuda":
            work()
            return
        self._is_captured = torch.cuda.is_current_stream_capturing()
        self._side.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._side):
            work()

    def join_side_stream(self) -> None:
        """Waits for that stream; see `LeafBatch`."""
        # A graph cannot wait for work from before it, such as work that an error left behind.
        before = self._is_captured
        if before is not None and before == torch.cuda.is_current_stream_capturing():
            torch.cuda.current_stream(self._device).wait_stream(self._side)
        self._is_captured = None

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """See `LeafBatch`; on a CPU, `work` itself."""
        return record(work, self._device)
