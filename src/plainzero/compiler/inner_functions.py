"""Compiles functions that only other compiled code calls, without the cost of calling them alone.

Numba compiles every function as if Python would call it: it optimises it together with everything
it calls, makes wrappers, and generates machine code. Nested ten deep, that happens ten times:
22 s for the search's hundred short functions, against 8 s here. A function that is only ever
linked into an entry point needs none of it, since the entry point is optimised as a whole anyway;
so here compiling stops after lowering.

This subclasses Numba's compiler, which is no public interface. If that fails, Numba's default
pipeline compiles the same code, more slowly: see `_works`, and cpu_kernels.py.
"""

import functools
from typing import Any

from numba import _dynfunc, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering
from numba.extending import overload

from plainzero.compiler.warn_once import warn_of_numba


class _LinkOnlyLibrary(JITCodeLibrary):
    """Code to be linked into other code, never called by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=False)
class _UseLinkOnlyLibrary(LoweringPass):
    _name = "use_inner_library"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        library = _LinkOnlyLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.enable_object_caching()
        state.library = library
        state.flags.no_compile = True
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _LeaveUncallable(LoweringPass):
    _name = "leave_uncallable"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lowered, library = state.cr, state.library
        name = lowered.fndesc.qualname
        # Numba knows functions by their entry points, so each needs one; this one leads nowhere.
        entry = _dynfunc.make_function(
            lowered.fndesc.lookup_module(), name, name, 0, lowered.env, (library,)
        )
        state.targetctx.insert_user_function(entry, lowered.fndesc, [library])
        state.reload_init.extend(library._reload_init)
        state.cr = lowered._replace(cfunc=entry)
        return True


class LinkOnlyCompiler(Compiler):
    """Numba's compiler, stopping when an inner function is ready to be linked."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes with a library that does less, or Numba's own if that does not work."""
        if not (_is_tried or _works()):
            pipelines: list[Any] = super().define_pipelines()
            return pipelines
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_UseLinkOnlyLibrary, AnnotateTypes)
        passes.add_pass_after(_LeaveUncallable, NativeLowering)
        passes.finalize()
        return [passes]


JIT_OPTIONS: dict[str, Any] = {
    "pipeline_class": LinkOnlyCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    # Named tuples of arrays are passed by value: not inlined, a call would copy kilobytes.
    "forceinline": True,
    # Given here, because otherwise it is inherited from the function that calls.
    "_nrt": True,
}
"""Options of Numba's `jit` for functions that only compiled code calls."""

_is_tried = False  # while `_works` compiles


@functools.cache
def _works() -> bool:
    """Whether a small function can be compiled and linked this way; warns if not.

    Tried before the first function is compiled: a process that finds all code on disk never is.
    """
    global _is_tried
    _is_tried = True
    try:
        njit(_call_inner).compile(())
    except Exception as error:  # whatever another version of Numba does
        warn_of_numba(error)
        return False
    finally:
        _is_tried = False
    return True


def _inner() -> int:
    return 1


def _call_inner() -> int:
    return _inner()


@overload(_inner, jit_options=JIT_OPTIONS)
def _choose_inner() -> Any:
    return _inner
