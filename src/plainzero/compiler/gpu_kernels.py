"""How kernels become code for a GPU, and where their arrays live.

The counterpart of compiling.py's `Kernel`: the same plain functions, one thread for each game or
several (search/gpu/warp_lanes.py). In Numba's simulator (NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1,
which CI uses) arrays are ordinary NumPy arrays.
"""

import functools
import hashlib
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import cuda
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import (
    Settings,
    check_cache_folder,
    warn_of_cache,
    without_garbage_collection,
)

_config: Any = numba.config  # typed as Any: its settings are made at run time
_SWITCH = "CUDA_LOW_OCCUPANCY_WARNINGS"
_switching = threading.Lock()
_THREADS_PER_BLOCK = 32  # games are few and each walks its own tree: spread them over the chip
# So that kernels find room beside a network's, which takes the shared memory and most registers: it
# cannot begin on a multiprocessor that is set up for less shared memory.
_MOST_REGISTERS = 128

IS_SIMULATED = bool(getattr(_config, "ENABLE_CUDASIM", False))
"""Whether kernels run in Numba's simulator."""

Array = Any
"""An array in the memory of the GPU; in the simulator a NumPy array."""


class CudaKernel:
    """An entry point for the GPU, compiled once per tag as `Kernel` is, and for what is known.

    Its function's last two arguments are the range of games; `cuda.grid(2)[1]` counts those. In the
    simulator a game always has one thread.

    A function that begins with `options = settled(options)` has an argument that is `Settings`.
    What they say is known is put into the code, which is compiled for each such combination: so
    nothing is left of what is switched off, which is most of it.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        """Wraps `function`, whose arguments are arrays on the GPU, numbers and tuples of them."""
        self.function = function
        self._settles = settled.__name__ in function.__code__.co_names
        self._compiled: dict[str, Any] = {}  # by tag and what is known
        self._launched: set[str] = set()
        functools.update_wrapper(self, function)

    def __call__(self, tag: str, *arguments: Any, lanes: int = 1, stream: int = 0) -> None:
        """Starts so many threads for each game on a stream, and does not wait for them."""
        games = arguments[-1] - arguments[-2]
        if games == 0:
            return
        settings = next((a for a in arguments if isinstance(a, Settings)), None)
        name = self._name(tag, settings)
        launch = configure(self._dispatcher(name, settings), games, lanes, stream)
        try:
            if name in self._launched:
                launch(*arguments)
            else:
                with without_garbage_collection():
                    launch(*arguments)
        except OSError as error:  # the cache folder went away or is full; nothing was launched
            warn_of_cache(str(error))
            self._compiled[name] = self._compile(name, settings, is_kept=False)
            configure(self._compiled[name], games, lanes, stream)(*arguments)
        self._launched.add(name)

    def is_cached(self, tag: str, settings: Settings | None = None) -> bool:
        """Whether code for the tag, and for what is known, is on disk."""
        dispatcher = self._dispatcher(self._name(tag, settings), settings)
        name, folder = dispatcher.py_func.__qualname__, dispatcher.stats.cache_path
        return folder is not None and any(Path(folder).glob(f"*{name}-*.nbi"))

    def _name(self, tag: str, settings: Settings | None) -> str:
        """What the code is called that is compiled for both."""
        if not self._settles:
            return tag
        if settings is None:
            raise TypeError(f"{self.function.__name__} is compiled for settings; give them too")
        return f"{tag}-{_digest_of(settings)}"

    def _dispatcher(self, name: str, settings: Settings | None) -> Any:
        if name not in self._compiled:
            self._compiled[name] = self._compile(name, settings)
        return self._compiled[name]

    def _compile(self, name: str, settings: Settings | None, is_kept: bool = True) -> Any:
        copy = self._settled_copy(name, settings)
        if IS_SIMULATED:
            return cuda.jit(copy)
        compile_copy = functools.partial(
            cuda.jit, copy, max_registers=_MOST_REGISTERS, shared_memory_carveout="maxshared"
        )
        if not is_kept:
            return compile_copy()
        try:
            compiled = compile_copy(cache=True)
        except (RuntimeError, OSError) as error:
            warn_of_cache(str(error))
            return compile_copy()
        check_cache_folder(compiled)
        return compiled

    def _settled_copy(self, name: str, settings: Settings | None) -> Any:
        """The function with what is known of `settings` in it."""
        names = dict(self.function.__globals__)
        if self._settles and settings is not None:
            names[settled.__name__] = _make_settled(settings)
        copy = types.FunctionType(self.function.__code__, names)
        copy.__module__ = self.function.__module__
        copy.__qualname__ = f"{self.function.__qualname__}-{name}"  # names the file in the cache
        return copy


def settled(settings: Any) -> Any:
    """The settings, in compiled code with constants in place of what is known."""
    return settings


def _make_settled(settings: Settings) -> Any:
    """What `settled` is compiled as."""
    known = dict(settings.known())
    kind: Any = type(settings)
    names: tuple[str, ...] = kind._fields
    values = (repr(known[name]) if name in known else f"given.{name}" for name in names)
    scope: dict[str, Any] = {"Settings": _class_for(kind, settings.known())}
    exec(f"def settled(given):\n    return Settings({', '.join(values)})", scope)
    made = scope[settled.__name__]
    return made if IS_SIMULATED else cuda.jit(made, device=True, forceinline=True)


@functools.lru_cache(maxsize=256)
def _class_for(settings: type, known: tuple[tuple[str, Any], ...]) -> type:
    """A class of its own: by the types of arguments functions know what is known."""
    return type(settings.__name__, (settings,), {"compiled_in": known})


@functools.lru_cache(maxsize=256)
def _digest_of(settings: Settings) -> str:
    return hashlib.sha256(repr(settings.known()).encode()).hexdigest()[:8]


def configure(compiled: Any, games: int, lanes: int = 1, stream: int = 0) -> Any:
    """What launches a compiled kernel with so many threads for each game, on a stream."""
    lanes = 1 if IS_SIMULATED else lanes
    in_a_block = min(games, _THREADS_PER_BLOCK // lanes)
    shape = (1, -(-games // in_a_block)), (lanes, in_a_block)
    with _few_games_are_fine():
        return compiled[(*shape, _stream(stream)) if stream else shape]


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """Room for an array on the GPU.

    Raises:
        MemoryError: when the GPU has no such room.
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
    """Writes over an array on the GPU."""
    if IS_SIMULATED:
        target[...] = array
    elif array.size:
        target.copy_to_device(np.ascontiguousarray(array))


def download(array: Array) -> NDArray[Any]:
    """A copy of an array from the GPU, once all that was started there is done."""
    if IS_SIMULATED:
        return np.array(array)
    if not array.size:
        return np.empty(array.shape, array.dtype)
    cuda.synchronize()
    host = np.empty(array.shape, array.dtype)
    array.copy_to_host(host)
    return host


def view(array: Any, dtype: Any = None) -> Array:
    """What another library keeps on the GPU (its `__cuda_array_interface__`), seen as `dtype`."""
    if IS_SIMULATED:
        seen = np.asarray(array)
    else:
        seen = cuda.as_cuda_array(array, sync=False)
    return seen if dtype is None else seen.view(dtype)


@functools.cache
def _stream(pointer: int) -> Any:
    return cuda.external_stream(pointer)


@contextmanager
def _few_games_are_fine() -> Iterator[None]:
    """Has Numba say nothing of small launches.

    By its own switch: other threads undo each other's `warnings.catch_warnings`.
    """
    with _switching:
        before = getattr(_config, _SWITCH, 0)
        setattr(_config, _SWITCH, 0)
        try:
            yield
        finally:
            setattr(_config, _SWITCH, before)
