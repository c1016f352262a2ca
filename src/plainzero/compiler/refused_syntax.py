"""Python that compiled rules cannot use, refused with the line and what to write instead.

Numba meets the same constructs later, deep in its own code, and its messages name neither.
"""

import ast
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

_CALLS = ("print", "input", "breakpoint", "open")
_MUTATORS = (
    *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"),
    *("add", "discard", "update", "setdefault", "popitem", "fill"),
)


class RuleError(TypeError):
    """A rule that cannot be compiled; the message says where and what to write instead."""


def rule_error(function: Any, line: int, what: str) -> RuleError:
    """The error to raise about one line of a function."""
    place = f"{Path(function.__code__.co_filename).name}, line {line}"
    return RuleError(f"{function.__qualname__} ({place}) {what}")


def refuse_syntax(
    function: Any, tree: ast.AST, constants: dict[str, Any], array_fields: Collection[str]
) -> None:
    """Refuses the first construct in a rule that cannot be compiled.

    Args:
        function: the rule, for the message.
        tree: its syntax tree, with line numbers as in its file.
        constants: what the names from outside the function stand for; `self.x` for attributes.
        array_fields: names of the record fields that are arrays.

    Raises:
        RuleError: says where it is and what to write instead.
    """
    for node in ast.walk(tree):
        what = (
            _unsupported(node)
            or _array_replaced(node, array_fields)
            or _constant_changed(node, constants)
        )
        if what:
            raise rule_error(function, getattr(node, "lineno", 0), what)


def _unsupported(node: ast.AST) -> str:
    if isinstance(node, ast.GeneratorExp):
        return (
            "uses a generator expression, as in any(… for …); write the loop out, with `break` or "
            "`return` once the answer is known"
        )
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return "uses yield; write the loop where its values are needed"
    if isinstance(node, ast.Global | ast.Nonlocal):
        return f"changes {', '.join(node.names)}; what changes during a game belongs in fields()"
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "imports a module; import it at the top of the file"
    if isinstance(node, ast.With):
        return "uses `with`, which does not compile; take it out of the rules"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        return f"calls {node.func.id}(); take it out to compile the rules"
    return ""


def _array_replaced(node: ast.AST, array_fields: Collection[str]) -> str:
    """What is wrong with `state.board = board`: a field's memory is fixed."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.attr in array_fields
    ):
        name = f"{node.value.id}.{node.attr}"
        return f"replaces the array {name}; write into it: `{name}[:] = …`, or one cell at a time"
    return ""


def _constant_changed(node: ast.AST, constants: dict[str, Any]) -> str:
    """What is wrong with a write to a list, dict or array outside the state."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changed = node.func.value if node.func.attr in _MUTATORS else None
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        changed = node.value
    else:
        changed = None
    while isinstance(changed, ast.Subscript):  # table[0][1] = 2 changes table
        changed = changed.value
    name = ast.unparse(changed) if isinstance(changed, ast.Name | ast.Attribute) else ""
    if isinstance(constants.get(name), list | dict | set | np.ndarray):
        return (
            f"changes {name}, {_kind(constants[name])} outside the state; compiled rules see it as "
            "a constant, so keep what changes in fields()"
        )
    if isinstance(node, ast.Name) and isinstance(constants.get(node.id), dict | set):
        return (
            f"uses {node.id}, {_kind(constants[node.id])}; use a tuple or a NumPy array indexed by "
            "number"
        )
    return ""


def _kind(value: Any) -> str:
    return "an array" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
