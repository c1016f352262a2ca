"""A method as a plain function that compiles: what `self` meant is resolved beforehand.

`self.rows` becomes a constant, `self.has_line(...)` a call of the bound function,
`super().play(...)` one of the next class's. Module-level constants and functions come along. The
new function keeps the file and the line numbers of the one it was made from, so errors point at the
user's own lines.
"""

import ast
import copy
import enum
import hashlib
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_SCALARS = (int, float, str, type(None), np.generic)  # bool is an int
_VALUES = (*_SCALARS, tuple, list, np.ndarray)


class RuleError(TypeError):
    """A rule that cannot be compiled; the message says where and what to write instead."""


class Binder:
    """Binds methods of one object; each is bound once, so rules may call each other freely.

    Args:
        instance: whose methods they are.
        wrap: applied to each new function, so that compiled code may call it.
        tag: names the instance in compiled code. Without it, code of two instances that comes from
            the disk cache may have the same symbols, and one then runs the other's functions.
    """

    def __init__(self, instance: object, wrap: Callable[..., Any], tag: str) -> None:  # noqa: D107
        self.instance = instance
        self.wrap = wrap
        self.tag = tag
        self._bound: dict[object, Callable[..., Any]] = {}

    def method(self, name: str, after: type | None = None) -> Callable[..., Any]:
        """The method `name` as a plain function; with `after`, the one `super()` finds there."""
        owner, function = _find_method(type(self.instance), name, after)
        return self._rebuild(function, owner)

    def _rebuild(self, function: Any, owner: type | None) -> Callable[..., Any]:
        """A copy of `function` with its own globals; a method when it has an `owner`."""
        known = self._bound.get(function)
        if known is not None:
            return known
        tree = parse(function)
        # The defaults are those of the original, not evaluated again: their names may be gone.
        tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
        tree.args.kw_defaults = [
            default and ast.Constant(None) for default in tree.args.kw_defaults
        ]
        names: dict[str, Any] = {}
        if owner is not None and not isinstance(
            owner.__dict__.get(function.__name__), staticmethod
        ):
            resolver = _SelfResolver(self, function, owner, tree.args.args.pop(0).arg, names)
            tree.body = [resolver.visit(statement) for statement in tree.body]
        module = ast.fix_missing_locations(ast.Module(body=[tree], type_ignores=[]))
        namespace: dict[str, Any] = {"__builtins__": __builtins__, "__name__": __name__}
        exec(compile(module, function.__code__.co_filename, "exec"), namespace)
        bound: Any = namespace.pop(function.__name__)
        # Numba imports the function's module when it loads code from its disk cache. The user's own
        # has another name when it is run as a script, loaded from a path, or moved: use ours.
        bound.__module__, bound.__qualname__ = __name__, f"{function.__qualname__}-{self.tag}"
        bound.__defaults__, bound.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        bound.syntax_tree = tree  # its source is not what it was made from
        wrapped: Callable[..., Any] = self.wrap(bound)
        self._bound[function] = wrapped
        for name, value in _outer_names(function).items():
            namespace[name] = self._outer(value)
        for name, (method, after) in names.items():
            namespace[name] = self.method(method, after) if after is not _VALUE else method
        return wrapped

    def _outer(self, value: Any) -> Any:
        """What compiled code gets for a name from outside: functions are rebuilt as well."""
        value = _undecorated(value)
        if isinstance(value, types.FunctionType) and _is_plain(value):
            return self._rebuild(value, None)
        return _frozen(value)


def source_files(instance: object, base: type = object) -> Iterator[tuple[Path, str]]:
    """Each file on which the object's methods depend, with the constants they take from outside.

    Args:
        instance: whose methods they are.
        base: the class from which on the values of attributes are left out.
    """
    cls = type(instance)
    seen: set[object] = set()
    todo: list[Any] = [
        getattr(member, "__func__", member)
        for owner in cls.__mro__
        for member in vars(owner).values()
        if isinstance(member, types.FunctionType | staticmethod)
    ]
    for owner in cls.__mro__[: cls.__mro__.index(base)]:
        yield _module_file(sys.modules.get(owner.__module__)), _attribute_values(instance, owner)
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        constants = []
        for name, value in sorted(_outer_names(function).items()):
            value = _undecorated(value)
            if isinstance(value, types.FunctionType):
                if _is_plain(value):
                    todo.append(value)
            elif isinstance(value, types.ModuleType):
                if _is_plain(value):
                    yield _module_file(value), _fingerprint(_public_values(value))
            else:
                constants.append(f"{name}={_fingerprint(value)}")
        yield Path(function.__code__.co_filename), ";".join(constants)


def _public_values(module: types.ModuleType) -> list[Any]:
    """The constants of a module; some may come from a file of which nothing else is known."""
    return [
        value
        for name, value in sorted(vars(module).items())
        if name[:1] != "_" and isinstance(value, (*_VALUES, enum.EnumMeta))
    ]


def _attribute_values(instance: object, owner: type) -> str:
    """What the constants and properties of one class are worth; rules see them as numbers."""
    values = []
    for name, member in sorted(vars(owner).items()):
        if isinstance(member, property) or (isinstance(member, _VALUES) and name[:2] != "__"):
            values.append(f"{name}={_fingerprint(getattr(instance, name))}")
    return ";".join(values)


def _fingerprint(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, list | tuple):
        return f"({','.join(_fingerprint(item) for item in value)})"
    if isinstance(value, enum.EnumMeta):
        members: list[enum.Enum] = list(value)
        return f"({','.join(f'{member.name}={member.value!r}' for member in members)})"
    return repr(value) if isinstance(value, _SCALARS) else type(value).__name__


def _module_file(module: types.ModuleType | None) -> Path:
    return Path(getattr(module, "__file__", None) or "")


def _undecorated(value: Any) -> Any:
    """The function below `@njit`: bound with the rest, it compiles, caches and runs on CUDA."""
    return getattr(value, "py_func", value)


def _find_method(cls: type, name: str, after: type | None) -> tuple[type, Any]:
    order = cls.__mro__
    for owner in order[order.index(after) + 1 if after else 0 :]:
        if name in vars(owner):
            found = getattr(vars(owner)[name], "__func__", vars(owner)[name])
            if not isinstance(found, types.FunctionType):
                raise RuleError(f"{owner.__name__}.{name} is no method, so rules cannot call it")
            return owner, found
    raise RuleError(f"{cls.__name__} has no method {name}")


def parse(function: Any) -> Any:
    """The function's syntax tree without decorators and annotations, lines as in its file."""
    known = getattr(function, "syntax_tree", None)
    if known is not None:
        return copy.deepcopy(known)
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise RuleError(
            f"{function.__qualname__} has no source file, so it cannot be compiled: "
            "keep the game in a .py file"
        ) from None
    module = ast.parse(textwrap.dedent("".join(lines)))
    tree = module.body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise RuleError(
            f"{function.__qualname__} ({_place(function, first)}) is a lambda: write it with def"
        )
    ast.increment_lineno(module, first - 1)
    tree.decorator_list, tree.returns = [], None
    for argument in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]:
        argument.annotation = None
    return tree


def _outer_names(function: Any) -> dict[str, Any]:
    """What the function's code takes from its module or from functions around it."""
    names = set(_code_names(function.__code__))
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        if name != "__class__":
            found[name] = cell.cell_contents
    return found


def _code_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_names(constant)


def _is_plain(thing: types.FunctionType | types.ModuleType) -> bool:
    """Whether it is somebody's own function or module, not one of Python, NumPy or Numba."""
    name = thing.__name__ if isinstance(thing, types.ModuleType) else thing.__module__
    package = (name or "").partition(".")[0]
    return package not in {"numpy", "numba", "math"} and package not in sys.stdlib_module_names


def _frozen(value: Any) -> Any:
    """Lists become tuples: compiled code takes its constants from tuples only."""
    if isinstance(value, enum.IntEnum):
        return int(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_frozen(item) for item in value))  # a named tuple keeps its names
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value


def _place(function: Any, line: int) -> str:
    return f"{Path(function.__code__.co_filename).name}, line {line}"


_NOT_IN_RULES = ("print", "input", "breakpoint", "open")
_VALUE = object()  # marks a name that stands for a value rather than for a method


class _SelfResolver(ast.NodeTransformer):
    """Replaces what is said of `self` by constants and names; collects those names."""

    def __init__(
        self, binder: Binder, function: Any, owner: type, self_name: str, names: dict[str, Any]
    ) -> None:
        self.binder, self.function, self.owner = binder, function, owner
        self.self_name, self.names = self_name, names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.self_name:
            return self._member(node)
        if (
            isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "super"
        ):
            return self._name(
                node, f"_super_{self.owner.__name__}_{node.attr}", node.attr, self.owner
            )
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _NOT_IN_RULES:
            raise self._error(node, f"calls {node.func.id}(); take it out to compile the rules")
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.self_name:
            raise self._error(node, f"uses {self.self_name} itself; name what you need of it")
        return node

    def _member(self, node: ast.Attribute) -> ast.AST:
        instance, name = self.binder.instance, self._mangled(node.attr)
        if not isinstance(node.ctx, ast.Load):
            raise self._error(
                node, f"changes self.{name}; what changes during a game belongs into fields()"
            )
        member = inspect.getattr_static(type(instance), name, None)
        if isinstance(member, types.FunctionType | staticmethod):
            return self._name(node, f"_self_{name}", name, None)
        try:
            value = _frozen(getattr(instance, name))
        except AttributeError:
            raise self._error(
                node, f"uses self.{name}, which {type(instance).__name__} does not have"
            ) from None
        if type(value) in (int, float, bool, str, type(None)):
            return ast.copy_location(ast.Constant(value), node)
        if isinstance(value, (*_SCALARS, tuple, np.ndarray)):
            return self._name(node, f"_self_{name}", value, _VALUE)
        raise self._error(
            node,
            f"uses self.{name}, a {type(value).__name__}; compiled rules know numbers, strings, "
            "tuples and NumPy arrays",
        )

    def _mangled(self, name: str) -> str:
        """What Python makes of a private name inside the class."""
        is_private = name.startswith("__") and not name.endswith("__")
        return f"_{self.owner.__name__.lstrip('_')}{name}" if is_private else name

    def _name(self, node: ast.AST, name: str, target: Any, after: Any) -> ast.AST:
        self.names[name] = (target, after)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _error(self, node: ast.AST, what: str) -> RuleError:
        line = getattr(node, "lineno", 0)
        return RuleError(f"{self.function.__qualname__} ({_place(self.function, line)}) {what}")
