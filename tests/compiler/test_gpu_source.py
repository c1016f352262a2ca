"""Loops and indexes for a GPU's compiler: the same results, and no index that could be negative."""

import ast
import dis
import textwrap

import numpy as np
import pytest
from numba import njit

from plainzero import make_game
from plainzero.compiler.gpu_source import gpu_version
from plainzero.compiler.unsigned_loops import count_upwards
from plainzero.games import bundled_games
from plainzero.games.contract import has_chance
from plainzero.games.rules import bound_rule, register
from plainzero.search.kernels.lanes import lane, num_lanes

SEEN = list(range(40, 52))


def ends_early(n, k):
    total = []
    for i in range(n):
        if i == k:
            continue
        if i > 2 * k:
            break
        total.append((i, SEEN[i]))
    return total


def in_two_ways(n, k):
    total = 0
    for row in range(1, n):
        for col in range(row, n, 2):
            place = row * 2 + col
            total += SEEN[place % 12] + SEEN[(row - col) % 12] - SEEN[row - k]
    return total


def changes_its_variable(n, k):
    total = []
    for i in range(n):
        i -= k
        total.append(SEEN[i])
    return total


def counts_down(n, k):
    return [SEEN[i] for i in range(n, -k, -1)] + [SEEN[-i] for i in range(k)]


def with_an_end(n, k):
    total = 0
    for i in range(n):
        total += SEEN[i]
        if i == k:
            break
    else:
        total = -total
    return total


def moves_its_bounds(n, k):
    total = 0
    for i in range(k, n):
        n -= 1
        k += 1
        total += SEEN[i] * n
    return total, n, k


def by_lanes(n, k):
    found = []
    for i in range(lane(), n, num_lanes()):
        found.append(SEEN[i] + k)
    return found


def pairs(n, k):
    low, high = 0, n + k
    first = second = 1
    while low < high:
        low, high = low + 1, high - 1
        first += low & 3
        second -= 1
    return SEEN[low], SEEN[first % 12], SEEN[second]


FUNCTIONS = [
    ends_early,
    in_two_ways,
    changes_its_variable,
    counts_down,
    with_an_end,
    moves_its_bounds,
    by_lanes,
    pairs,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_those_of_the_function(function):
    made = gpu_version(function)
    for n in range(7):
        for k in range(4):
            assert made(n, k) == function(n, k), (n, k)  # an index below 0 would be refused


def _plainzero_place_1(n):
    return n


def has_such_a_name(n, k):
    total = _plainzero_place_1(k)
    for i in range(n):
        total += i
    return total


def has_a_variable_of_such_a_name(n, k):
    _plainzero_span_1 = k
    for i in range(n):
        k += i
    return _plainzero_span_1


def has_another_range(n, range):
    return [i for i in range(n)]


def within_another(n):
    def inner():
        return [SEEN[i] for i in range(n)]

    return inner


@pytest.mark.parametrize(
    "function",
    [has_such_a_name, has_a_variable_of_such_a_name, has_another_range, within_another(3)],
)
def test_what_could_be_mistaken_is_left_alone(function):
    assert gpu_version(function) is function


def hashes(n, k):
    h = np.uint64(k)
    for i in range(np.uint64(n)):
        h = (h ^ i) * np.uint64(0x9E3779B97F4A7C15)
    return h


def adds_small_numbers(n, k):
    total = np.int32(k)
    for i in range(np.int32(n)):
        total += PAIRS[i % 3, 1] * i
    return total


def takes_an_item(n, k):
    which = 1
    for _ in range(n):
        k += MIXED[which] + MIXED[0 + 2]
    return k


def spreads_its_bounds(n, k):
    bounds = (1, n + 2)
    for i in range(*bounds):
        k += PAIRS[i % 3, 0]
    return k


def shares_a_loop(n, k):
    total = 0
    for i in range(lane(), n, num_lanes()):
        total += PAIRS[i % 3, 0] + PAIRS[i - n, 1]  # the latter counts from the end
    return total + k


PAIRS, MIXED = np.arange(6).reshape(3, 2), (0.5, 3, True)
COMPILED = [hashes, adds_small_numbers, takes_an_item, spreads_its_bounds, shares_a_loop]


@pytest.mark.parametrize("function", COMPILED)
def test_compiled_the_results_are_the_same_and_of_the_same_type(function):
    expected, found = njit(function), njit(gpu_version(function))
    for n in range(4):
        assert found(n, 5) == expected(n, 5)
        assert type(found(n, 5)) is type(expected(n, 5))


def test_loops_that_count_upwards_are_made_while_loops():
    def has_iterator(function):
        return "FOR_ITER" in {step.opname for step in dis.get_instructions(function)}

    assert has_iterator(ends_early) and not has_iterator(gpu_version(ends_early))
    assert has_iterator(gpu_version(with_an_end))


def indexes_said_to_count(source):
    tree = ast.parse(textwrap.dedent(source)).body[0]
    count_upwards(tree, {"lane", "num_lanes"})
    return {
        ast.unparse(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "unsigned" in ast.unparse(node.func)
    }


def test_indexes_that_cannot_be_negative_are_found():
    found = indexes_said_to_count("""
        def rule(state, actions):
            count = 0
            for row in range(3):
                for col in range(row, 3):
                    actions[count] = state[row, 3 * row + col + 1]
                    count += (state[col] >> row) & 1
            for edge in range(lane(), count, num_lanes()):
                actions[edge // 2] = state[edge if row else 5]
    """)
    assert found == {
        *("count", "row", "col", "3 * row + col + 1"),
        *("edge // 2", "edge if row else 5"),
    }


@pytest.mark.parametrize(
    "line",
    [
        "for i in range(state[0], 3): x = state[i]",
        "for i in range(3, 0, -1): x = state[i]",
        "for i in range(3): x = state[i - 1]",
        "for i in range(0, 9, k): x = state[i]",
        "for i in (1, 2): x = state[i]",
        "i = state[0]\n    x = state[i] + state[k] + state[-1] + state[0]",
        "i, j = state\n    x = state[i]",
        "i = 0\n    i = j = i - 1\n    x = state[i]",
        "for i in range(3): i = -i; x = state[i]",
        "k = 1\n    x = state[k % state[0]]",
        "is_first = True\n    x = state[is_first]",
        "i = 1\n    x = (lambda i: state[i])(-i)",
        "i = 0\n    x = state[i] + state[0 + 1]",
        "for i in range(*k): x = state[i]",
        "i = 0\n    match k:\n        case i: x = state[i + 1]",
    ],
)
def test_no_other_is(line):
    assert indexes_said_to_count(f"def rule(state, k):\n    {line}") == set()


@pytest.mark.parametrize("name", sorted(bundled_games()))
def test_rules_of_every_game_are_the_same(name):
    """Two random games by its own methods and by what a GPU's compiler gets, side by side."""
    game = make_game(name)
    rules = {rule: gpu_rule(game, rule) for rule in ("legal_actions", "play", "observe")}
    generator = np.random.default_rng(0)
    for _ in range(2):
        state, other = game.new_state(), game.new_state()
        while not state.is_over and state.turn < 60:
            if has_chance(game) and state.to_play == -1:
                action = game.chances(state)[0][0]
            else:
                legal = game.legal(state)
                actions = np.zeros(game.num_actions, np.int32)
                count = rules["legal_actions"](other, actions)
                assert actions[:count].tolist() == list(legal)
                planes = np.zeros(game.observation_shape, np.float32)
                rules["observe"](other, planes)
                assert np.array_equal(planes, game.observation(state))
                action = int(generator.choice(legal))
            game.apply(state, action)
            rules["play"](other, action)
            other.turn += 1
            assert all(np.array_equal(state[field], other[field]) for field in state.dtype.names)


def gpu_rule(game, name):
    """What a GPU's compiler gets of the rule and of those that it calls."""
    made = {}

    def remake(function):
        if function not in made:
            made[function] = after = gpu_version.__wrapped__(function)
            for key, value in after.__globals__.items():
                if hasattr(value, "syntax_tree"):
                    after.__globals__[key] = remake(value)
        return made[function]

    return remake(bound_rule(register(game), name))
