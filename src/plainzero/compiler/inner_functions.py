"""Compiling functions that only other compiled code calls, without the cost of calling them alone.

Numba compiles every function as if Python would call it: it optimises it together with all that it
calls, makes wrappers, and generates machine code. Nested ten deep, that is done ten times
over: 22 s for the search's hundred short functions, against 8 s here. A function that is only ever
linked into an entry point needs none of it, for the entry point is optimised as a whole anyway; so
here compiling stops after lowering. This subclasses Numba's compiler, which is no public interface:
pyproject.toml pins Numba's minor version.
"""

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering


class _InnerLibrary(JITCodeLibrary):
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
class _UseInnerLibrary(LoweringPass):
    _name = "use_inner_library"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
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


class InnerCompiler(CompilerBase):
    """Numba's compiler, stopping where an inner function is ready to be linked."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes, with a library that does less."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_UseInnerLibrary, AnnotateTypes)
        passes.add_pass_after(_LeaveUncallable, NativeLowering)
        passes.finalize()
        return [passes]
