"""How rules and kernels become machine code. Knows nothing of games or of search.

* `kernel_function` marks a plain function that other compiled code may call. It stays an ordinary
  Python function, so it can be stepped through, and it compiles for CUDA too.
* `Kernel` is an entry point: compiled for the CPU once per *tag*, with files of its own in the disk
  cache. Numba's cache goes stale when a function in another file changes; a tag that carries a
  digest of every source involved makes that impossible.
"""

import functools
import gc
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numba
from numba import njit
from numba.extending import overload

from plainzero.compiler.gpu_source import cuda_version
from plainzero.compiler.inner_functions import InnerCompiler

_config: Any = numba.config  # typed as Any: its settings are made at run time
_has_warned = False  # one warning a process is enough


INNER: dict[str, Any] = {
    "pipeline_class": InnerCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    # Named tuples of arrays are passed by value: not inlined, a call would copy kilobytes.
    "forceinline": True,
    # Said here, because otherwise it is inherited from the function that calls.
    "_nrt": True,
}
"""How functions that only compiled code calls are compiled for the CPU."""

KERNEL: dict[str, Any] = {**INNER, "_nrt": False}
"""The same for those that make no new arrays: without reference counts a search takes a third."""


def kernel_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function over arrays and records that compiled code may call; returns it as it is.

    It must not make new arrays.
    """
    compiled_as(function, KERNEL)(lambda *_, **__: function)
    return function


def rule_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `kernel_function`, for other people's code: it may make arrays, and is then slower."""
    compiled_as(function)(lambda *_, **__: function)
    return function


def compiled_as(
    function: Callable[..., Any], cpu_options: dict[str, Any] = INNER
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates what tells, by the types of the arguments, which code calls of `function` mean."""

    def register(choose: Callable[..., Any]) -> Callable[..., Any]:
        overload(function, strict=False)(_for_cuda(choose))
        overload(function, strict=False, jit_options=cpu_options, target="cpu")(choose)
        return choose

    return register


def _for_cuda(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Chooses as `choose` does; with what is known of an argument that is `Settings`."""

    def choose_for_cuda(*given: Any, **named: Any) -> Any:
        chosen = choose(*given, **named)
        if chosen is None:
            return None
        for place, argument in enumerate(given):
            known = getattr(getattr(argument, "instance_class", None), "compiled_in", ())
            if known:
                return cuda_version(chosen, place, known)
        return cuda_version(chosen)

    return choose_for_cuda


class Settings:
    """A named tuple of numbers, some of which a GPU's code is compiled for; see `CudaKernel`."""

    __slots__ = ()
    compiled_in: ClassVar[tuple[tuple[str, Any], ...]] = ()
    """Those that the code has in it in which a tuple of this class occurs."""

    def known(self) -> tuple[tuple[str, Any], ...]:
        """Those, with their names."""
        raise NotImplementedError


class Kernel:
    """An entry point for the CPU, compiled once per tag; releases the GIL while it runs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Wraps `function`, whose arguments are arrays, scalars and named tuples of them."""
        self.function = function
        self._compiled: dict[str, Callable[..., Any]] = {}
        functools.update_wrapper(self, function)

    def __call__(self, tag: str, *arguments: Any) -> Any:
        """Runs the code compiled for `tag`."""
        is_first = tag not in self._compiled
        compiled = self.compiled(tag)
        try:
            if is_first:
                with without_garbage_collection():  # see docs/lab-notebook.md
                    return compiled(*arguments)
            return compiled(*arguments)
        except OSError as error:  # the cache folder went away or filled up after we started
            warn_of_cache(str(error))
            self._compiled[tag] = njit(nogil=True)(self.function)
            return self._compiled[tag](*arguments)

    def compiled(self, tag: str) -> Callable[..., Any]:
        """The function compiled for `tag`: Numba's dispatcher, or the plain one without its JIT."""
        if tag not in self._compiled:
            self._compiled[tag] = self._compile(tag)
        return self._compiled[tag]

    def _compile(self, tag: str) -> Callable[..., Any]:
        copy = types.FunctionType(self.function.__code__, self.function.__globals__)
        copy.__module__ = self.function.__module__
        # The cache's file names come from the qualified name: with the tag in it, processes that
        # compile different games at the same time never write the same file.
        copy.__qualname__ = f"{self.function.__qualname__}-{tag}"
        try:
            compiled: Any = njit(cache=True, nogil=True)(copy)
        except (RuntimeError, OSError) as error:
            warn_of_cache(str(error))
            compiled = njit(nogil=True)(copy)
        else:
            check_cache_folder(compiled)
        return compiled  # type: ignore[no-any-return]


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Compiling makes millions of objects that all stay: to look through them takes a fifth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def check_cache_folder(dispatcher: Any) -> None:
    """Warns when the folder the user named cannot be used; Numba then takes another silently."""
    if _config.CACHE_DIR and not _config.DISABLE_JIT:
        used = str(dispatcher.stats.cache_path)
        if not used.startswith(str(_config.CACHE_DIR)):
            warn_of_cache(f"{_config.CACHE_DIR} cannot be written, {used} is used")


def warn_of_cache(reason: str) -> None:
    """Warns, once a process, that compiled code is not kept on disk."""
    global _has_warned
    if _has_warned:
        return
    _has_warned = True
    warnings.warn(
        f"compiled code is not kept where it should be, so starting may take longer: {reason}. "
        "Point NUMBA_CACHE_DIR at a folder you can write to.",
        RuntimeWarning,
        stacklevel=4,
    )
