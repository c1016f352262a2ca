"""Digests of everything that a piece of compiled code is made from.

Numba's disk cache notices a change to the file that an entry point stands in, and to no other. So
kernels put the digest computed here into the name of their cached code. It covers the file of every
function that the code refers to, directly or through other functions, and the value of every
constant, wherever it was imported from. Host code that no kernel refers to does not count.
"""

import enum
import functools
import hashlib
import sys
import sysconfig
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SCALARS = (int, float, str, type(None), np.generic)  # bool is an int
"""The types of constants that compiled code takes as they are."""

_VALUES = (*SCALARS, tuple, list, np.ndarray)
_NOT_OURS = {"numpy", "numba", "numba_cuda", "llvmlite", *sys.stdlib_module_names}

_OUR_PACKAGE = __name__.partition(".")[0]
_INSTALLED = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
_DEEPEST_PATH = 4  # modules inside modules: `a.b.c.d`

_registered: defaultdict[object, list[tuple[str, object]]] = defaultdict(list)


def depends_on(function: object, part: object, target: str = "") -> None:
    """Records that compiled calls of `function` depend on `part`, which its code does not name.

    Only those compiled for `target`, "cpu" or "cuda", if one is given.
    """
    _registered[function].append((target, part))


def source_digest(*parts: object, target: str = "") -> str:
    """A digest that changes with every source file and constant that `dependencies` finds."""
    return combine(dependencies(*parts, target=target))


def combine(found: Iterable[tuple[Path, str]]) -> str:
    """One digest of files, whatever folder they are in, and of the constants found with them."""
    contents = sorted({(_file_digest(path), constants) for path, constants in found})
    return hashlib.sha256(repr(contents).encode()).hexdigest()


def dependencies(*parts: object, target: str = "") -> Iterator[tuple[Path, str]]:
    """Each source file that functions, classes and modules depend on, with the constants used.

    Classes count with their methods and bases; modules with their file and with what is used of
    them; code of other installed projects with its files alone.

    Args:
        parts: where to begin.
        target: "cpu" or "cuda", for which the functions are compiled.
    """
    seen: set[object] = set()
    todo = [source for part in parts for source in _sources(part)]
    packages = {_OUR_PACKAGE, *map(_package, todo)}
    while todo:
        part = todo.pop()
        if part in seen:
            continue
        seen.add(part)
        path, constants, used = _look_at(part)
        if _package(part) not in packages and _is_installed(path):
            yield path, ""  # of another project: its version's files stand for all it depends on
            continue
        yield path, constants
        todo += used
        for only_for, other in _registered.get(part, ()):
            if only_for in ("", target):
                todo += _sources(other)


def object_dependencies(instance: object, base: type = object) -> Iterator[tuple[Path, str]]:
    """The same for the methods of an object, with the values of its attributes.

    Args:
        instance: the object.
        base: the class whose attributes, and whose bases' attributes, are left out.
    """
    cls = type(instance)
    for owner in cls.__mro__[: cls.__mro__.index(base)]:
        yield _module_file(sys.modules.get(owner.__module__)), _attribute_values(instance, owner)
    yield from dependencies(
        *(
            member
            for owner in cls.__mro__
            for member in vars(owner).values()
            if isinstance(member, types.FunctionType | staticmethod)
        )
    )


def outer_names(function: Any) -> dict[str, Any]:
    """What the function's code takes from its module or from functions around it, by name."""
    names = set(_code_names(function.__code__))
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


def is_own(thing: types.FunctionType | types.ModuleType | type) -> bool:
    """Whether it is this package's, a user's or another project's, not Python, NumPy or Numba."""
    return _package(thing) not in _NOT_OURS


def _package(thing: types.FunctionType | types.ModuleType | type) -> str:
    name = thing.__name__ if isinstance(thing, types.ModuleType) else thing.__module__
    return (name or "").partition(".")[0]


@functools.cache
def _is_installed(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in _INSTALLED)


@functools.cache
def _look_at(part: Any) -> tuple[Path, str, tuple[Any, ...]]:
    """The file of a function, class or module, the constants it uses, and its own sources."""
    if isinstance(part, types.ModuleType):
        return _module_file(part), "", ()
    if isinstance(part, type):
        file, constants = _module_file(sys.modules.get(part.__module__)), ""
        used = [*part.__bases__, *vars(part).values()]
    else:
        names = _used_names(part)
        file, constants, used = Path(part.__code__.co_filename), _describe(names), [*names.values()]
    return file, constants, tuple(source for value in used for source in _sources(value))


def _sources(value: Any) -> Iterator[Any]:
    """The functions, classes and modules of our own that a value is, wraps or holds."""
    if isinstance(value, types.FunctionType | types.ModuleType | type):
        if is_own(value) and not _is_data(value):
            yield value
    inner = value if isinstance(value, tuple) else _wrapped(value)
    for item in inner:
        yield from _sources(item)


def _wrapped(value: Any) -> list[types.FunctionType]:
    """The function inside a compiled, decorated or static one, or inside a property."""
    names = ("py_func", "__wrapped__", "__func__", "fget", "func")
    inner = [getattr(value, name, None) for name in names]
    return [function for function in inner if isinstance(function, types.FunctionType)]


def _used_names(function: Any) -> dict[str, Any]:
    """Outer names, what the code may take from modules among them, and defaults of arguments."""
    used = outer_names(function)
    attributes = set(_code_names(function.__code__))
    modules = [(name, value) for name, value in used.items() if _is_own_module(value)]
    while modules:
        name, module = modules.pop()
        for attribute in attributes & vars(module).keys():
            path, value = f"{name}.{attribute}", vars(module)[attribute]
            if path not in used and path.count(".") < _DEEPEST_PATH:
                used[path] = value
                modules += [(path, value)] if _is_own_module(value) else []
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return used | {f"default {place}": value for place, value in enumerate(defaults)}


def _code_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_names(constant)


def _is_own_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and is_own(value)


def _is_data(value: Any) -> bool:
    """Whether it is a class of which compiled code uses no method: a named tuple or an enum."""
    is_tuple = isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
    return is_tuple or isinstance(value, enum.EnumMeta)


def _attribute_values(instance: object, owner: type) -> str:
    """The values of one class's constants and properties, which rules see as numbers."""
    return _describe(
        {
            name: getattr(instance, name)
            for name, member in vars(owner).items()
            if isinstance(member, property) or (isinstance(member, _VALUES) and name[:2] != "__")
        }
    )


def _describe(names: dict[str, Any]) -> str:
    return ";".join(f"{name}={_fingerprint(value)}" for name, value in sorted(names.items()))


def _fingerprint(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, list | tuple):
        return f"({','.join(_fingerprint(item) for item in value)})"
    if isinstance(value, enum.EnumMeta):
        members: list[enum.Enum] = list(value)
        return f"({','.join(f'{member.name}={member.value!r}' for member in members)})"
    if _is_data(value):
        defaults = value._field_defaults
        return f"{value.__name__}{value._fields}{_describe(defaults)}"
    if isinstance(value, type):
        return value.__qualname__
    return repr(value) if isinstance(value, (*SCALARS, np.dtype)) else type(value).__name__


def _module_file(module: types.ModuleType | None) -> Path:
    return Path(getattr(module, "__file__", None) or "")


@functools.cache
def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:  # a notebook's cell has no file; its rules are refused when they are bound
        return str(path)
