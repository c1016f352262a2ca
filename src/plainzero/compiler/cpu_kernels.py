"""Compiles rules and kernels to machine code. Knows nothing of games or search.

* `kernel_function` marks a plain function that other compiled code may call. It stays an ordinary
  Python function, which a debugger can step through, and it compiles for a GPU too.
* `Kernel` is an entry point, compiled for the CPU once per *tag*, such as a game's. Numba's disk
  cache goes stale when a function in another file changes; so the name of the cached code carries a
  digest of all sources that it depends on (source_digest.py).
"""

import functools
import gc
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, TypeVar

from numba import njit
from numba.extending import overload

from plainzero.compiler.gpu_source import gpu_version
from plainzero.compiler.source_digest import depends_on, source_digest
from plainzero.compiler.warn_once import check_cache_folder, warn_of_cache, warn_of_numba

Function = TypeVar("Function", bound=Callable[..., Any])

NO_TAG = ""
"""The tag of kernels whose code is the same for all games."""


def _rule_jit_options() -> dict[str, Any]:
    try:
        from plainzero.compiler.inner_functions import JIT_OPTIONS
    except Exception as error:  # private parts of Numba that another version lacks
        warn_of_numba(error)
        return {}
    return JIT_OPTIONS


RULE_JIT_OPTIONS = _rule_jit_options()
"""Numba's `jit` options for functions that only compiled code calls; may be empty."""

KERNEL_JIT_OPTIONS = RULE_JIT_OPTIONS and {**RULE_JIT_OPTIONS, "_nrt": False}
"""The same for functions that make no arrays: without reference counts a search takes a third."""


def kernel_function(function: Function) -> Function:
    """Marks a function over arrays and records that compiled code may call; returns it unchanged.

    It must not create arrays.
    """
    compiled_as(function, KERNEL_JIT_OPTIONS)(lambda *_, **__: function)
    return function


def rule_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like `kernel_function`, for other people's code, which may create arrays; that is slower."""
    compiled_as(function)(lambda *_, **__: function)
    return function


def compiled_as(
    function: Callable[..., Any], cpu_options: dict[str, Any] = RULE_JIT_OPTIONS
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function from argument types to the code that calls of `function` run."""

    def register(choose: Callable[..., Any]) -> Callable[..., Any]:
        overload(function, strict=False)(_for_gpu(choose))
        overload(function, strict=False, jit_options=cpu_options, target="cpu")(choose)
        depends_on(function, choose)
        return choose

    return register


def implement(
    function: Callable[..., Any], body: Callable[..., Any], target: Literal["cpu", "cuda"]
) -> None:
    """Compiles calls of `function` as `body` on one kind of processor."""
    options = {"jit_options": KERNEL_JIT_OPTIONS} if target == "cpu" else {}
    overload(function, strict=False, target=target, **options)(lambda *_: body)
    depends_on(function, body, target)


def _for_gpu(choose: Callable[..., Any]) -> Callable[..., Any]:
    """Chooses as `choose` does, and specialises the code for an argument with `KernelOptions`."""

    def choose_for_gpu(*given: Any, **named: Any) -> Any:
        chosen = choose(*given, **named)
        if chosen is None:
            return None
        for place, argument in enumerate(given):
            values = getattr(getattr(argument, "instance_class", None), "specialised_for", ())
            if values:
                return gpu_version(chosen, place, values)
        return gpu_version(chosen)

    return choose_for_gpu


class KernelOptions:
    """Base of a named tuple of numbers, some of them constants in a GPU's code; see `GpuKernel`."""

    __slots__ = ()
    specialised_for: ClassVar[tuple[tuple[str, Any], ...]] = ()
    """The constants of the code that takes a tuple of this class."""

    def compile_time_values(self) -> tuple[tuple[str, Any], ...]:
        """The numbers that become constants, with their names."""
        raise NotImplementedError


class Kernel:
    """An entry point for the CPU, compiled once per tag; releases the GIL while it runs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Wraps `function`, whose arguments are arrays, scalars and named tuples of them."""
        self.function = function
        self._compiled: dict[str, Callable[..., Any]] = {}
        functools.update_wrapper(self, function)

    @property
    def sources(self) -> tuple[object, ...]:
        """What the compiled code depends on: the function, and the code that compiles it."""
        return self.function, sys.modules[__name__], RULE_JIT_OPTIONS.get("pipeline_class")

    @functools.cached_property
    def source_digest(self) -> str:
        """A digest of all source that the compiled code depends on."""
        return source_digest(*self.sources, target="cpu")[:16]

    def __call__(self, tag: str, *arguments: Any) -> Any:
        """Runs the code compiled for `tag`."""
        is_first = tag not in self._compiled
        compiled = self.compiled(tag)
        try:
            if is_first:
                with without_garbage_collection():  # see docs/lab-notebook.md
                    return compiled(*arguments)
            return compiled(*arguments)
        except OSError as error:  # the cache folder has vanished or filled up since
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
        copy.__qualname__ = f"{self.function.__qualname__}-{tag}-{self.source_digest}"
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
    """Saves a fifth of compiling, which creates millions of objects that all stay alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
