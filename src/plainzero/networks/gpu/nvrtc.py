"""Kernels in CUDA C++, compiled at run time and launched on PyTorch's stream."""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

CAPABILITY = (9, 0)
"""Compute capability of the GPUs that are supported: H100, H200."""


def check_capability(device: int) -> None:
    """Refuses a GPU on which the kernels do not run."""
    major, minor = torch.cuda.get_device_capability(device)
    if (major, minor) != CAPABILITY:
        raise ValueError(
            f"the GPU has compute capability {major}.{minor}; the fused tower needs 9.0 (H100, "
            "H200): use cuDNN's convolutions"
        )


def compile_source(
    source: Path, macros: Mapping[str, int], headers: Mapping[str, str] | None = None
) -> bytes:
    """Machine code for compute capability 9.0; needs NVRTC, but no GPU.

    Raises:
        RuntimeError: with the compiler's messages.
    """
    from cuda.bindings import nvrtc

    headers = headers or {}
    texts = [text.encode() for text in headers.values()]
    names = [name.encode() for name in headers]
    program = _checked(
        nvrtc.nvrtcCreateProgram(
            source.read_bytes(), source.name.encode(), len(names), texts, names
        )
    )
    options = ["--gpu-architecture=sm_90a", "--std=c++17"]
    options += [f"-D{name}={value}" for name, value in macros.items()]
    status = nvrtc.nvrtcCompileProgram(
        program, len(options), [option.encode() for option in options]
    )[0]
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"{source.name} does not compile for {macros}:\n{log.decode()}")
    binary = bytearray(_checked(nvrtc.nvrtcGetCUBINSize(program)))
    _checked(nvrtc.nvrtcGetCUBIN(program, binary))
    _checked(nvrtc.nvrtcDestroyProgram(program))
    return bytes(binary)


class Kernel:
    """A compiled kernel, loaded on the current device."""

    def __init__(self, binary: bytes, name: str, shared_bytes: int = 0) -> None:
        """Loads the kernel; each block gets `shared_bytes` of shared memory."""
        from cuda.bindings import driver

        torch.cuda.synchronize()  # makes PyTorch's context current, if nothing has done so yet
        module = _checked(driver.cuModuleLoadData(binary))
        self._function = _checked(driver.cuModuleGetFunction(module, name.encode()))
        self._shared_bytes = shared_bytes
        if shared_bytes:
            attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _checked(driver.cuFuncSetAttribute(self._function, attribute, shared_bytes))

    def __call__(
        self, grid: tuple[int, int, int], threads: int, arguments: Sequence[Tensor | int]
    ) -> None:
        """Launches it on PyTorch's current stream; tensors are passed as pointers."""
        from cuda.bindings import driver

        values = [
            argument.data_ptr() if isinstance(argument, Tensor) else argument
            for argument in arguments
        ]
        types = [
            ctypes.c_void_p if isinstance(argument, Tensor) else ctypes.c_int
            for argument in arguments
        ]
        _checked(
            driver.cuLaunchKernel(
                self._function,
                *grid,
                *(threads, 1, 1),
                self._shared_bytes,
                torch.cuda.current_stream().cuda_stream,
                (tuple(values), tuple(types)),
                0,
            )
        )


def check_tensor(owner: str, tensor: Tensor, size: tuple[int, ...], dtype: torch.dtype) -> None:
    """Refuses a tensor that a kernel cannot read or write.

    Raises:
        ValueError: says what `owner` takes.
    """
    is_right = tensor.is_cuda and tensor.is_contiguous() and tensor.dtype == dtype
    if not is_right or tuple(tensor.shape) != size:
        raise ValueError(
            f"{owner} was given {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}; it takes "
            f"{dtype} {size}, contiguous, on a GPU"
        )


def _checked(answer: Any) -> Any:
    """The results of a CUDA call, whose status must be success."""
    status, *values = answer
    if int(status) != 0:
        raise RuntimeError(f"CUDA answered {status!s}")
    return values[0] if values else None
