"""The fused tower as a way to evaluate a network on a GPU; see cuda_forms.py."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plainzero.networks.architectures import Network
from plainzero.networks.gpu.cublas_heads import ProductHeads
from plainzero.networks.gpu.heads import Heads, HeadsRoom
from plainzero.networks.gpu.heads_layout import HeadsPlan, heads_shape
from plainzero.networks.gpu.nvrtc import CAPABILITY
from plainzero.networks.gpu.tower import Tower
from plainzero.networks.gpu.tower_layout import TILE_CHANNELS, TowerShape, make_plan
from plainzero.networks.gpu.tower_weights import VALUE_AT


class TowerRoom(NamedTuple):
    """What the kernels write for each other while a batch is evaluated."""

    features: Tensor  # [B, H·W, 64] bf16
    heads: HeadsRoom


class TowerForm:
    """A small board's residual network in two launches: up to the heads, and the heads.

    The second takes so little of a multiprocessor that it runs beside the first of another batch.
    """

    name = "tower"

    def __init__(self, network: Network, device: torch.device, rows: int) -> None:
        """Compiles the kernels for batches of about `rows`, and takes the weights.

        Raises:
            ValueError: when the kernels do not take such a network, or such a GPU.
        """
        self._tower, self.at_once = _make_tower(network, device, rows)
        self._heads = Heads(network, HeadsPlan(heads_shape(network)))

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape."""
        self._tower.load(network)
        self._heads.load(network)

    def make_room(self, rows: int) -> TowerRoom:
        """See `TwoStepForm`."""
        size = (rows, self._heads.plan.shape.cells, TILE_CHANNELS)
        features = torch.empty(size, dtype=torch.bfloat16, device="cuda")
        return TowerRoom(features, self._heads.make_room(rows))

    def read(self, planes: Tensor, room: TowerRoom) -> None:
        """See `TwoStepForm`."""
        self._tower(planes, room.features)

    def answer(self, room: TowerRoom, logits: Tensor, values: Tensor) -> None:
        """See `TwoStepForm`."""
        self._heads(room.features, logits, values, room.heads)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        shape, rows = self._heads.plan.shape, len(planes)
        room = self.make_room(rows)
        logits = torch.empty((rows, shape.actions), device=planes.device)
        values = torch.empty((rows, shape.values), device=planes.device)
        self.read(planes, room)
        self.answer(room, logits, values)
        return logits, values


class OneStepTowerForm:
    """The same for more actions than one warp can hold: the heads are a product of matrices.

    On Gomoku's board that takes half the time of the heads' kernel, which beside another batch's
    tower would take as long as that. It takes all of a GPU, so it has no part to be cut into.
    """

    name, at_once = TowerForm.name, 0

    def __init__(self, network: Network, device: torch.device, rows: int) -> None:
        """See `TowerForm`."""
        self._tower, _ = _make_tower(network, device, rows)
        self._heads = ProductHeads(network, VALUE_AT, device)
        self._cells = heads_shape(network).cells

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape."""
        self._tower.load(network)
        self._heads.load(network)

    def __call__(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values of observations."""
        size = (len(planes), self._cells, TILE_CHANNELS)
        features = torch.empty(size, dtype=torch.bfloat16, device=planes.device)
        self._tower(planes, features)
        return self._heads(features)


def make_tower_form(
    network: Network, device: torch.device, rows: int
) -> TowerForm | OneStepTowerForm:
    """The form for a network, which depends on how many actions there are.

    Raises:
        ValueError: when the kernels do not take such a network, or such a GPU.
    """
    is_small = HeadsPlan(heads_shape(network)).policy_groups == 1
    return (TowerForm if is_small else OneStepTowerForm)(network, device, rows)


def _make_tower(network: Network, device: torch.device, rows: int) -> tuple[Tower, int]:
    """The tower for batches of about `rows`, with the weights; and how many it reads at once."""
    multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
    tower = Tower(make_plan(tower_shape(network), rows, multiprocessors))
    tower.load(network)
    return tower, multiprocessors * tower.plan.tile_boards


def tower_shape(network: Any) -> TowerShape:
    """What the tower has to compute.

    Raises:
        ValueError: when it cannot.
    """
    _, height, width = network.shape
    config = network.config
    return TowerShape(height, width, network.shape[0], config.blocks, config.channels)


def takes_tower(network: Any, device: torch.device) -> bool:
    """Whether a network can be computed so on that GPU."""
    try:
        tower_shape(network)
    except ValueError:  # too large
        return False
    return tuple(torch.cuda.get_device_capability(device)) == CAPABILITY
