"""Both heads of a small board's network in one launch on a Hopper GPU.

From what the fused tower wrote (see tower.py) to logits and values. What lies where: see heads.cu.
"""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from plainzero.networks.gpu.heads_layout import THREADS, HeadsPlan
from plainzero.networks.gpu.heads_weights import pack_head_numbers, pack_head_weights
from plainzero.networks.gpu.nvrtc import Kernel, check_capability, check_tensor, compile_source
from plainzero.networks.gpu.tower_layout import TILE_CHANNELS

KERNEL = "read_heads"
SOURCE = Path(__file__).with_name("heads.cu")


class HeadsRoom(NamedTuple):
    """Where the warps of one launch leave sums for each other; launches side by side need two."""

    batch: int
    slices: int  # of the cells of a board
    partials: (
        Tensor  # [tiles of boards · groups · slices · sums of a warp], where slices are several
    )
    arrivals: Tensor  # [tiles of boards, groups] int32, zero between launches


class Heads:
    """The compiled heads and their weights on the current CUDA device."""

    def __init__(self, network: Any, plan: HeadsPlan, binary: bytes | None = None) -> None:
        """Compiles the kernel, unless `compile_heads` has, and takes the network's weights."""
        self.plan = plan
        device = torch.cuda.current_device()
        self._multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
        check_capability(device)
        self._kernel = Kernel(binary or compile_heads(plan), KERNEL)
        self._weights = pack_head_weights(network, plan).cuda()
        self._numbers = pack_head_numbers(network, plan).cuda()

    def load(self, network: Any) -> None:
        """Takes a network's weights, in place: graphs captured before compute with the new ones."""
        self._weights.copy_(pack_head_weights(network, self.plan))
        self._numbers.copy_(pack_head_numbers(network, self.plan))

    def make_room(self, batch: int, slices: int = 0) -> HeadsRoom:
        """What calls with so many boards need; slices of 0: as many as are fastest."""
        plan = self.plan
        slices = slices or plan.choose_slices(batch, self._multiprocessors)
        tiles = plan.count_tiles(batch)
        size = tiles * plan.groups * slices * plan.slice_sums
        partials = torch.empty(size if slices > 1 else 1, device="cuda")
        arrivals = torch.zeros((tiles, plan.groups), dtype=torch.int32, device="cuda")
        return HeadsRoom(batch, slices, partials, arrivals)

    def __call__(self, features: Tensor, logits: Tensor, values: Tensor, room: HeadsRoom) -> None:
        """Launches on the current stream.

        Args:
            features: [B, H·W, 64] bf16, as the tower writes them.
            logits: [B, A] float32, to be written.
            values: [B, 1 or players] float32, to be written.
            room: of `make_room` for B boards.
        """
        shape, batch = self.plan.shape, room.batch
        features_size = (batch, shape.cells, TILE_CHANNELS)
        check_tensor("the heads' kernel", features, features_size, torch.bfloat16)
        check_tensor("the heads' kernel", logits, (batch, shape.actions), torch.float32)
        check_tensor("the heads' kernel", values, (batch, shape.values), torch.float32)
        grid = (self.plan.count_tiles(batch), room.slices, self.plan.groups)
        weights, between = (self._weights, self._numbers), (room.partials, room.arrivals)
        self._kernel(grid, THREADS, (features, *weights, *between, logits, values, batch))


@functools.cache
def compile_heads(plan: HeadsPlan) -> bytes:
    """Machine code for compute capability 9.0; needs NVRTC, but no GPU.

    Raises:
        RuntimeError: with the compiler's messages.
    """
    return compile_source(SOURCE, plan.macros())
