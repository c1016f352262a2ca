"""Functions specialised for their options: the same results, and less code."""

import itertools
import math
from typing import NamedTuple

import pytest

from plainzero.compiler.gpu_source import gpu_version

OFF, SOME, ALL = range(3)


class Options(NamedTuple):
    way: int = OFF
    is_strict: bool = False
    weight: float = 0.0
    count: int = 1


def unwanted(x):
    raise AssertionError(x)


def branches(options, x, by=1):
    if options.way == OFF:
        return x
    elif options.way == SOME and not options.is_strict:
        x += by
    else:
        x -= by
    if options.weight > 0.0:
        x *= options.weight
    return x


def loops(options, x):
    total = 0
    for step in range(x):
        if options.is_strict:
            continue
        total += step if options.way != ALL else 2 * step
    while total > 5 and (options.is_strict or options.count > 1):
        total -= options.count
    return total


def in_locals(options, x):
    is_strict, way, twice = options.is_strict, options.way, options.count
    twice += x  # given more than once, so not known
    if is_strict and x > 3:
        return -twice
    return twice if way == SOME else x


def operators(options, x):
    return (options.is_strict and x > 1) or (not options.is_strict and options.way <= SOME and x)


def of_another(options, x):
    way = Options(way=SOME)
    return way.way + x if math.isfinite(x) else options.way


def spreads(options, x):
    first, *others, last = 1, x, options.count, options.way
    return others if last == SOME else first


def rebound(options, x):
    if x > 2:
        options = Options(way=ALL, is_strict=True, weight=0.5, count=4)
    return options.way + options.count * x if options.is_strict else x


def rebound_in_a_loop(options, x):
    total = 0
    given = options
    for options in (given, Options(way=SOME, count=7)):
        total += options.way * options.count + x
    return total


def rebound_inside(options, x):
    way = options.way
    ways = [other.way + x for other in map(lambda options: options, (Options(way=ALL),))]
    return ways if way == SOME else sorted([3, x, 5], key=lambda way: way == SOME)


REBINDING = [rebound, rebound_in_a_loop, rebound_inside]  # no option may be folded
FUNCTIONS = [*REBINDING, branches, loops, in_locals, operators, of_another, spreads]
VALUES = itertools.product((OFF, SOME, ALL), (False, True), (0.0, 0.5), (1, 3))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("options", [Options(*values) for values in VALUES])
def test_results_are_those_of_the_function(function, options):
    everything = gpu_version(function, 0, tuple(options._asdict().items()))
    something = gpu_version(function, 0, (("way", options.way), ("is_strict", options.is_strict)))
    for x in range(7):
        given = options if function in REBINDING else None
        assert everything(given, x) == something(options, x) == function(options, x)


def test_what_is_not_reached_is_gone():
    def names(*known):
        return set(gpu_version(calling, 0, known).__code__.co_names)

    assert "unwanted" in names(("way", SOME), ("is_strict", False))
    assert "unwanted" in names(("way", OFF), ("is_strict", True))
    assert names(("way", OFF), ("is_strict", False)) == {"weight"}


def calling(options, x):
    if options.way != OFF:
        unwanted(x)
    if not options.is_strict:
        return x * options.weight
    return unwanted(x)


def test_it_keeps_its_name_its_lines_and_its_defaults():
    specialised = gpu_version(branches, 0, (("way", SOME), ("is_strict", False)))
    assert specialised(Options(weight=2.0), 1) == 4.0 and specialised(Options(), 1, 5) == 6
    assert (specialised.__name__, specialised.__module__) == (
        branches.__name__,
        branches.__module__,
    )
    assert specialised.__code__.co_filename == branches.__code__.co_filename
    lines = {line for _, _, line in specialised.__code__.co_lines() if line}
    assert lines <= {line for _, _, line in branches.__code__.co_lines() if line}


def test_what_stands_within_another_function_is_left_alone():
    def within(options, x):
        return x + options.way + len(FUNCTIONS) + other

    other = 1
    assert gpu_version(within, 0, (("way", 1),)) is within
