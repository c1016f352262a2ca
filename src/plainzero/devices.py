"""Which processor does the work: cpu, cuda, cuda:1, or auto for a GPU where there is one."""

import importlib.metadata
import importlib.util
import logging
import re
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

_log = logging.getLogger("plainzero")
_OLDEST_DRIVER = (12, 0)  # the oldest that numba-cuda's compiler can be used with
_GPU = re.compile(r"cuda(?::(\d+))?")


class DeviceError(ValueError):
    """A device that there is not, and what to do."""


class Found(NamedTuple):
    """What a look at this machine found."""

    has_package: bool  # numba-cuda
    error: str  # of the driver, or nothing
    driver: tuple[int, int]  # the version of CUDA that it is for; (0, 0) without one
    gpus: int
    toolkit: int = 0  # the major version of the CUDA whose compiler is installed; 0: not known


def choose_device(asked: str, needs_torch: bool = False) -> str:
    """The device that is meant: cpu, or cuda:N, which this thread then works with by default.

    Args:
        asked: cpu, cuda, cuda:N, or auto: the first GPU if it can be used, else the CPU.
        needs_torch: whether PyTorch must be able to use it too.

    Raises:
        DeviceError: says why it cannot be had, and what to do.
    """
    if asked == "cpu":
        return asked
    match = _GPU.fullmatch(asked)
    if match is None and asked != "auto":
        raise DeviceError(f"there is no device {asked!r}; choose auto, cpu, cuda or cuda:1")
    number = int(match[1] or 0) if match else 0
    obstacle = _obstacle(look(), number) or (_torch_obstacle(number) if needs_torch else "")
    if not obstacle:
        _use(number, needs_torch)
        return f"cuda:{number}"
    if asked == "auto":
        _log.info("working on the CPU: a GPU %s", obstacle)
        return "cpu"
    raise DeviceError(f"device {asked} {obstacle}")


def use(device: str) -> None:
    """Has this thread work with a chosen device; each thread has a default of its own.

    Cheap enough for every search. PyTorch is told too, where it works on a GPU already.
    """
    match = _GPU.fullmatch(device)
    if match is None or _is_simulated():
        return
    number, torch = int(match[1] or 0), sys.modules.get("torch")
    needs_torch = torch is not None and torch.cuda.is_initialized()
    if needs_torch or not _is_current(number):
        _use(number, needs_torch)


def may_have_gpu() -> bool:
    """Whether there is a driver, and numba-cuda; at once, without Numba being imported."""
    has_driver = Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None
    return has_driver and importlib.util.find_spec("numba_cuda") is not None


def look() -> Found:
    """What of a GPU this machine has; nothing is started on it."""
    if importlib.util.find_spec("numba_cuda") is None:
        return Found(False, "", (0, 0), 0)
    from numba import cuda

    if _is_simulated():
        return Found(True, "", _OLDEST_DRIVER, 1)
    error = cuda.cuda_error() if not cuda.is_available() else ""
    try:
        version = tuple(cuda.cudadrv.driver.driver.get_version())
        gpus = len(cuda.gpus)
    except cuda.cudadrv.error.CudaSupportError as failure:
        return Found(True, str(error or failure), (0, 0), 0)
    return Found(True, str(error or ""), version, gpus, _toolkit())


def free_bytes() -> int:
    """The memory of the GPU in use that nobody has taken yet."""
    from numba import cuda

    if _is_simulated():
        return 1 << 30
    return int(cuda.current_context().get_memory_info().free)


def device_of(evaluator: Any) -> str:
    """Where a search can have the evaluator's answers at once: on its GPU, or on the CPU."""
    if not hasattr(evaluator, "device_batch"):
        return "cpu"
    own = str(evaluator.device)
    return own if own.startswith("cuda") else "cuda"  # in the simulator its network is here


def torch_device(device: str) -> str:
    """The same device as PyTorch calls it: in the simulator, where all is done here, cpu."""
    return "cpu" if _is_simulated() else device


def _obstacle(found: Found, number: int) -> str:
    """What keeps that GPU from being used, and what to do; nothing if it can be."""
    if not found.has_package:
        return "needs the package numba-cuda: pip install 'plainzero[cuda]'"
    if found.driver != (0, 0) and found.driver < _OLDEST_DRIVER:
        have, need = (".".join(map(str, version)) for version in (found.driver, _OLDEST_DRIVER))
        return f"has a driver for CUDA {have}, and {need} or newer is needed: update the driver"
    if found.driver != (0, 0) and found.driver[0] < found.toolkit:
        have = ".".join(map(str, found.driver))
        return (
            f"has a driver for CUDA {have}, and the compiler that is installed is CUDA "
            f"{found.toolkit}'s: update the driver, or pip install 'plainzero[cuda12]'"
        )
    reason = next(iter(found.error.strip().splitlines()), "").rstrip(".")
    if found.gpus == 0:
        known = f" ({reason})" if reason else ""
        return f"needs an NVIDIA GPU and its driver; none was found{known}: choose cpu"
    if number >= found.gpus:
        return f"is not there; this machine has {found.gpus} GPU(s), numbered from 0"
    return f"cannot be used ({reason}): choose cpu" if reason else ""


def _torch_obstacle(number: int) -> str:
    import torch

    if _is_simulated():
        return ""
    if torch.version.cuda is None:
        return "needs a PyTorch that was built for CUDA: see pytorch.org, and install that one"
    if not torch.cuda.is_available() or number >= torch.cuda.device_count():
        return "cannot be used by PyTorch: its CUDA and the driver do not fit; update the driver"
    return ""


def _use(number: int, needs_torch: bool) -> None:
    """Has Numba, and PyTorch where it is needed, work with that GPU unless told otherwise."""
    if _is_simulated():
        return
    from numba import cuda

    if needs_torch:
        import torch

        torch.cuda.set_device(number)
    if not _is_current(number):
        cuda.select_device(number)


def _is_current(number: int) -> bool:
    """Whether this thread works with that GPU; to select it again would pile up contexts."""
    from numba import cuda

    try:
        with cuda.cudadrv.driver.driver.get_active_context() as active:
            return bool(active) and active.devnum == number
    except cuda.cudadrv.error.CudaSupportError:
        return False


def _toolkit() -> int:
    """The major version of the CUDA compiler that came with numba-cuda; 0 where none did."""
    for package in ("cuda-toolkit", "nvidia-cuda-nvrtc"):
        try:
            return int(importlib.metadata.version(package).partition(".")[0])
        except (importlib.metadata.PackageNotFoundError, ValueError):
            continue
    return 0


def _is_simulated() -> bool:
    import numba

    return bool(getattr(numba.config, "ENABLE_CUDASIM", False))
