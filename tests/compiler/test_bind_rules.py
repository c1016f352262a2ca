"""Methods as plain functions: the meaning of `self`, what is included, and what is refused."""

import inspect

import numba
import pytest
from boundable import Base, Derived, FailsToCompile, Faulty, factorial
from numba import njit
from numba.core.errors import TypingError

from plainzero.compiler.bind_rules import Binder, RuleError
from plainzero.compiler.cpu_kernels import kernel_function


def bound(instance, name):
    return Binder(instance, kernel_function, "tag", ["board"]).method(name)


def fault_line(function):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, text in enumerate(lines) if "# fault" in text)


@pytest.mark.parametrize(
    "name",
    [
        "constants",
        "lists",
        "arrays",
        "module_names",
        "other_file",
        "calls_jitted",
        "uses_math",
        "calls",
        "calls_static",
        "rule",
        "reads_a_field",
        "annotated",
    ],
)
@pytest.mark.parametrize("cls", [Base, Derived])
def test_bound_function_gives_what_the_method_gives(cls, name):
    instance = cls()
    function = bound(instance, name)
    expected = [getattr(instance, name)(x) for x in range(3)]
    assert [function(x) for x in range(3)] == expected
    assert [njit(function)(x) for x in range(3)] == expected


def test_subclass_overrides_rules_helpers_and_constants():
    assert bound(Base(), "rule")(1) == 2
    assert bound(Derived(), "rule")(1) == 40
    assert bound(Derived(), "constants")(0) == 4 + 16 + 5


def test_bound_function_keeps_name_file_and_lines():
    function = bound(Derived(), "rule")
    assert function.__qualname__ == "Derived.rule-tag"
    assert function.__code__.co_filename == Derived.rule.__code__.co_filename
    assert function.__code__.co_firstlineno == Derived.rule.__code__.co_firstlineno


def test_each_method_is_bound_once():
    binder = Binder(Base(), kernel_function, "tag")
    assert binder.method("rule") is binder.method("rule")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unknown", "uses self.colour, which Faulty does not have"),
        ("assigns", r"changes self.count; what changes during a game belongs in fields\(\)"),
        ("adds", r"changes self.count; what changes during a game belongs in fields\(\)"),
        ("passes_itself_on", "uses self itself; name the attribute you need"),
        ("uses_a_dict", "uses self.names, a dict; compiled rules know numbers"),
    ],
)
def test_what_self_cannot_mean_is_refused_with_file_and_line(name, message):
    line = fault_line(getattr(Faulty, name))
    with pytest.raises(RuleError, match=rf"Faulty.{name} \(boundable.py, line {line}\) {message}"):
        bound(Faulty(), name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("countdown", r"calls countdown\(\), which leads to itself; compiled rules cannot recurse"),
        ("searches", "uses a generator expression.*write the loop out"),
        ("generates", "uses yield"),
        ("appends", r"changes WEIGHTS, a list outside the state;.*in fields\(\)"),
        ("overwrites", r"changes TABLE, an array outside the state;.*in fields\(\)"),
        ("counts_in_the_class", r"changes self\.names, a dict outside the state"),
        ("looks_up", "uses NAMES, a dict; use a tuple or a NumPy array indexed by number"),
        ("declares", r"changes OFFSET; what changes during a game belongs in fields\(\)"),
        ("imports", "imports a module; import it at the top of the file"),
        ("prints", r"calls print\(\); take it out"),
        ("replaces", r"replaces the array state\.board; write into it: `state\.board\[:\] = …`"),
    ],
)
def test_what_cannot_compile_is_refused_with_file_line_and_remedy(name, message):
    line = fault_line(getattr(Faulty, name))
    with pytest.raises(RuleError, match=rf"Faulty.{name} \(boundable.py, line {line}\) {message}"):
        bound(Faulty(), name)


def test_two_rules_that_call_each_other_are_refused():
    line = fault_line(Faulty.pong)
    with pytest.raises(RuleError, match=rf"Faulty.pong \(boundable.py, line {line}\) calls ping"):
        bound(Faulty(), "ping")


def test_a_function_that_calls_itself_is_refused():
    line = inspect.getsourcelines(factorial)[1] + 1
    with pytest.raises(RuleError, match=rf"factorial \(boundable.py, line {line}\) calls factor"):
        bound(Faulty(), "calls_a_function_that_recurses")


def test_a_rule_that_calls_a_refused_one_is_refused_each_time():
    binder = Binder(Faulty(), kernel_function, "tag")
    for _ in range(2):
        with pytest.raises(RuleError, match="calls factorial"):
            binder.method("calls_a_function_that_recurses")


def test_local_list_may_have_the_name_of_a_global_one():
    assert bound(Faulty(), "local_list")(1) == 2


def test_lambda_is_refused():
    with pytest.raises(RuleError, match=r"boundable.py, line \d+\) is a lambda: write it with def"):
        bound(Faulty(), "short")


def test_unknown_method_is_refused():
    with pytest.raises(RuleError, match="Faulty has no method castle"):
        bound(Faulty(), "castle")


def test_attribute_is_no_method():
    with pytest.raises(RuleError, match=r"Base\.area is not a method"):
        bound(Base(), "area")


def test_method_without_source_is_refused():
    namespace = {}
    exec("class Typed:\n    def rule(self, x):\n        return x\n", namespace)
    with pytest.raises(RuleError, match=r"Typed\.rule has no source file.*keep the game in a .py"):
        bound(namespace["Typed"](), "rule")


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the compiler is switched off")
def test_compiler_names_the_line_of_the_method():
    line = fault_line(FailsToCompile.inner)
    with pytest.raises(TypingError, match=rf'boundable.py", line {line}'):
        njit(bound(FailsToCompile(), "outer"))(1)
