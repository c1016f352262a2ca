"""The names that a function's code uses, and what they stand for."""

import dis
import types
from collections.abc import Iterator
from typing import Any

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def outer_names(function: Any) -> dict[str, Any]:
    """What the function's code takes from its module or from functions around it, by name.

    An attribute does not count: a record's field may have the name of a function of the module.
    """
    names = set(_loaded_names(function.__code__))
    found = {
        name: function.__globals__[name]
        for name in names & function.__globals__.keys()
        if name[:2] != "__"  # its module's name, which depends on how a file was loaded
    }
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        if name != "__class__":
            found[name] = cell.cell_contents
    return found


def all_names(function: Any) -> set[str]:
    """Every name in the function's code that is not a local one: outer names and attributes."""
    return {name for code in _nested_code(function.__code__) for name in code.co_names}


def _loaded_names(code: types.CodeType) -> Iterator[str]:
    for part in _nested_code(code):
        for instruction in dis.get_instructions(part):
            if instruction.opname in _LOADS:
                yield instruction.argval


def _nested_code(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code, and that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested_code(constant)
