"""Arrays in the memory of a GPU; ordinary NumPy arrays in Numba's simulator."""

from typing import Any

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

IS_SIMULATED = bool(getattr(numba.config, "ENABLE_CUDASIM", False))
"""Whether kernels run in Numba's simulator."""

Array = Any
"""An array in the memory of the GPU; in the simulator a NumPy array."""


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array on the GPU, not initialised.

    Raises:
        MemoryError: if the GPU has too little memory.
    """
    if IS_SIMULATED:
        return np.empty(shape, dtype)
    try:
        return cuda.device_array(shape, dtype)
    except cuda.cudadrv.driver.CudaAPIError as error:
        if "MEMORY" in str(error):
            raise MemoryError(str(error)) from error
        raise


def upload(array: NDArray[Any]) -> Array:
    """A copy of the array on the GPU."""
    if IS_SIMULATED:
        return array.copy()
    target = empty(array.shape, array.dtype)
    if array.size:
        target.copy_to_device(np.ascontiguousarray(array))
    return target


def put(array: NDArray[Any], target: Array) -> None:
    """Overwrites an array on the GPU."""
    if IS_SIMULATED:
        target[...] = array
    elif array.size:
        target.copy_to_device(np.ascontiguousarray(array))


def download(array: Array) -> NDArray[Any]:
    """A copy of an array from the GPU, after all work started there is done."""
    if IS_SIMULATED:
        return np.array(array)
    if not array.size:
        return np.empty(array.shape, array.dtype)
    cuda.synchronize()
    host = np.empty(array.shape, array.dtype)
    array.copy_to_host(host)
    return host


def synchronize() -> None:
    """Returns once all work started on the GPU is done."""
    if not IS_SIMULATED:
        cuda.synchronize()


def view(array: Any, dtype: Any = None) -> Array:
    """Another library's array on the GPU (by its `__cuda_array_interface__`), read as `dtype`."""
    if IS_SIMULATED:
        seen = np.asarray(array)
    else:
        seen = cuda.as_cuda_array(array, sync=False)
    return seen if dtype is None else seen.view(dtype)
