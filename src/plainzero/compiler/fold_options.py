"""Functions with settings in them that are known: what these switch off is gone before compiling.

The counterpart of binding.py for the search's own functions. A compiler would drop what is never
reached as well, but only after Numba has found the types of all of it, which is most of the work.
"""

import ast
import operator
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


def settle(tree: ast.FunctionDef, function: Any, name: str, known: dict[str, Any]) -> None:
    """Makes the function's tree what it is where its argument `name` has these attributes."""
    _Reader(name, known).visit(tree)
    _Folder(_constants_of(function) | _settled_locals(tree)).visit(tree)
    _tidy(tree)


class _Reader(ast.NodeTransformer):
    """Puts numbers in place of the attributes of a name."""

    def __init__(self, name: str, known: dict[str, Any]) -> None:
        self._name, self._known = name, known

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        is_ours = isinstance(node.value, ast.Name) and node.value.id == self._name
        if is_ours and node.attr in self._known:
            return ast.copy_location(ast.Constant(self._known[node.attr]), node)
        self.generic_visit(node)
        return node


class _Folder(ast.NodeTransformer):
    """Decides what numbers decide: comparisons, and which branch is taken."""

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


def _constants_of(function: Any) -> dict[str, Any]:
    """The numbers among its module's names."""
    names, local = function.__globals__, function.__code__.co_varnames
    return {
        name: names[name]
        for name in function.__code__.co_names
        if name not in local and isinstance(names.get(name), int | float)
    }


def _settled_locals(tree: ast.FunctionDef) -> dict[str, Any]:
    """The numbers that a local name always has: it is given one, and only once."""
    stored = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    arguments = {argument.arg for argument in tree.args.args}
    return {
        target.id: value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1
        for target, value in assigned(statement.targets[0], statement.value)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant)
        if stored.count(target.id) == 1 and target.id not in arguments
    }


def _tidy(tree: ast.FunctionDef) -> None:
    """Cuts off what follows the end of a block, and fills those that have become empty."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        ends = [place for place, part in enumerate(body) if isinstance(part, _ENDS)]
        del body[ends[0] + 1 if ends else len(body) :]
        if not body:
            body.append(ast.Pass())
