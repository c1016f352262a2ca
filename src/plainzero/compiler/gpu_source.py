"""Rewrites functions into a form that NVIDIA's compiler optimises better."""

import ast
import functools
import types
from typing import Any

from plainzero.compiler.bind_rules import RuleError, parse
from plainzero.compiler.fold_options import fold_options
from plainzero.compiler.unsigned_loops import NAMES, PREFIX, count_upwards


@functools.lru_cache(maxsize=4096)
def gpu_version(function: Any, place: int = 0, values: tuple[tuple[str, Any], ...] = ()) -> Any:
    """The function with loops and indexes that count upwards, specialised for its options.

    Args:
        function: returned unchanged if it has variables of an enclosing function, no source, or
            its own `range`.
        place: the position of the argument that holds the options.
        values: compile-time values of those options, with their names.
    """
    code, names = function.__code__, function.__globals__
    own = {*code.co_names, *code.co_varnames}
    is_shadowed = "range" in names or "range" in code.co_varnames
    if function.__closure__ or is_shadowed or any(name.startswith(PREFIX) for name in own):
        return function
    try:
        tree = parse(function)
    except RuleError:
        return function
    if set(code.co_names) & dict(values).keys():
        fold_options(tree, function, code.co_varnames[place], dict(values))
    count_upwards(tree, {n for n in code.co_names if getattr(names.get(n), "is_natural", False)})
    module = ast.fix_missing_locations(ast.Module(body=[tree], type_ignores=[]))
    compiled = compile(module, code.co_filename, "exec")
    rewritten = next(found for found in compiled.co_consts if isinstance(found, types.CodeType))
    made = types.FunctionType(rewritten, names | NAMES, function.__name__)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made
