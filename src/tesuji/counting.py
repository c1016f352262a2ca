"""Loops and indexes as a GPU's compiler likes them: what counts upwards is never negative.

Python counts from the end where an index is negative, so compiled code looks at each one; and Numba
counts a `range` down beside its variable. The CPU's compiler sees through both. NVIDIA's does not:
Gomoku's list of empty points took it 20 instructions a point in place of five. Here loops become
`while` loops, and indexes that cannot be negative say so.
"""

import ast
from collections.abc import Iterator

import numpy as np

NAMES = {"_signed": np.int64, "_unsigned": np.uint64}
"""What the new code calls."""

LANE, NUM_LANES = "lane", "num_lanes"
"""What the search's functions call to share a loop: search/lanes.py."""


def count_upwards(tree: ast.FunctionDef) -> None:
    """Rewrites the loops and indexes of a function in which that changes nothing."""
    _Indexes(_never_negative(tree)).visit(tree)
    _Loops().visit(tree)


def _never_negative(tree: ast.FunctionDef) -> set[str]:
    """The local names that only ever stand for numbers from 0 on."""
    given: dict[str, list[ast.expr | None]] = {}
    for name, value in _stores(tree):
        given.setdefault(name, []).append(value)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):  # of the function, or of one within it
            given.pop(node.arg, None)
    names = set(given)
    while True:  # until none is left that one which is not among them could make negative
        left = {name for name in names if all(_is_natural(v, names) for v in given[name])}
        if left == names:
            return names
        names = left


def _stores(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name that is given something, and what; None where that is not looked into."""
    explained = set()
    for node in ast.walk(tree):
        pairs: list[tuple[ast.expr, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _pairs(target, node.value)]
        elif isinstance(node, ast.AugAssign):
            here = ast.Name(node.target.id) if isinstance(node.target, ast.Name) else node.value
            pairs = [(node.target, ast.BinOp(here, node.op, node.value))]
        elif isinstance(node, ast.For) and (counted := _bounds(node)):
            pairs = [(node.target, counted[0])]
        for target, value in pairs:
            if isinstance(target, ast.Name):
                explained.add(id(target))
                yield target.id, value
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if id(node) not in explained:
                yield node.id, None


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr | None]]:
    """The names of an assignment, each with what it is given."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
        return []
    return [p for pair in zip(target.elts, value.elts, strict=True) for p in _pairs(*pair)]


def _bounds(loop: ast.For) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """Start, stop and step of a loop that counts upwards, if it is one."""
    call = loop.iter
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    if call.func.id != "range" or loop.orelse or not isinstance(loop.target, ast.Name):
        return None
    parts = [*call.args]
    if len(parts) == 1:
        parts.insert(0, ast.Constant(0))
    if len(parts) == 2:
        parts.append(ast.Constant(1))
    start, stop, step = parts
    is_constant = isinstance(step, ast.Constant) and isinstance(step.value, int) and step.value > 0
    return (start, stop, step) if is_constant or _calls(step, NUM_LANES) else None


def _calls(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_natural(node: ast.expr | None, names: set[str]) -> bool:
    """Whether the number is never below zero, if those of these names are not."""
    match node:
        case ast.Constant(value=int(value)):
            return value >= 0 and not isinstance(value, bool)
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(left, ast.Add() | ast.Mult() | ast.FloorDiv() | ast.RShift(), right):
            return _is_natural(left, names) and _is_natural(right, names)
        case ast.BinOp(left, ast.BitAnd(), right):
            return _is_natural(left, names) or _is_natural(right, names)
        case ast.BinOp(_, ast.Mod(), ast.Constant(value=int(value))):
            return value > 0
        case ast.IfExp(_, body, orelse):
            return _is_natural(body, names) and _is_natural(orelse, names)
        case ast.Call(func=ast.Name(id="len")):
            return True
    return node is not None and _calls(node, LANE)


class _Indexes(ast.NodeTransformer):
    """Has indexes that are never negative say so."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._told(index) for index in node.slice.elts]
        else:
            node.slice = self._told(node.slice)
        return node

    def _told(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Constant) or not _is_natural(index, self._names):
            return index
        return ast.copy_location(_call("_unsigned", index), index)


class _Loops(ast.NodeTransformer):
    """Puts `while` loops in place of those that count upwards."""

    def __init__(self) -> None:
        self._count = 0

    def visit_For(self, node: ast.For) -> ast.For | list[ast.stmt]:
        self.generic_visit(node)
        bounds = _bounds(node)
        if bounds is None:
            return node
        self._count += 1
        place, end, by = (f"_{what}_{self._count}" for what in ("place", "end", "by"))
        start, stop, step = bounds
        setup = [_assign(place, _call("_signed", start)), _assign(end, _call("_signed", stop))]
        if not isinstance(step, ast.Constant):
            setup.append(_assign(by, _call("_signed", step)))
            step = ast.Name(by, ast.Load())
        loop = ast.While(
            test=ast.Compare(ast.Name(place, ast.Load()), [ast.Lt()], [ast.Name(end, ast.Load())]),
            body=[
                ast.Assign([node.target], ast.Name(place, ast.Load())),
                _assign(place, ast.BinOp(ast.Name(place, ast.Load()), ast.Add(), step)),
                *node.body,
            ],
            orelse=[],
        )
        made = [*setup, loop]
        return [ast.copy_location(statement, node) for statement in made]


def _call(name: str, value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [value], [])


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)
