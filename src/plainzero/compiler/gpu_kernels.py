"""How kernels become code for a GPU.

The counterpart of cpu_kernels.py's `Kernel`: the same plain functions, one thread for each game or
several (search/gpu/warp_lanes.py). In Numba's simulator (NUMBA_ENABLE_CUDASIM=1 and
NUMBA_DISABLE_JIT=1, which CI uses) arrays are ordinary NumPy arrays.
"""

import functools
import hashlib
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba import cuda

from plainzero.compiler.cpu_kernels import KernelOptions, without_garbage_collection
from plainzero.compiler.gpu_memory import IS_SIMULATED
from plainzero.compiler.gpu_source import gpu_version
from plainzero.compiler.source_digest import source_digest
from plainzero.compiler.warn_once import check_cache_folder, warn_of_cache

_config: Any = numba.config  # typed as Any: its settings are made at run time
_SWITCH = "CUDA_LOW_OCCUPANCY_WARNINGS"
_switching = threading.Lock()
_THREADS_PER_BLOCK = 32  # games are few and each walks its own tree: spread them over the chip
# Leaves room for a network's kernel, which takes the shared memory and most registers; it cannot
# start on a multiprocessor that is configured for less shared memory.
_MOST_REGISTERS = 128


class GpuKernel:
    """An entry point for the GPU, compiled once per tag, as `Kernel` is.

    The last two arguments of its function are the range of games; `cuda.grid(2)[1]` counts them. In
    the simulator a game always has one thread.

    A function that begins with `options = specialised(options)` has an argument of a class derived
    from `KernelOptions`. It is compiled once for each combination of their compile-time values, as
    constants: nothing is left of what is switched off, which is most of it.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        """Wraps `function`, whose arguments are arrays on the GPU, numbers and tuples of them."""
        self.function = function
        self._is_specialised = specialised.__name__ in function.__code__.co_names
        self._compiled: dict[str, Any] = {}  # by tag and options
        self._launched: set[str] = set()
        functools.update_wrapper(self, function)

    @property
    def sources(self) -> tuple[object, ...]:
        """What the compiled code depends on: the function, and the code that compiles it."""
        modules = sys.modules[__name__], sys.modules[KernelOptions.__module__]
        return self.function, *modules, gpu_version

    @functools.cached_property
    def source_digest(self) -> str:
        """A digest of all source that the compiled code depends on."""
        return source_digest(*self.sources, target="cuda")[:16]

    def __call__(self, tag: str, *arguments: Any, lanes: int = 1, stream: int = 0) -> None:
        """Starts `lanes` threads per game on a stream, and does not wait for them."""
        games = arguments[-1] - arguments[-2]
        if games == 0:
            return
        options = _options_among(arguments)
        name = self._name(tag, options)
        launch = configure(self._dispatcher(name, options), games, lanes, stream)
        try:
            if name in self._launched:
                launch(*arguments)
            else:
                with without_garbage_collection():
                    launch(*arguments)
        except OSError as error:  # the cache folder has vanished or is full; nothing was launched
            warn_of_cache(str(error))
            self._compiled[name] = self._compile(name, options, is_cached=False)
            configure(self._compiled[name], games, lanes, stream)(*arguments)
        self._launched.add(name)

    def is_cached(self, tag: str, options: KernelOptions | None = None) -> bool:
        """Whether code for the tag and the options is on disk."""
        dispatcher = self._dispatcher(self._name(tag, options), options)
        name, folder = dispatcher.py_func.__qualname__, dispatcher.stats.cache_path
        return folder is not None and any(Path(folder).glob(f"*{name}-*.nbi"))

    def function_for(self, tag: str, arguments: Sequence[Any]) -> Any:
        """The plain function that is compiled for a tag and such arguments."""
        options = _options_among(arguments)
        return self._specialised_copy(self._name(tag, options), options)

    def _name(self, tag: str, options: KernelOptions | None) -> str:
        """The name of the code compiled for both."""
        if not self._is_specialised:
            return tag
        if options is None:
            raise TypeError(
                f"{self.function.__name__} is specialised for its options; pass them too"
            )
        return f"{tag}-{_digest_of(options)}"

    def _dispatcher(self, name: str, options: KernelOptions | None) -> Any:
        if name not in self._compiled:
            self._compiled[name] = self._compile(name, options)
        return self._compiled[name]

    def _compile(self, name: str, options: KernelOptions | None, is_cached: bool = True) -> Any:
        copy = self._specialised_copy(name, options)
        if IS_SIMULATED:
            return cuda.jit(copy)
        compile_copy = functools.partial(
            cuda.jit, copy, max_registers=_MOST_REGISTERS, shared_memory_carveout="maxshared"
        )
        if not is_cached:
            return compile_copy()
        try:
            compiled = compile_copy(cache=True)
        except (RuntimeError, OSError) as error:
            warn_of_cache(str(error))
            return compile_copy()
        check_cache_folder(compiled)
        return compiled

    def _specialised_copy(self, name: str, options: KernelOptions | None) -> Any:
        """The function with the compile-time values of `options` in it."""
        names = dict(self.function.__globals__)
        if self._is_specialised and options is not None:
            names[specialised.__name__] = _make_specialised(options)
        copy = types.FunctionType(self.function.__code__, names)
        copy.__module__ = self.function.__module__
        # Names the file in the cache.
        copy.__qualname__ = f"{self.function.__qualname__}-{name}-{self.source_digest}"
        return copy


def _options_among(arguments: Sequence[Any]) -> KernelOptions | None:
    return next((given for given in arguments if isinstance(given, KernelOptions)), None)


def specialised(options: Any) -> Any:
    """The options; in compiled code, with their compile-time values as constants."""
    return options


def _make_specialised(options: KernelOptions) -> Any:
    """The function that `specialised` is compiled as."""
    constants = dict(options.compile_time_values())
    kind: Any = type(options)
    names: tuple[str, ...] = kind._fields
    values = (repr(constants[name]) if name in constants else f"given.{name}" for name in names)
    scope: dict[str, Any] = {"KernelOptions": _class_for(kind, options.compile_time_values())}
    exec(f"def specialised(given):\n    return KernelOptions({', '.join(values)})", scope)
    made = scope[specialised.__name__]
    return made if IS_SIMULATED else cuda.jit(made, device=True, forceinline=True)


@functools.lru_cache(maxsize=256)
def _class_for(options: type, values: tuple[tuple[str, Any], ...]) -> type:
    """A subclass that carries the values: callees read them off the type of their argument."""
    return type(options.__name__, (options,), {"specialised_for": values})


@functools.lru_cache(maxsize=256)
def _digest_of(options: KernelOptions) -> str:
    return hashlib.sha256(repr(options.compile_time_values()).encode()).hexdigest()[:8]


def configure(compiled: Any, games: int, lanes: int = 1, stream: int = 0) -> Any:
    """The compiled kernel, ready to be launched with `lanes` threads per game on a stream."""
    lanes = 1 if IS_SIMULATED else lanes
    games_per_block = min(games, _THREADS_PER_BLOCK // lanes)
    shape = (1, -(-games // games_per_block)), (lanes, games_per_block)
    with _without_occupancy_warnings():
        return compiled[(*shape, _stream(stream)) if stream else shape]


@functools.cache
def _stream(pointer: int) -> Any:
    return cuda.external_stream(pointer)


@contextmanager
def _without_occupancy_warnings() -> Iterator[None]:
    """Stops Numba's warnings about small launches.

    With its own switch, because `warnings.catch_warnings` in several threads undo each other.
    """
    with _switching:
        before = getattr(_config, _SWITCH, 0)
        setattr(_config, _SWITCH, 0)
        try:
            yield
        finally:
            setattr(_config, _SWITCH, before)
