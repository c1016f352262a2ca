"""The formula view's answers: what holds for every request, and agreement with a real search."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lottery import LOTTERY, offer

from plainzero import SearchConfig, search
from plainzero.server.api.schemas.formula import Child, FormulaAnswer, FormulaRequest
from plainzero.server.searching.formula import answer_formula


def child(prior, visits=0, q=0.0):
    return Child(name="", prior=prior, visits=visits, q=q)


SHARES = st.floats(0, 1)
CHILDREN = st.builds(
    Child,
    name=st.just(""),
    prior=st.sampled_from([0.0, 1.0]) | SHARES,
    visits=st.integers(0, 3) | st.integers(0, 9_999_900),
    q=st.floats(-1, 1),
)
REQUESTS = st.builds(
    FormulaRequest,
    children=st.lists(CHILDREN, min_size=1, max_size=6),
    selection=st.sampled_from(["uct", "puct", "puct-log"]),
    c_uct=st.floats(0, 1000),
    c_puct=st.floats(0, 1000),
    c_puct_base=st.just(0.0) | st.floats(1e-3, 1e9),
    visit_term=st.sampled_from(["one-plus-sum", "sum", "node", "max-one"]),
    visit_exponent=st.just(0.5) | st.floats(0, 4),
    fpu=st.sampled_from(["auto", "zero", "parent", "reduction", "infinite"]),
    fpu_reduction=st.floats(0, 10),
    parent_value=st.floats(-1, 1),
    noise_weight=st.just(0.0) | SHARES,
    noise_alpha=st.just(0.0) | st.floats(0, 1000),
    seed=st.integers(0, 2**53 - 1),
    temperature=st.sampled_from([0.0, 1.0]) | st.floats(0, 100),
    selections=st.integers(0, 30),
    curve_visits=st.integers(1, 1_000_000),
)


def numbers_in(value):
    """Every number of a decoded message."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for part in value for number in numbers_in(part)]
    return [] if value is None else [value]


@given(REQUESTS)
def test_every_number_sent_is_finite(question):
    sent = answer_formula(question).model_dump_json()
    assert all(math.isfinite(number) for number in numbers_in(json.loads(sent)))
    assert FormulaAnswer.model_validate_json(sent) == answer_formula(question)


@given(REQUESTS)
def test_the_choice_has_the_largest_score(question):
    found = answer_formula(question)
    scores = [
        1e9 + (scored.u or 0.0) if scored.score is None else scored.score
        for scored in found.children
    ]
    assert scores[found.choice] >= max(scores) - 1e-12 * abs(max(scores))
    if question.selections:
        assert found.order[0] == found.choice


@given(REQUESTS)
def test_shares_sum_to_one(question):
    scored = answer_formula(question).children
    assert sum(one.policy for one in scored) == pytest.approx(1, abs=1e-9)
    assert sum(one.prior for one in scored) == pytest.approx(1, abs=3e-6)
    assert min(one.policy for one in scored) >= 0
    assert sum(one.noise for one in scored) == pytest.approx(1) or not any(
        one.noise for one in scored
    )


@given(REQUESTS)
def test_selections_are_counted_in_the_visits(question):
    found = answer_formula(question)
    assert len(found.order) == question.selections
    for index, given_child in enumerate(question.children):
        assert found.visits_after[index] == given_child.visits + found.order.count(index)


@given(REQUESTS)
def test_each_selection_is_the_choice_among_the_visits_so_far(question):
    # With first-play values that do not follow the parent's, each step can be asked by itself.
    fpu = question.fpu if question.fpu in ("zero", "infinite") else "auto"
    question = question.model_copy(update={"fpu": fpu, "selections": min(8, question.selections)})
    visits = [one.visits for one in question.children]
    for taken in answer_formula(question).order:
        children = [
            child(one.prior, n, one.q) for one, n in zip(question.children, visits, strict=True)
        ]
        now = question.model_copy(update={"children": children, "selections": 0})
        assert answer_formula(now).choice == taken
        visits[taken] += 1


@given(REQUESTS)
def test_a_curve_goes_through_the_childs_own_score(question):
    found = answer_formula(question)
    for given_child, scored, curve in zip(
        question.children, found.children, found.curves, strict=True
    ):
        assert len(curve.visits) == len(curve.scores) <= 61
        if given_child.visits in curve.visits:
            assert curve.scores[curve.visits.index(given_child.visits)] == scored.score


# ---- a real search at a root whose moves are worth constants -------------------------------------


WORTH = [0.25, 0.5, 0.75, -0.25, -0.5, -0.75]  # sums of these are exact
OPINION = np.log(np.array([[0.2, 0.3, 0.05, 0.1, 0.31, 0.04]], np.float32))


def opinion(observations):
    """A constant evaluator."""
    count = len(observations)
    return np.repeat(OPINION, count, axis=0), np.full(count, 0.5, np.float32)


OPTIONS = [
    {},
    {"c_puct": 0.5, "c_puct_base": 0.0},
    {"visit_term": "sum", "fpu": "parent"},
    {"visit_term": "node", "visit_exponent": 0.75},
    {"visit_term": "max-one", "fpu": "reduction", "fpu_reduction": 0.4},
    {"fpu": "infinite"},
    {"noise_weight": 0.25},
    {"noise_weight": 0.5, "noise_alpha": 0.3, "fpu": "reduction"},
    {"selection": "puct-log", "fpu": "parent"},
    {"selection": "uct"},
    {"selection": "uct", "c_uct": 0.3},
]


def searched(simulations, options):
    config = SearchConfig(
        **{"selection": "puct", **options, "simulations": simulations, "trace": True}
    )
    return search(LOTTERY, offer(*WORTH), opinion, config, seed=11)


def request_like(result, options, **more):
    """The question about the root of a finished search."""
    children = [child(float(result.prior[a]), int(result.visits[a]), WORTH[a]) for a in range(6)]
    return FormulaRequest(
        children=children, parent_value=float(result.value), seed=11, **options, **more
    )


@pytest.mark.parametrize("options", OPTIONS)
def test_selections_are_those_of_a_search(options):
    result = searched(120, options)
    root_moves = [simulation.actions[0] for simulation in result.trace]
    unsearched = [child(float(result.prior[a]), 0, WORTH[a]) for a in range(6)]
    question = FormulaRequest(
        children=unsearched, parent_value=0.5, seed=11, selections=120, **options
    )
    found = answer_formula(question)
    assert found.order == root_moves
    assert found.visits_after == result.visits.tolist()
    priors = [edge.prior for edge in result.tree.edges()]
    assert [scored.prior for scored in found.children] == priors
    assert found.children[0].noise > 0 or "noise_weight" not in options


@pytest.mark.parametrize("options", OPTIONS)
def test_selections_go_on_where_a_search_ended(options):
    root_moves = [simulation.actions[0] for simulation in searched(100, options).trace]
    for simulations in (1, 7, 40):
        result = searched(simulations, options)
        more = 100 - simulations
        found = answer_formula(request_like(result, options, selections=more))
        assert found.order == root_moves[simulations:]


def test_the_policy_is_that_of_a_search():
    result = searched(80, {})
    for temperature in (0.5, 1.0, 2.0):
        found = answer_formula(request_like(result, {}, temperature=temperature))
        policy = [scored.policy for scored in found.children]
        assert policy == pytest.approx(result.policy(temperature).tolist())


def test_defaults_are_those_of_a_search():
    defaults = {f.name: f.default for f in dataclasses.fields(SearchConfig)}
    names = set(FormulaRequest.model_fields) & set(defaults) - {"selection"}
    assert len(names) >= 9
    for name in names:
        assert FormulaRequest.model_fields[name].default == defaults[name], name
