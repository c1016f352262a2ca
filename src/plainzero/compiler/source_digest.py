"""Digests of everything that a piece of compiled code is made from.

Numba's disk cache notices a change to the file that an entry point stands in, and to no other. So
kernels put the digest computed here into the name of their cached code. It covers the file of every
function that the code refers to, directly or through other functions, and the value of every
constant, wherever it was imported from. Host code that no kernel refers to does not count.
"""

import enum
import functools
import hashlib
import inspect
import sys
import sysconfig
import threading
import types
import typing
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plainzero.compiler.code_names import all_names, outer_names

SCALARS = (int, float, str, type(None), np.generic)  # bool is an int
"""The types of constants that compiled code takes as they are."""

_VALUES = (*SCALARS, tuple, list, np.ndarray)
_NOT_OURS = {"numpy", "numba", "numba_cuda", "llvmlite", *sys.stdlib_module_names}

_OUR_PACKAGE = __name__.partition(".")[0]
_INSTALLED = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
_DEEPEST_PATH = 4  # modules inside modules: `a.b.c.d`
_PROPERTIES = (property, functools.cached_property)

_registered: defaultdict[object, list[tuple[str, object]]] = defaultdict(list)


def depends_on(function: object, part: object, target: str = "") -> None:
    """Records that compiled calls of `function` depend on `part`, which its code does not name.

    Only those compiled for `target`, "cpu" or "cuda", if one is given.
    """
    _registered[function].append((target, part))


def is_compiled(function: object) -> bool:
    """Whether `depends_on` knows code that compiled calls of the function run instead of it."""
    return function in _registered


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
    """The same for the methods and properties of an object, with the values of its attributes.

    Args:
        instance: the object.
        base: the class whose attributes, and whose bases' attributes, are left out.
    """
    cls = type(instance)
    owners = cls.__mro__[: cls.__mro__.index(base)]
    for owner in owners:
        yield _module_file(sys.modules.get(owner.__module__)), _attribute_values(instance, owner)
    methods = _members(cls.__mro__, types.FunctionType | staticmethod)
    yield from dependencies(*methods, *_members(owners, _PROPERTIES))


def _members(owners: Iterable[type], kind: Any) -> list[Any]:
    found = (member for owner in owners for member in vars(owner).values())
    return [member for member in found if isinstance(member, kind)]


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
    """Outer names, what is taken from modules among them, and arguments' defaults and records."""
    used = outer_names(function)
    attributes = all_names(function)
    modules = [(name, value) for name, value in used.items() if _is_own_module(value)]
    while modules:
        name, module = modules.pop()
        for attribute in attributes & vars(module).keys():
            path, value = f"{name}.{attribute}", vars(module)[attribute]
            if path not in used and path.count(".") < _DEEPEST_PATH:
                used[path] = value
                modules += [(path, value)] if _is_own_module(value) else []
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    used |= {f"default {place}": value for place, value in enumerate(defaults)}
    records = _annotated_records(function)
    return used | {f"record {place}": record for place, record in enumerate(records)}


def _annotated_records(function: Any) -> list[type]:
    """The named tuples and enums in a function's annotations, and in the fields of those.

    Numba's type of a named tuple has its class and the types of its fields, but not their names.
    """
    found: list[type] = []
    todo: list[Any] = [*inspect.get_annotations(function).values()]
    while todo:
        hint = todo.pop(0)
        hint = function.__globals__.get(hint) if isinstance(hint, str) else hint
        if not _is_data(hint):
            todo += typing.get_args(hint)  # as in `Tree | None`
        elif hint not in found:
            found.append(hint)
            todo += [part for base in hint.__mro__ for part in _field_annotations(base)]
    return found


def _field_annotations(cls: type) -> Iterable[Any]:
    return inspect.get_annotations(cls).values()


def _is_own_module(value: Any) -> bool:
    return isinstance(value, types.ModuleType) and is_own(value)


def _is_data(value: Any) -> bool:
    """Whether it is a class of which compiled code uses no method: a named tuple or an enum."""
    is_tuple = isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
    return is_tuple or isinstance(value, enum.EnumMeta)


def _attribute_values(instance: object, owner: type) -> str:
    """The values of one class's constants and properties, which rules see as numbers."""
    members = vars(owner).items()
    values = {
        name: getattr(instance, name)
        for name, member in members
        if isinstance(member, property) or (isinstance(member, _VALUES) and name[:2] != "__")
    }
    cached = [name for name, member in members if isinstance(member, functools.cached_property)]
    return _describe(values | {name: _cached_value(instance, name) for name in cached})


class _NeedsItself(Exception):
    """A cached property whose value needs the digest that its value is wanted for."""


_valuing = threading.local()  # .instances: the ids of objects whose attributes are being valued


def _cached_value(instance: object, name: str) -> Any:
    """The value of a cached property; the error's name if it has none.

    Its source counts in any case. Rules do not use every cached property: one may need the state
    record, whose type contains the digest.
    """
    instances: set[int] = _valuing.__dict__.setdefault("instances", set())
    if id(instance) in instances:
        raise _NeedsItself
    instances.add(id(instance))
    try:
        return getattr(instance, name)
    except Exception as error:
        return type(error).__name__
    finally:
        instances.remove(id(instance))


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
