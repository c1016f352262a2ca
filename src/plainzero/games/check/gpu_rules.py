"""What keeps rules that run on the CPU from running on a GPU.

A GPU's threads allocate no memory, so nothing that Python or NumPy would make on the heap compiles
there. If NVIDIA's compiler is installed, it decides, and the source is searched for a better
explanation than the compiler's. Otherwise what is found in the source decides, which is a guess:
compilers remove some of these constructs, and refuse others.
"""

import ast
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plainzero.compiler.bind_rules import parse
from plainzero.compiler.code_names import outer_names
from plainzero.compiler.gpu_ptx import GpuCompileError, function_to_ptx, missing_compiler
from plainzero.games import rules
from plainzero.games.check.compile_errors import argument_types, explain
from plainzero.games.check.problems import Problems
from plainzero.games.contract import Game

_CONTAINERS = {
    ast.List: "builds a list",
    ast.ListComp: "builds a list",
    ast.Dict: "builds a dict",
    ast.DictComp: "builds a dict",
    ast.Set: "builds a set",
    ast.SetComp: "builds a set",
}
_CONTAINER_REMEDY = "use a field of fixed size, or a tuple"
_MAKERS = ("list", "dict", "set", "sorted", "str", "repr")
_LOOP = "write the loop; compiled, it is as fast"
_MOST_LINES = 5


class _Fault(NamedTuple):
    place: str
    line: int
    what: str


def check_gpu(problems: Problems) -> None:
    """The rules use nothing that a GPU cannot run; otherwise the game runs on the CPU only."""
    game = problems.game
    if not game.runs_on_gpu:
        return
    what = _find_in_source(game) if missing_compiler() else _find_by_compiling(game)
    if what:
        problems.add("gpu", f"the rules run on the CPU and not on a GPU: {what}", "cpu only")


def _find_by_compiling(game: Game) -> str:
    """The first rule that NVIDIA's compiler refuses, why, and what to write instead."""
    tag = rules.register(game)
    for rule, arguments in argument_types(game).items():
        try:
            function_to_ptx(rules.bound_rule(tag, rule), arguments)
        except GpuCompileError as error:
            return _find_in_source(game, [rule]) or (
                f"{rule} does not compile there {explain(game, rule, error)}"
            )
    return ""


def _find_in_source(game: Game, names: Sequence[str] = ()) -> str:
    """The first line of the named rules, or of all, that a GPU is unlikely to run."""
    functions = rules.rule_sources(game, names or rules.rule_names(game))
    faults = [fault for function in functions for fault in _faults(game, function)]
    if not faults:
        return ""
    first, *others = sorted(set(faults))
    more = sorted({fault.line for fault in others if fault.place == first.place} - {first.line})
    also = f"; so do lines {', '.join(map(str, more[:_MOST_LINES]))}" if more else ""
    return f"{first.what} ({first.place}, line {first.line}){also}"


def _faults(game: Game, function: Any) -> Iterator[_Fault]:
    """Each line of a rule, or of a function that it calls, that a GPU cannot run."""
    place = Path(function.__code__.co_filename).name
    tree = parse(function)
    shapes = _array_dimensions(game, tree)
    texts = _idle_texts(tree)
    for node in ast.walk(tree):
        what = (
            _container(node)
            or _text_or_error(node, texts)
            or _numpy_call(node, outer_names(function))
            or _array_temporary(node, shapes)
        )
        if what:
            name = function.__qualname__.rpartition(".")[2]
            yield _Fault(place, getattr(node, "lineno", 0), f"{name} {what}")


def _container(node: ast.AST) -> str:
    made = _CONTAINERS.get(type(node), "")
    if made and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return f"{made}; {_CONTAINER_REMEDY}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
        return f"calls {node.func.id}(); {_CONTAINER_REMEDY}"
    return ""


def _text_or_error(node: ast.AST, idle: set[ast.AST]) -> str:
    if isinstance(node, ast.Raise | ast.Try):
        return (
            "raises or catches an error, which a GPU cannot report; leave it out, since only legal "
            "actions are played"
        )
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if (is_text or isinstance(node, ast.JoinedStr)) and node not in idle:
        return (
            "uses a string; compare a number instead, such as a property that tells strings apart"
        )
    return ""


def _idle_texts(tree: ast.AST) -> set[ast.AST]:
    """Texts that no code looks at: docstrings, and what a `raise` or `assert` says."""
    idle: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            idle.add(node.value)
        elif isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
            idle |= {inner for inner in ast.walk(node) if inner is not node}
    return idle


def _numpy_call(node: ast.AST, outer: dict[str, Any]) -> str:
    """What is wrong with `np.zeros(9)` or `np.sqrt(x)`; types such as np.int8 may be called."""
    if not (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    ):
        return ""
    module = outer.get(node.func.value.id)
    called = getattr(module, node.func.attr, None)
    if not (isinstance(module, types.ModuleType) and module.__name__.startswith("numpy")):
        return ""
    if isinstance(called, type) and issubclass(called, np.generic):
        return ""
    return f"calls {ast.unparse(node.func)}; for one number use math, for an array {_LOOP}"


def _array_dimensions(game: Game, tree: ast.AST) -> dict[str, int]:
    """The dimensions of each array that the function names: `.board` for a field, or `planes`."""
    shapes = {f".{name}": len(field.shape) for name, field in game.fields().items()}
    shapes |= {".returns": 1, "planes": len(game.observation_shape)}
    shapes |= {"actions": 1, "probabilities": 1}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            shapes[node.targets[0].id] = _dimensions(node.value, shapes)
    return shapes


def _dimensions(node: ast.AST, shapes: dict[str, int]) -> int:
    """The dimensions of an expression that is an array or a part of one; 0 for a number."""
    if isinstance(node, ast.Name):
        return shapes.get(node.id, 0)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return shapes.get(f".{node.attr}", 0) if node.value.id != "self" else 0
    if isinstance(node, ast.Subscript):
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        numbers = sum(not isinstance(part, ast.Slice) for part in index)
        return max(0, _dimensions(node.value, shapes) - numbers)
    return 0


def _array_temporary(node: ast.AST, shapes: dict[str, int]) -> str:
    """What is wrong with `state.board == 1` or `state.board.sum()`: both make a new array."""
    operands: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        operands = [node.operand]
    elif isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        operands = [node.func.value]
    array = next((one for one in operands if _dimensions(one, shapes) > 0), None)
    if array is None:
        return ""
    return f"computes with the whole array {ast.unparse(array)}; {_LOOP}"
