"""Turns methods into plain functions that compile, by resolving every use of `self` beforehand.

`self.rows` becomes a constant, `self.has_line(...)` a call of the bound function, and
`super().play(...)` a call of the next class's. Module-level constants and functions are included.
The new function keeps the file and line numbers of the original, so errors point at the user's own
lines.
"""

import ast
import copy
import enum
import inspect
import textwrap
import types
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from plainzero.compiler.code_names import outer_names
from plainzero.compiler.refused_syntax import RuleError as RuleError
from plainzero.compiler.refused_syntax import refuse_syntax, rule_error
from plainzero.compiler.source_digest import SCALARS, is_compiled, is_own


class Binder:
    """Binds methods of one object; each is bound once, so rules may call each other freely.

    Args:
        instance: the object.
        wrap: applied to each new function, so that compiled code may call it.
        tag: names the instance in compiled code. Without it, the cached code of two instances could
            have equal symbols, and one would run the other's functions.
        array_fields: names of the record fields that are arrays, which rules may not replace.
    """

    def __init__(  # noqa: D107
        self,
        instance: object,
        wrap: Callable[..., Any],
        tag: str,
        array_fields: Collection[str] = (),
    ) -> None:
        self.instance = instance
        self.wrap = wrap
        self.tag = tag
        self.array_fields = array_fields
        self._bound: dict[object, Callable[..., Any]] = {}
        self._callers: list[Any] = []  # the functions being bound, each called by the one before

    def method(self, name: str, after: type | None = None) -> Callable[..., Any]:
        """The method `name` as a plain function; with `after`, the one `super()` finds there."""
        owner, function = _find_method(type(self.instance), name, after)
        return self._rebuild(function, owner)

    def functions(self) -> list[Any]:
        """The original functions that have been bound so far."""
        return list(self._bound)

    def _rebuild(self, function: Any, owner: type | None) -> Callable[..., Any]:
        """A copy of `function` with its own globals; a method if it has an `owner`."""
        earlier = self._bound.get(function)
        if earlier is not None:
            self._refuse_recursion(function)
            return earlier
        tree = parse(function)
        outer = outer_names(function)
        refuse_syntax(function, tree, self._constants(outer), self.array_fields)
        names: dict[str, Any] = {}
        if owner is not None and not isinstance(
            owner.__dict__.get(function.__name__), staticmethod
        ):
            resolver = _SelfResolver(self, function, owner, tree.args.args.pop(0).arg, names)
            tree.body = [resolver.visit(statement) for statement in tree.body]
        bound = self._evaluate(tree, function)
        namespace = bound.__globals__
        wrapped: Callable[..., Any] = self.wrap(bound)
        self._bound[function] = wrapped
        self._callers.append(function)
        try:
            for name, value in outer.items():
                namespace[name] = self._outer(value)
            for name, (method, after) in names.items():
                namespace[name] = self.method(method, after) if after is not _VALUE else method
        except RuleError:
            del self._bound[function]  # it calls what cannot be bound
            raise
        finally:
            self._callers.pop()
        return wrapped

    def _evaluate(self, tree: Any, function: Any) -> Any:
        """The function that the tree defines, in an empty namespace."""
        # Defaults are those of the original, not evaluated again: their names may be gone.
        tree.args.defaults = [ast.Constant(None) for _ in tree.args.defaults]
        tree.args.kw_defaults = [
            default and ast.Constant(None) for default in tree.args.kw_defaults
        ]
        module = ast.fix_missing_locations(ast.Module(body=[tree], type_ignores=[]))
        namespace: dict[str, Any] = {"__builtins__": __builtins__, "__name__": __name__}
        exec(compile(module, function.__code__.co_filename, "exec"), namespace)
        bound: Any = namespace.pop(function.__name__)
        # Numba imports the function's module when it loads code from its disk cache. The user's own
        # has another name when it is run as a script, loaded from a path, or moved: use ours.
        bound.__module__, bound.__qualname__ = __name__, f"{function.__qualname__}-{self.tag}"
        bound.__defaults__, bound.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        bound.syntax_tree = tree  # the file holds the original's source
        return bound

    def _constants(self, outer: dict[str, Any]) -> dict[str, Any]:
        """What is constant in compiled code, by the name that rules use."""
        members = inspect.getmembers_static(self.instance)
        return outer | {f"self.{name}": value for name, value in members}

    def _refuse_recursion(self, function: Any) -> None:
        """Refuses a call that leads back to the calling function.

        Raises:
            RuleError: with the line of the call.
        """
        if function not in self._callers:
            return
        caller, name = self._callers[-1], function.__name__
        for node in ast.walk(parse(caller)):
            called: Any = node.func if isinstance(node, ast.Call) else None
            if name in (getattr(called, "id", None), getattr(called, "attr", None)):
                raise rule_error(
                    caller,
                    called.lineno,
                    f"calls {name}(), which leads to itself; compiled rules cannot recurse: write "
                    "a loop, with the cells still to visit in a field of fixed size",
                )

    def _outer(self, value: Any) -> Any:
        """What compiled code gets for a name from outside: functions are rebuilt as well."""
        value = _undecorated(value)
        if isinstance(value, types.FunctionType) and is_own(value) and not is_compiled(value):
            return self._rebuild(value, None)
        return _frozen(value)


def _undecorated(value: Any) -> Any:
    """The function below `@njit`: bound like the rest, it is cached and runs on a GPU too."""
    return getattr(value, "py_func", value)


def _find_method(cls: type, name: str, after: type | None) -> tuple[type, Any]:
    order = cls.__mro__
    for owner in order[order.index(after) + 1 if after else 0 :]:
        if name in vars(owner):
            found = getattr(vars(owner)[name], "__func__", vars(owner)[name])
            if not isinstance(found, types.FunctionType):
                raise RuleError(f"{owner.__name__}.{name} is not a method, so rules cannot call it")
            return owner, found
    raise RuleError(f"{cls.__name__} has no method {name}")


def parse(function: Any) -> Any:
    """The function's syntax tree without decorators and annotations, lines as in its file."""
    rebuilt = getattr(function, "syntax_tree", None)
    if rebuilt is not None:
        return copy.deepcopy(rebuilt)
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
        raise rule_error(function, first, "is a lambda: write it with def")
    ast.increment_lineno(module, first - 1)
    tree.decorator_list, tree.returns = [], None
    for argument in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]:
        argument.annotation = None
    return tree


def _frozen(value: Any) -> Any:
    """The value with lists as tuples, the only sequences that are constants in compiled code."""
    if isinstance(value, enum.IntEnum):
        return int(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_frozen(item) for item in value))  # a named tuple keeps its names
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value


_VALUE = object()  # marks a name that stands for a value rather than for a method


class _SelfResolver(ast.NodeTransformer):
    """Replaces uses of `self` by constants and names; collects those names."""

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

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.self_name:
            raise self._error(node, f"uses {self.self_name} itself; name the attribute you need")
        return node

    def _member(self, node: ast.Attribute) -> ast.AST:
        instance, name = self.binder.instance, self._mangled(node.attr)
        if not isinstance(node.ctx, ast.Load):
            raise self._error(
                node, f"changes self.{name}; what changes during a game belongs in fields()"
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
        if isinstance(value, (*SCALARS, tuple, np.ndarray)):
            return self._name(node, f"_self_{name}", value, _VALUE)
        raise self._error(
            node,
            f"uses self.{name}, a {type(value).__name__}; compiled rules know numbers, strings, "
            "tuples and NumPy arrays",
        )

    def _mangled(self, name: str) -> str:
        """The name that Python gives a private attribute of the class."""
        is_private = name.startswith("__") and not name.endswith("__")
        return f"_{self.owner.__name__.lstrip('_')}{name}" if is_private else name

    def _name(self, node: ast.AST, name: str, target: Any, after: Any) -> ast.AST:
        self.names[name] = (target, after)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _error(self, node: ast.AST, what: str) -> RuleError:
        return rule_error(self.function, getattr(node, "lineno", 0), what)
