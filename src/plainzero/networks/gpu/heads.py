"""Both heads of a small board's network in one launch on a Hopper GPU.

They turn the output of the fused tower (see tower.py) into logits and values. heads.cu describes
the memory layout.
"""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from plainzero.networks.gpu.heads_layout import THREADS, HeadsLayout
from plainzero.networks.gpu.heads_weights import pack_head_numbers, pack_head_weights
from plainzero.networks.gpu.nvrtc import Kernel, check_capability, check_tensor, compile_source
from plainzero.networks.gpu.tower_layout import TILE_CHANNELS

KERNEL = "read_heads"
SOURCE = Path(__file__).with_name("heads.cu")


class HeadsBuffers(NamedTuple):
    """Where the warps of one launch exchange sums; concurrent launches need separate buffers."""

    batch: int
    slices: int  # of the cells of a board
    partials: (
        Tensor  # [tiles of boards · groups · slices · sums of a warp], where slices are several
    )
    arrivals: Tensor  # [tiles of boards, groups] int32, zero between launches


class Heads:
    """The compiled heads and their weights on the current CUDA device."""

    def __init__(self, network: Any, layout: HeadsLayout, binary: bytes | None = None) -> None:
        """Compiles the kernel, unless `compile_heads` has, and takes the network's weights."""
        self.layout, self.shape = layout, layout.shape
        device = torch.cuda.current_device()
        self._multiprocessors = torch.cuda.get_device_properties(device).multi_processor_count
        check_capability(device)
        self._kernel = Kernel(binary or compile_heads(layout), KERNEL)
        self._weights = pack_head_weights(network, layout).cuda()
        self._numbers = pack_head_numbers(network, layout).cuda()

    def load(self, network: Any) -> None:
        """Replaces the weights in place, so that graphs captured before use them."""
        self._weights.copy_(pack_head_weights(network, self.layout))
        self._numbers.copy_(pack_head_numbers(network, self.layout))

    def make_buffers(self, batch: int, slices: int = 0) -> HeadsBuffers:
        """Buffers for calls with `batch` boards; 0 slices: the fastest number."""
        layout = self.layout
        slices = slices or layout.choose_slices(batch, self._multiprocessors)
        tiles = layout.count_tiles(batch)
        size = tiles * layout.groups * slices * layout.slice_sums
        partials = torch.empty(size if slices > 1 else 1, device="cuda")
        arrivals = torch.zeros((tiles, layout.groups), dtype=torch.int32, device="cuda")
        return HeadsBuffers(batch, slices, partials, arrivals)

    def __call__(
        self, features: Tensor, logits: Tensor, values: Tensor, buffers: HeadsBuffers
    ) -> None:
        """Launches on the current stream.

        Args:
            features: [B, H·W, 64] bf16, as the tower writes them.
            logits: [B, A] float32, to be written.
            values: [B, 1 or players] float32, to be written.
            buffers: of `make_buffers` for B boards.
        """
        shape, batch = self.layout.shape, buffers.batch
        features_size = (batch, shape.cells, TILE_CHANNELS)
        check_tensor("the heads' kernel", features, features_size, torch.bfloat16)
        check_tensor("the heads' kernel", logits, (batch, shape.actions), torch.float32)
        check_tensor("the heads' kernel", values, (batch, shape.values), torch.float32)
        grid = (self.layout.count_tiles(batch), buffers.slices, self.layout.groups)
        weights, between = (self._weights, self._numbers), (buffers.partials, buffers.arrivals)
        self._kernel(grid, THREADS, (features, *weights, *between, logits, values, batch))


@functools.cache
def compile_heads(layout: HeadsLayout) -> bytes:
    """Machine code for compute capability 9.0; needs NVRTC, but no GPU.

    Raises:
        RuntimeError: with the compiler's messages.
    """
    return compile_source(SOURCE, layout.macros())
