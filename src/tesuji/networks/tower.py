"""The residual tower of a small board's network in one launch on a Hopper GPU.

Everything up to the heads' 1×1 convolutions and their ReLU; the linear layers that follow are one
matrix product for the caller, see `tower_weights.pack_readers`. What lies where: see tower.cu.
"""

import ctypes
import functools
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tesuji.networks.tower_plan import TILE_CHANNELS, Plan
from tesuji.networks.tower_weights import pack_biases, pack_weights

CAPABILITY = (9, 0)
"""Of the GPUs that it runs on: H100, H200."""

KERNEL = "evaluate_tower"
SOURCE = Path(__file__).with_name("tower.cu")


class Tower:
    """A compiled tower and its weights on the current CUDA device."""

    def __init__(self, plan: Plan, binary: bytes | None = None) -> None:
        """Compiles the kernel, unless `compile_kernel` has; the weights are zero until `load`."""
        self.plan = plan
        shape = plan.shape
        size = (4 * plan.weight_stages, 2, TILE_CHANNELS, 8)
        self._weights = torch.zeros(size, dtype=torch.bfloat16).cuda()
        self._biases = torch.zeros((2 + 2 * shape.blocks, shape.filled_channels)).cuda()
        device = torch.cuda.current_device()
        self._blocks = torch.cuda.get_device_properties(device).multi_processor_count
        _check_capability(device)
        self._kernel = _load_kernel(plan, binary or compile_kernel(plan))

    def load(self, network: Any) -> None:
        """Takes a network's weights, in place: graphs captured before compute with the new ones."""
        self._weights.copy_(pack_weights(network))
        self._biases.copy_(pack_biases(network))

    def __call__(self, planes: Tensor, out: Tensor, layer: int = -1) -> None:
        """Launches on the current stream: planes [B, P, H, W] float32 to out [B, H·W, 64] bf16.

        In `out` the policy head's channels come first and the value head's from `VALUE_AT`. A plan
        with `is_dumping` writes the activations after `layer` instead, 64 or 128 channels: 0 is the
        stem, then each convolution.
        """
        from cuda.bindings import driver

        plan, batch = self.plan, len(planes)
        tiles = -(-batch // plan.tile_boards)
        last = 2 * plan.shape.blocks + 1
        is_last = layer in (-1, last)
        self._check(planes, out, TILE_CHANNELS if is_last else plan.shape.filled_channels)
        pointers = [planes, self._weights, self._biases, out]
        values = [tensor.data_ptr() for tensor in pointers]
        arguments = (
            (*values, batch, tiles, last if is_last else layer),
            (*[ctypes.c_void_p] * 4, *[ctypes.c_int] * 3),
        )
        _checked(
            driver.cuLaunchKernel(
                self._kernel,
                *(min(tiles, self._blocks), 1, 1),
                *(plan.threads, 1, 1),
                plan.shared_bytes,
                torch.cuda.current_stream().cuda_stream,
                arguments,
                0,
            )
        )

    def _check(self, planes: Tensor, out: Tensor, channels: int) -> None:
        shape, batch = self.plan.shape, len(planes)
        cells = shape.height * shape.width
        wanted = [
            (planes, (batch, shape.planes, shape.height, shape.width), torch.float32),
            (out, (batch, cells, channels), torch.bfloat16),
        ]
        for tensor, size, dtype in wanted:
            is_right = tensor.is_cuda and tensor.is_contiguous() and tensor.dtype == dtype
            if not is_right or tuple(tensor.shape) != size:
                raise ValueError(
                    f"the tower was given {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}; "
                    f"it takes {dtype} {size}, contiguous, on a GPU"
                )


def _check_capability(device: int) -> None:
    major, minor = torch.cuda.get_device_capability(device)
    if (major, minor) != CAPABILITY:
        raise ValueError(
            f"the GPU has compute capability {major}.{minor}; the fused tower needs 9.0 (H100, "
            "H200): use cuDNN's convolutions"
        )


def _load_kernel(plan: Plan, binary: bytes) -> Any:
    """The kernel, loaded on the current device."""
    from cuda.bindings import driver

    module = _checked(driver.cuModuleLoadData(binary))
    kernel = _checked(driver.cuModuleGetFunction(module, KERNEL.encode()))
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    _checked(driver.cuFuncSetAttribute(kernel, attribute, plan.shared_bytes))
    return kernel


@functools.cache
def compile_kernel(plan: Plan) -> bytes:
    """Machine code for compute capability 9.0; needs NVRTC, but no GPU.

    Raises:
        RuntimeError: with the compiler's messages.
    """
    from cuda.bindings import nvrtc

    header = write_product(plan.padded).encode()
    program = _checked(
        nvrtc.nvrtcCreateProgram(SOURCE.read_bytes(), b"tower.cu", 1, [header], [b"wgmma.h"])
    )
    options = ["--gpu-architecture=sm_90a", "--std=c++17"]
    options += [f"-D{name}={value}" for name, value in plan.macros().items()]
    status = nvrtc.nvrtcCompileProgram(
        program, len(options), [option.encode() for option in options]
    )[0]
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"tower.cu does not compile for {plan}:\n{log.decode()}")
    binary = bytearray(_checked(nvrtc.nvrtcGetCUBINSize(program)))
    _checked(nvrtc.nvrtcGetCUBIN(program, binary))
    _checked(nvrtc.nvrtcDestroyProgram(program))
    return bytes(binary)


def write_product(columns: int) -> str:
    """The header wgmma.h: `multiply_add` for products of so many columns.

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


def _checked(answer: Any) -> Any:
    """What a call of CUDA gave beside its status."""
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"CUDA answered {status!s}")
    return values[0] if values else None
