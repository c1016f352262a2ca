"""Digests of sources: what compiled code depends on changes them."""

import functools
from typing import NamedTuple

import numpy as np
import pytest

from plainzero.compiler.code_names import all_names, outer_names
from plainzero.compiler.source_digest import combine, dependencies, object_dependencies
from plainzero.compiler.source_digest import source_digest as digest
from plainzero.opponents.alpha_beta_kernels import search_tree
from plainzero.opponents.alpha_beta_stack import TreeWork
from plainzero.search import cpu
from plainzero.search.kernels.cached_leaves import CachedRound, Evaluations

FIELDS = [("actions", int), ("killers", int)]


def record(fields, name="Work"):
    return NamedTuple(name, fields)


def kernel_taking(annotation):
    """A function whose code does not name its argument's class."""

    def kernel(work: annotation):
        return work.actions

    return kernel


def kernel_taking_a_forward_reference(cls):
    namespace = {"Work": cls}
    exec("def kernel(work: 'Work'):\n    return work.actions", namespace)
    return namespace["kernel"]


@pytest.mark.parametrize(
    "kernel",
    [
        kernel_taking,
        kernel_taking_a_forward_reference,
        lambda cls: kernel_taking(cls | None),
        lambda cls: kernel_taking(record([("inner", cls)], "Outer")),
        lambda cls: kernel_taking(type("Derived", (record([("inner", cls)]),), {})),
    ],
    ids=["itself", "forward reference", "union", "field of another", "field of its base"],
)
def test_the_order_of_an_arguments_fields_counts(kernel):
    same, swapped = record(FIELDS), record(FIELDS[::-1])
    assert digest(kernel(record(FIELDS))) == digest(kernel(same))
    assert digest(kernel(same)) != digest(kernel(swapped))


@pytest.mark.parametrize(
    ("kernel", "cls"),
    [
        (search_tree, TreeWork),
        (cpu.recall_games, CachedRound),
        (cpu.recall_games, Evaluations),  # a field of CachedRound
    ],
)
def test_a_kernels_digest_has_the_fields_of_its_arguments(kernel, cls):
    constants = [constants for _, constants in dependencies(*kernel.sources, target="cpu")]
    assert any(str(cls._fields) in text for text in constants)


def score(board):
    return sum(board)


def total(board):
    return sum(board)


def uses_total(state):
    score = state.score
    return [total(row) + score for row in state.board]


def test_a_field_is_not_the_function_of_its_name():
    assert outer_names(uses_total) == {"total": total}
    assert {"total", "score", "board"} <= all_names(uses_total)


class Tabled:
    """Its table is in a file that no source names."""

    path = ""

    @functools.cached_property
    def table(self):
        return np.fromfile(self.path, np.int8)


def test_the_value_of_a_cached_property_counts(tmp_path):
    def digest_with(table):
        (tmp_path / "table").write_bytes(bytes(table))
        instance = Tabled()
        vars(instance)["path"] = tmp_path / "table"
        return combine(object_dependencies(instance))

    assert digest_with([1, 2, 3]) == digest_with([1, 2, 3])
    assert digest_with([1, 2, 3]) != digest_with([1, 2, 4])


@pytest.mark.parametrize("kind", [property, functools.cached_property])
def test_the_source_of_a_property_counts_whatever_its_value(kind):
    def instance(number):
        def helper():
            return number

        return type("WithTable", (), {"table": kind(lambda self: {"a": helper()})})()

    assert combine(object_dependencies(instance(1))) == combine(object_dependencies(instance(1)))
    assert combine(object_dependencies(instance(1))) != combine(object_dependencies(instance(2)))


class Fails:
    @functools.cached_property
    def table(self):
        raise FileNotFoundError


def test_a_cached_property_without_a_value_is_no_error():
    assert combine(object_dependencies(Fails()))
