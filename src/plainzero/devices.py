"""The device that computes: cpu, cuda, cuda:1, or auto for a GPU if there is one."""

import importlib.metadata
import importlib.util
import logging
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

_log = logging.getLogger("plainzero")
_OLDEST_DRIVER = (12, 0)  # the oldest that works with numba-cuda's compiler
_GPU = re.compile(r"cuda(?::(\d+))?")


class DeviceError(ValueError):
    """An unavailable device, and what to do."""


class Gpus(NamedTuple):
    """The GPUs of this machine, and the software for them."""

    has_package: bool  # numba-cuda
    error: str  # of the driver; empty if none
    driver: tuple[int, int]  # the CUDA version that it supports; (0, 0) without a driver
    gpu_count: int
    toolkit: int = 0  # the major version of the installed CUDA compiler; 0: unknown


def choose_device(requested: str, needs_torch: bool = False) -> str:
    """The requested device: cpu, or cuda:N, which becomes the default of this thread.

    Args:
        requested: cpu, cuda, cuda:N, or auto: the first GPU if it can be used, else the CPU.
        needs_torch: whether PyTorch must be able to use it, too.

    Raises:
        DeviceError: says why it is unavailable, and what to do.
    """
    if requested == "cpu":
        return requested
    match = _GPU.fullmatch(requested)
    if match is None and requested != "auto":
        raise DeviceError(f"unknown device {requested!r}; choose auto, cpu, cuda or cuda:1")
    number = int(match[1] or 0) if match else 0
    obstacle = _obstacle(find_gpus(), number) or (_torch_obstacle(number) if needs_torch else "")
    if not obstacle:
        _use(number, needs_torch)
        return f"cuda:{number}"
    if requested == "auto":
        _log.info("using the CPU: a GPU %s", obstacle)
        return "cpu"
    raise DeviceError(f"device {requested} {obstacle}")


def use_device(device: str) -> None:
    """Makes a chosen device the default of this thread; every thread has its own.

    Cheap enough for every search. PyTorch's default changes, too, if it already uses a GPU.
    """
    match = _GPU.fullmatch(device)
    if match is None or _is_simulated():
        return
    number, torch = int(match[1] or 0), sys.modules.get("torch")
    needs_torch = torch is not None and torch.cuda.is_initialized()
    if needs_torch or not _is_current(number):
        _use(number, needs_torch)


def may_have_gpu() -> bool:
    """Whether there are a driver and numba-cuda; answers at once, without importing Numba."""
    has_driver = Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None
    return has_driver and importlib.util.find_spec("numba_cuda") is not None


def find_gpus() -> Gpus:
    """The GPUs of this machine; starts nothing on them."""
    if importlib.util.find_spec("numba_cuda") is None:
        return Gpus(False, "", (0, 0), 0)
    from numba import cuda

    if _is_simulated():
        return Gpus(True, "", _OLDEST_DRIVER, 1)
    error = cuda.cuda_error() if not cuda.is_available() else ""
    try:
        version = tuple(cuda.cudadrv.driver.driver.get_version())
        gpus = len(cuda.gpus)
    except cuda.cudadrv.error.CudaSupportError as failure:
        return Gpus(True, str(error or failure), (0, 0), 0)
    return Gpus(True, str(error or ""), version, gpus, _toolkit())


def free_bytes() -> int:
    """Free memory of the current GPU."""
    from numba import cuda

    if _is_simulated():
        return 1 << 30
    return int(cuda.current_context().get_memory_info().free)


def torch_device(device: str) -> str:
    """The device as PyTorch calls it: cpu in Numba's simulator, which computes on the CPU."""
    return "cpu" if _is_simulated() else device


def _obstacle(found: Gpus, number: int) -> str:
    """Why that GPU cannot be used, and what to do; empty if it can."""
    if not found.has_package:
        return "needs the package numba-cuda: pip install 'plainzero[cuda]'"
    if found.driver != (0, 0) and found.driver < _OLDEST_DRIVER:
        have, need = (".".join(map(str, version)) for version in (found.driver, _OLDEST_DRIVER))
        return f"has a driver for CUDA {have}, but needs {need} or newer: update the driver"
    if found.driver != (0, 0) and found.driver[0] < found.toolkit:
        have = ".".join(map(str, found.driver))
        return (
            f"has a driver for CUDA {have}, but the compiler is for CUDA {found.toolkit}: "
            "update the driver, or pip install 'plainzero[cuda12]'"
        )
    reason = next(iter(found.error.strip().splitlines()), "").rstrip(".")
    if found.gpu_count == 0:
        known = f" ({reason})" if reason else ""
        return f"needs an NVIDIA GPU and its driver; none was found{known}: choose cpu"
    if number >= found.gpu_count:
        return f"does not exist; this machine has {found.gpu_count} GPU(s), numbered from 0"
    return f"cannot be used ({reason}): choose cpu" if reason else ""


def _torch_obstacle(number: int) -> str:
    import torch

    if _is_simulated():
        return ""
    if torch.version.cuda is None:
        return "needs a PyTorch built for CUDA: see pytorch.org"
    if not torch.cuda.is_available() or number >= torch.cuda.device_count():
        return "cannot be used by PyTorch: its CUDA does not match the driver; update the driver"
    return ""


def _use(number: int, needs_torch: bool) -> None:
    """Makes that GPU the default of Numba, and of PyTorch if needed."""
    if _is_simulated():
        return
    from numba import cuda

    if needs_torch:
        import torch

        torch.cuda.set_device(number)
    if not _is_current(number):
        cuda.select_device(number)


def _is_current(number: int) -> bool:
    """Whether that GPU is this thread's default; selecting it again would pile up contexts."""
    from numba import cuda

    try:
        with cuda.cudadrv.driver.driver.get_active_context() as active:
            return bool(active) and active.devnum == number
    except cuda.cudadrv.error.CudaSupportError:
        return False


def _toolkit() -> int:
    """The major version of the CUDA compiler installed with numba-cuda; 0 if there is none."""
    for package in ("cuda-toolkit", "nvidia-cuda-nvrtc"):
        try:
            return int(importlib.metadata.version(package).partition(".")[0])
        except (importlib.metadata.PackageNotFoundError, ValueError):
            continue
    return 0


def _is_simulated() -> bool:
    import numba

    return bool(getattr(numba.config, "ENABLE_CUDASIM", False))
