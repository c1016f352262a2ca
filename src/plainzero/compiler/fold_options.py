"""Folds options that are known at compile time into a function: what they switch off is removed.

The counterpart of bind_rules.py for the search's own functions. A compiler would drop unreachable
code as well, but only after Numba has inferred the types of all of it, which is most of the work.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

from plainzero.compiler.unsigned_loops import assigned

_COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ENDS = ast.Return, ast.Continue, ast.Break, ast.Raise
_UNKNOWN = object()


def fold_options(tree: ast.FunctionDef, function: Any, name: str, values: dict[str, Any]) -> None:
    """Rewrites the function's tree for these values of the attributes of its argument `name`.

    Leaves it alone if the function gives that name another meaning anywhere.
    """
    if _bindings(tree)[name] > 1:
        return
    _Reader(name, values).visit(tree)
    _Folder(_constants_of(function, tree) | _constant_locals(tree)).visit(tree)
    _tidy(tree)


def _bindings(tree: ast.FunctionDef) -> Counter[str]:
    """The number of places that give each name a meaning, in the function and inside it."""
    return Counter(filter(None, map(_bound_name, ast.walk(tree))))


def _bound_name(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return name
        case ast.MatchAs(name=name) | ast.MatchStar(name=name) | ast.ExceptHandler(name=name):
            return name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return None


class _Reader(ast.NodeTransformer):
    """Replaces attributes of a name by their values."""

    def __init__(self, name: str, values: dict[str, Any]) -> None:
        self._name, self._values = name, values

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        is_ours = isinstance(node.value, ast.Name) and node.value.id == self._name
        if is_ours and node.attr in self._values:
            return ast.copy_location(ast.Constant(self._values[node.attr]), node)
        self.generic_visit(node)
        return node


class _Folder(ast.NodeTransformer):
    """Evaluates what constants decide: comparisons, and which branch is taken."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        return self._names.get(node.id, _UNKNOWN) if isinstance(node, ast.Name) else _UNKNOWN

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        values = [self._value(part) for part in (node.left, *node.comparators)]
        compare = _COMPARE.get(type(node.ops[0]))
        if len(values) != 2 or _UNKNOWN in values or compare is None:
            return node
        return ast.copy_location(ast.Constant(compare(*values)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        value = self._value(node.operand)
        if not isinstance(node.op, ast.Not) or value is _UNKNOWN:
            return node
        return ast.copy_location(ast.Constant(not value), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        while (value := self._value(node.values[0])) is not _UNKNOWN and len(node.values) > 1:
            if bool(value) != isinstance(node.op, ast.And):  # it decides
                return node.values[0]
            del node.values[0]
        return node if len(node.values) > 1 else node.values[0]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        value = self._value(node.test)
        return node if value is _UNKNOWN else (node.body if value else node.orelse)

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        value = self._value(node.test)
        return node if value is _UNKNOWN else (node.body if value else node.orelse)


def _constants_of(function: Any, tree: ast.FunctionDef) -> dict[str, Any]:
    """The numbers among the module's names that the function uses and never binds."""
    names, bound = function.__globals__, _bindings(tree)
    return {
        name: names[name]
        for name in function.__code__.co_names
        if name not in bound and isinstance(names.get(name), int | float)
    }


def _constant_locals(tree: ast.FunctionDef) -> dict[str, Any]:
    """The local names that are given a number once, and nothing else anywhere."""
    bound = _bindings(tree)
    return {
        target.id: value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1
        for target, value in assigned(statement.targets[0], statement.value)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant)
        if bound[target.id] == 1
    }


def _tidy(tree: ast.FunctionDef) -> None:
    """Removes statements after the end of a block, and fills blocks that have become empty."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        ends = [place for place, part in enumerate(body) if isinstance(part, _ENDS)]
        del body[ends[0] + 1 if ends else len(body) :]
        if not body:
            body.append(ast.Pass())
