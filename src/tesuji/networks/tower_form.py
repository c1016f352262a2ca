"""The fused tower as a way to evaluate a network on a GPU; see cuda_forms.py."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tesuji.networks.architectures import Network
from tesuji.networks.tower import Tower
from tesuji.networks.tower_plan import TILE_CHANNELS, TowerShape, make_plan
from tesuji.networks.tower_weights import pack_readers


class TowerForm:
    """A small board's residual network: one launch up to the heads, one matrix product after it."""

    name = "tower"

    def __init__(self, network: Network, device: torch.device, rows: int) -> None:
        """Compiles the kernel for batches of about `rows`, and takes the weights.

        Raises:
            ValueError: when the kernel does not take such a network, or such a GPU.
        """
        self._finish = network.finish
        shape = tower_shape(network)
        multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
        self._tower = Tower(make_plan(shape, rows, multiprocessors))
        self.at_once = multiprocessors * self._tower.plan.tile_boards
        self._cells = shape.height * shape.width
        self._packed = [tensor.to(device) for tensor in _pack(network)]
        last: Any = network.policy
        self._actions = last[-1].out_features
        self._features: dict[int, Tensor] = {}  # by batch
        self._tower.load(network)

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape."""
        self._tower.load(network)
        for mine, theirs in zip(self._packed, _pack(network), strict=True):
            mine.copy_(theirs)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        batch = len(planes)
        if batch not in self._features:
            size = (batch, self._cells, TILE_CHANNELS)
            self._features[batch] = torch.empty(size, dtype=torch.bfloat16, device=planes.device)
        features = self._features[batch]
        self._tower(planes, features)
        readers, bias, last_weight, last_bias = self._packed
        both = torch.mm(features.view(batch, -1), readers, out_dtype=torch.float32) + bias
        actions, end = self._actions, self._actions + last_weight.shape[1]
        hidden = functional.relu(both[:, actions:end])
        values = functional.linear(hidden, last_weight, last_bias)
        output = self._finish(both[:, :actions], values)
        return output.logits, output.values.reshape(batch, -1)


def tower_shape(network: Any) -> TowerShape:
    """What the tower has to compute.

    Raises:
        ValueError: when it cannot.
    """
    _, height, width = network.shape
    config = network.config
    return TowerShape(height, width, network.shape[0], config.blocks, config.channels)


def _pack(network: Any) -> list[Tensor]:
    readers, bias = pack_readers(network)
    # Rows of a multiple of 16 bytes: else cuBLAS takes a kernel for any alignment, 3 times slower.
    readers, bias = (functional.pad(part, (0, -len(bias) % 8)) for part in (readers, bias))
    last = network.value[-1]
    return [readers.to(torch.bfloat16), bias, last.weight.detach(), last.bias.detach()]
