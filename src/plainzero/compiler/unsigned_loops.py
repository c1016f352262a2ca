"""Rewrites loops and indexes for NVIDIA's compiler: what counts upwards is never negative.

A negative index counts from the end in Python, so compiled code tests every index; and Numba counts
a `range` down beside its variable. The CPU's compiler sees through both; NVIDIA's does not:
Gomoku's list of empty points took 25 instructions per point instead of six. Here loops become
`while` loops, and indexes that cannot be negative become unsigned.
"""

import ast
from collections.abc import Iterator

import numpy as np

PREFIX = "_plainzero_"
"""Of names in the new code; functions that have such names themselves are not rewritten."""

_UNSIGNED = f"{PREFIX}unsigned"
NAMES = {_UNSIGNED: np.uint64}
"""The global names that the new code uses."""


def count_upwards(tree: ast.FunctionDef, natural: set[str]) -> None:
    """Rewrites the loops and indexes of a function whose meaning that does not change.

    Args:
        tree: the function.
        natural: the names of called functions whose results are never negative, nor zero if they
            are the step of a range.
    """
    _Indexes(_Numbers(tree, natural)).visit(tree)
    _Loops(natural).visit(tree)


class _Numbers:
    """What can be proven about a function's numbers."""

    def __init__(self, tree: ast.FunctionDef, natural: set[str]) -> None:
        self._natural = natural
        given: dict[str, list[ast.expr | None]] = {}
        for name, value in _stores(tree, natural):
            given.setdefault(name, []).append(value)
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):  # of the function, or of one within it
                given.pop(node.arg, None)
        self._names = set(given)
        while True:  # until no remaining name can become negative through another
            left = {n for n in self._names if all(self.is_natural(value) for value in given[n])}
            if left == self._names:
                break
            self._names = left
        # Numba infers the types of tuple items from constant indexes.
        self._constants = {n for n, values in given.items() if _is_constant(values)}

    def is_natural(self, node: ast.expr | None) -> bool:
        """Whether the number is never below zero."""
        match node:
            case ast.Constant(value=int(value)):
                return value >= 0 and not isinstance(value, bool)
            case ast.Name(id=name):
                return name in self._names
            case ast.BinOp(left, ast.Add() | ast.Mult() | ast.FloorDiv() | ast.RShift(), right):
                return self.is_natural(left) and self.is_natural(right)
            case ast.BinOp(left, ast.BitAnd(), right):
                return self.is_natural(left) or self.is_natural(right)
            case ast.BinOp(_, ast.Mod(), ast.Constant(value=int(value))):
                return value > 0
            case ast.IfExp(_, body, orelse):
                return self.is_natural(body) and self.is_natural(orelse)
            case ast.Call(func=ast.Name(id=name)):
                return name in self._natural
        return False

    def varies(self, node: ast.expr) -> bool:
        """Whether the number is not a constant."""
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return bool(names - self._constants)


def _is_constant(values: list[ast.expr | None]) -> bool:
    return len(values) == 1 and isinstance(values[0], ast.Constant)


def _stores(tree: ast.FunctionDef, natural: set[str]) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name that is assigned, with its value; None for a value that is not analysed."""
    explained = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name, None
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in assigned(target, node.value)]
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            pairs = [(node.target, ast.BinOp(node.target, node.op, node.value))]
        elif isinstance(node, ast.For) and (start := _start(node, natural)):
            following = ast.BinOp(start, ast.Add(), ast.Constant(1))
            pairs = [(node.target, start), (node.target, following)]
        for target, value in pairs:
            if isinstance(target, ast.Name):
                explained.add(id(target))
                yield target.id, value
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if id(node) not in explained:
                yield node.id, None


def assigned(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with their values; none if they cannot be matched."""
    if not isinstance(target, ast.Tuple):
        return [(target, value)]
    if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
        return []
    return [p for pair in zip(target.elts, value.elts, strict=True) for p in assigned(*pair)]


def _start(loop: ast.For, natural: set[str]) -> ast.expr | None:
    """The first number of a loop that counts upwards; None for other loops."""
    call = loop.iter
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    is_usual = call.func.id == "range" and isinstance(loop.target, ast.Name)
    if not is_usual or loop.orelse or any(isinstance(part, ast.Starred) for part in call.args):
        return None
    match call.args:
        case [_]:
            return ast.Constant(0)
        case [start, _]:
            return start
        case [start, _, ast.Constant(value=int(step))] if step > 0:
            return start
        case [start, _, ast.Call(func=ast.Name(id=name))] if name in natural:
            return start
    return None


class _Indexes(ast.NodeTransformer):
    """Makes indexes unsigned that are never negative."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._unsigned(index) for index in node.slice.elts]
        else:
            node.slice = self._unsigned(node.slice)
        return node

    def _unsigned(self, index: ast.expr) -> ast.expr:
        if not (self._numbers.is_natural(index) and self._numbers.varies(index)):
            return index
        return ast.copy_location(ast.Call(_load(_UNSIGNED), [index], []), index)


class _Loops(ast.NodeTransformer):
    """Replaces loops that count upwards by `while` loops.

    The range is still created: its ends have the type that Numba gives its numbers.
    """

    def __init__(self, natural: set[str]) -> None:
        self._natural, self._count = natural, 0

    def visit_For(self, node: ast.For) -> ast.For | list[ast.stmt]:
        self.generic_visit(node)
        if _start(node, self._natural) is None:
            return node
        self._count += 1
        span, place = (f"{PREFIX}{what}_{self._count}" for what in ("span", "place"))
        start, stop, step = (
            ast.Attribute(_load(span), end, ast.Load()) for end in ("start", "stop", "step")
        )
        loop = ast.While(
            test=ast.Compare(_load(place), [ast.Lt()], [stop]),
            body=[
                ast.Assign([node.target], _load(place)),
                _assign(place, ast.BinOp(_load(place), ast.Add(), step)),
                *node.body,
            ],
            orelse=[],
        )
        made = [_assign(span, node.iter), _assign(place, start), loop]
        return [ast.copy_location(statement, node) for statement in made]


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)
