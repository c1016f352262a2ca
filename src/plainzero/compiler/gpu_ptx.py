"""Compiles kernels and rules to PTX, NVIDIA's assembly language, on machines without a GPU too.

Nothing runs, so neither a GPU nor a driver is needed, only NVIDIA's compiler. It refuses code that
Numba compiles for the CPU and that the CUDA simulator runs.
"""

import contextlib
import functools
import importlib.util
import threading
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numba
from numba.core.errors import NumbaWarning

from plainzero.compiler.cpu_kernels import without_garbage_collection
from plainzero.compiler.gpu_source import gpu_version

if TYPE_CHECKING:
    from plainzero.compiler.gpu_kernels import GpuKernel

_CAPABILITY = (9, 0)  # of an H100 or H200; older ones run the same kernels
_pretending = threading.RLock()


class GpuCompileError(Exception):
    """Code that cannot be compiled for a GPU; the message is the compiler's."""


@functools.cache
def missing_compiler() -> str:
    """Why nothing can be compiled for a GPU here; empty if it can."""
    if getattr(numba.config, "ENABLE_CUDASIM", False):
        return "Numba's CUDA simulator is on, which compiles nothing"
    if importlib.util.find_spec("numba_cuda") is None:
        return "needs the package numba-cuda: pip install 'plainzero[cuda]'"
    try:
        function_to_ptx(_nothing, ())
    except GpuCompileError as error:
        reason = str(error).partition("\n")[0]
        return f"needs NVIDIA's compiler: pip install 'plainzero[cuda]' ({reason})"
    return ""


def kernel_to_ptx(kernel: "GpuKernel", tag: str, *arguments: Any) -> str:
    """The PTX of a kernel for such arguments; NumPy arrays stand for those of a GPU.

    Raises:
        GpuCompileError: if it cannot be compiled for a GPU.
    """
    function = kernel.function_for(tag, arguments)
    return _compile(function, [numba.typeof(argument) for argument in arguments], is_kernel=True)


def function_to_ptx(function: Any, argument_types: Sequence[Any]) -> str:
    """The PTX of a function that kernels call, such as a bound rule, for Numba's types.

    Raises:
        GpuCompileError: if it cannot be compiled for a GPU.
    """
    return _compile(gpu_version(function), argument_types)


def _compile(function: Any, argument_types: Sequence[Any], is_kernel: bool = False) -> str:
    how: dict[str, Any] = {"device": not is_kernel, "abi": "numba", "opt": True}
    try:
        from numba import cuda

        with warnings.catch_warnings(), _pretended_gpu(), without_garbage_collection():
            warnings.simplefilter("ignore", NumbaWarning)
            code, _ = cuda.compile(function, tuple(argument_types), cc=_CAPABILITY, **how)
    except GpuCompileError:
        raise
    except Exception as error:  # two packages of Numba's and NVIDIA's libraries raise their own
        who = "" if "numba" in type(error).__module__ else "NVIDIA's compiler refuses the code: "
        raise GpuCompileError(f"{who}{str(error) or type(error).__name__}") from error
    return str(code)


@contextlib.contextmanager
def _pretended_gpu() -> Iterator[None]:
    """Has Numba compile the functions that are called, too, for a GPU that need not be there.

    It asks the driver for the current one, and has no setting for another.

    Raises:
        GpuCompileError: if this version of Numba asks in another way.
    """
    from numba.cuda import dispatcher

    with _pretending:
        asked = getattr(dispatcher, "get_current_device", None)
        if asked is None:
            raise GpuCompileError("this version of numba-cuda cannot compile without a GPU")
        gpu = types.SimpleNamespace(compute_capability=_CAPABILITY)
        dispatcher.get_current_device = lambda: gpu
        try:
            yield
        finally:
            dispatcher.get_current_device = asked


def _nothing() -> None:
    """The least that can be compiled."""
