"""A small board's residual network on a GPU by our own kernels: the fused tower and the heads."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plainzero.networks.architectures import Network
from plainzero.networks.config import has_board_heads, has_dense_heads
from plainzero.networks.gpu.board_heads import BoardHeads
from plainzero.networks.gpu.cublas_heads import CublasHeads
from plainzero.networks.gpu.heads import Heads, HeadsBuffers
from plainzero.networks.gpu.heads_layout import HeadsLayout, heads_shape
from plainzero.networks.gpu.nvrtc import CAPABILITY
from plainzero.networks.gpu.tower import Tower
from plainzero.networks.gpu.tower_layout import TILE_CHANNELS, TowerShape, choose_layout
from plainzero.networks.gpu.tower_weights import VALUE_AT


class TowerBuffers(NamedTuple):
    """What the kernels exchange while a batch is evaluated."""

    features: Tensor  # [B, H·W, 64] bf16
    heads: HeadsBuffers | None


class FusedNetwork:
    """A small board's residual network in two launches: the tower, then the heads.

    The heads use so little of a multiprocessor that they run beside another batch's tower.
    """

    name = "fused"

    def __init__(self, network: Network, device: torch.device, rows: int) -> None:
        """Compiles the kernels for batches of about `rows`, and copies the weights.

        Raises:
            ValueError: when the kernels do not support the network or the GPU.
        """
        self._tower, self.at_once = _make_tower(network, device, rows)
        self._heads: Any
        if has_board_heads(network.config):
            self._heads = BoardHeads(network)
        else:
            self._heads = Heads(network, HeadsLayout(heads_shape(network)))

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
        self._tower.load(network)
        self._heads.load(network)

    def make_buffers(self, rows: int) -> TowerBuffers:
        """See `TwoStepNetwork`."""
        size = (rows, self._heads.shape.cells, TILE_CHANNELS)
        features = torch.empty(size, dtype=torch.bfloat16, device="cuda")
        return TowerBuffers(features, self._heads.make_buffers(rows))

    def read(self, planes: Tensor, buffers: TowerBuffers) -> None:
        """See `TwoStepNetwork`."""
        self._tower(planes, buffers.features)

    def answer(self, buffers: TowerBuffers, logits: Tensor, values: Tensor) -> None:
        """See `TwoStepNetwork`."""
        self._heads(buffers.features, logits, values, buffers.heads)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        shape, rows = self._heads.shape, len(planes)
        buffers = self.make_buffers(rows)
        logits = torch.empty((rows, shape.actions), device=planes.device)
        values = torch.empty((rows, shape.values), device=planes.device)
        self.read(planes, buffers)
        self.answer(buffers, logits, values)
        return logits, values


class FusedTowerNetwork:
    """The same for dense heads of more actions than one warp holds: they are a matrix product.

    On Gomoku's board that takes half the time of the heads' kernel, which would take as long as
    another batch's tower beside it. It fills the GPU, so it is not split into two steps.
    """

    name, at_once = FusedNetwork.name, 0

    def __init__(self, network: Network, device: torch.device, rows: int) -> None:
        """See `FusedNetwork`."""
        self._tower, _ = _make_tower(network, device, rows)
        self._heads = CublasHeads(network, VALUE_AT, device)
        self._cells = heads_shape(network).cells

    def load(self, network: nn.Module) -> None:
        """Replaces the weights in place by those of a network of the same shape."""
        self._tower.load(network)
        self._heads.load(network)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        size = (len(planes), self._cells, TILE_CHANNELS)
        features = torch.empty(size, dtype=torch.bfloat16, device=planes.device)
        self._tower(planes, features)
        return self._heads(features)


def make_fused_network(
    network: Network, device: torch.device, rows: int
) -> FusedNetwork | FusedTowerNetwork:
    """The implementation for a network, which depends on its heads and its number of actions.

    Raises:
        ValueError: when the kernels do not support the network or the GPU.
    """
    if has_board_heads(network.config) or HeadsLayout(heads_shape(network)).policy_groups == 1:
        return FusedNetwork(network, device, rows)
    return FusedTowerNetwork(network, device, rows)


def _make_tower(network: Network, device: torch.device, rows: int) -> tuple[Tower, int]:
    """The tower for batches of about `rows`, and the positions that it reads at once."""
    multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
    tower = Tower(choose_layout(tower_shape(network), rows, multiprocessors))
    tower.load(network)
    return tower, multiprocessors * tower.layout.tile_boards


def tower_shape(network: Any) -> TowerShape:
    """The shape of the network's tower.

    Raises:
        ValueError: when the tower cannot compute it.
    """
    _, height, width = network.shape
    config = network.config
    return TowerShape(height, width, network.shape[0], config.blocks, config.channels)


def can_fuse_network(network: Any, device: torch.device) -> bool:
    """Whether the fused kernels support the network on that GPU."""
    try:
        tower_shape(network)
    except ValueError:  # too large
        return False
    has_heads = has_dense_heads(network.config) or has_board_heads(network.config)
    return has_heads and tuple(torch.cuda.get_device_capability(device)) == CAPABILITY
