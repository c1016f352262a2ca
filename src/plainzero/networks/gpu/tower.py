"""The residual tower of a small board's network in one launch on a Hopper GPU.

Everything up to the heads' 1×1 convolutions and their ReLU; the linear layers that follow are in
heads.py. The memory layout is described in tower.cu.
"""

import functools
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from plainzero.networks.gpu.nvrtc import Kernel, check_capability, check_tensor, compile_source
from plainzero.networks.gpu.tower_layout import TILE_CHANNELS, TowerLayout
from plainzero.networks.gpu.tower_weights import pack_biases, pack_weights

KERNEL = "evaluate_tower"
SOURCE = Path(__file__).with_name("tower.cu")


class Tower:
    """A compiled tower and its weights on the current CUDA device."""

    def __init__(self, layout: TowerLayout, binary: bytes | None = None) -> None:
        """Compiles the kernel, unless `compile_kernel` has; the weights are zero until `load`."""
        self.layout = layout
        shape = layout.shape
        size = (4 * layout.weight_stages, 2, TILE_CHANNELS, 8)
        self._weights = torch.zeros(size, dtype=torch.bfloat16).cuda()
        self._biases = torch.zeros((2 + 2 * shape.blocks, shape.filled_channels)).cuda()
        device = torch.cuda.current_device()
        self._blocks = torch.cuda.get_device_properties(device).multi_processor_count
        check_capability(device)
        self._kernel = Kernel(binary or compile_kernel(layout), KERNEL, layout.shared_bytes)

    def load(self, network: Any) -> None:
        """Replaces the weights in place, so that graphs captured before use them."""
        self._weights.copy_(pack_weights(network))
        self._biases.copy_(pack_biases(network))

    def __call__(self, planes: Tensor, out: Tensor, layer: int = -1) -> None:
        """Launches on the current stream: planes [B, P, H, W] float32 to out [B, H·W, 64] bf16.

        In `out` the policy head's channels come first and the value head's start at `VALUE_AT`. A
        layout with `is_dumping` writes the activations after `layer` instead, 64 or 128 channels: 0
        is the stem, then each convolution.
        """
        layout, batch = self.layout, len(planes)
        tiles = -(-batch // layout.tile_boards)
        last = 2 * layout.shape.blocks + 1
        is_last = layer in (-1, last)
        self._check(planes, out, TILE_CHANNELS if is_last else layout.shape.filled_channels)
        pointers = planes, self._weights, self._biases, out
        chosen = last if is_last else layer
        grid = (min(tiles, self._blocks), 1, 1)
        self._kernel(grid, layout.threads, (*pointers, batch, tiles, chosen))

    def _check(self, planes: Tensor, out: Tensor, channels: int) -> None:
        shape, batch = self.layout.shape, len(planes)
        cells = shape.height * shape.width
        size = (batch, shape.planes, shape.height, shape.width)
        check_tensor("the tower", planes, size, torch.float32)
        check_tensor("the tower", out, (batch, cells, channels), torch.bfloat16)


@functools.cache
def compile_kernel(layout: TowerLayout) -> bytes:
    """Machine code for compute capability 9.0; needs NVRTC, but no GPU.

    Raises:
        RuntimeError: with the compiler's messages.
    """
    return compile_source(SOURCE, layout.macros(), {"wgmma.h": write_product(layout.padded)})


def write_product(columns: int) -> str:
    """The header wgmma.h: `multiply_add` for products of `columns` columns.

    It names each of a thread's columns / 2 sums, which no macro of tower.cu could.
    """
    sums = columns // 2
    names = ", ".join(f"%{i}" for i in range(sums))
    operands = ", ".join(f'"+f"(d[{i}])' for i in range(sums))
    return f"""
__device__ __forceinline__ void multiply_add(float (&d)[{sums}], unsigned long long a,
                                             unsigned long long b, int accumulate) {{
    asm volatile(
        "{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{sums + 2}, 0;\\n"
        "wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16 "
        "{{{names}}}, %{sums}, %{sums + 1}, p, 1, 1, 0, 0;\\n}}"
        : {operands}
        : "l"(a), "l"(b), "r"(accumulate)
        : "memory");
}}
"""
