"""What a GPU's compiler gets in place of a function: the same, written so that less comes of it."""

import ast
import functools
import types
from typing import Any

from tesuji.binding import RuleError, parse
from tesuji.counting import LANE, NAMES, NUM_LANES, count_upwards
from tesuji.settling import settle


@functools.lru_cache(maxsize=4096)
def cuda_version(function: Any, place: int = 0, known: tuple[tuple[str, Any], ...] = ()) -> Any:
    """The function with loops and indexes that count upwards, and with what is known.

    Args:
        function: is left alone where it has variables of a function around it, or no source.
        place: of the argument of which something is known.
        known: attributes of that argument.
    """
    called = set(function.__code__.co_names)
    if function.__closure__ or (hasattr(function, "syntax_tree") and called & {LANE, NUM_LANES}):
        return function  # functions of a game may have those names too, and mean something else
    try:
        tree = parse(function)
    except RuleError:
        return function
    if called & dict(known).keys():
        settle(tree, function, function.__code__.co_varnames[place], dict(known))
    count_upwards(tree)
    module = ast.fix_missing_locations(ast.Module(body=[tree], type_ignores=[]))
    compiled = compile(module, function.__code__.co_filename, "exec")
    code = next(found for found in compiled.co_consts if isinstance(found, types.CodeType))
    made = types.FunctionType(code, function.__globals__ | NAMES, function.__name__)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made
