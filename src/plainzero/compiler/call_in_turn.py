"""Functions that call others one after the other, without a loop, which could not be compiled."""

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function


def call_in_turn(
    name: str, module: str, functions: Sequence[Callable[..., None]], arguments: Sequence[str]
) -> Callable[..., None]:
    """A kernel function of these arguments that passes them to each of the functions.

    Args:
        name: of the new function.
        module: the name of the module that it belongs to.
        functions: kernel functions without a result.
        arguments: the names of the arguments that all of them take.
    """
    names = {f"call_{place}": function for place, function in enumerate(functions)}
    given = ", ".join(arguments)
    body = [f"    {called}({given})" for called in names] or ["    pass"]
    tree = ast.parse("\n".join([f"def {name}({given}):", *body]))
    namespace: dict[str, Any] = {"__name__": module, **names}
    exec(compile(tree, sys.modules[module].__file__ or "", "exec"), namespace)
    made: Any = namespace[name]
    made.syntax_tree = tree.body[0]  # the module's file has no source of it
    return kernel_function(made)  # type: ignore[no-any-return]
