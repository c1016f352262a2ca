"""The formula view's numbers: those that texts print, and what is null on the wire."""

import json
import math

import pytest
from pydantic import ValidationError

from plainzero.server.api.schemas.formula import Child, FormulaRequest
from plainzero.server.searching.formula import answer_formula

SINGLE = {"rel": 2e-7, "abs": 1e-9}  # priors are kept as float32


def child(prior, visits=0, q=0.0, name=""):
    return Child(name=name, prior=prior, visits=visits, q=q)


def answer(children, **options):
    return answer_formula(FormulaRequest(children=children, **options))


# ---- PUCT with c = 1.5 and N = 1600, as printed in a well-known explanation ----------------------


def exploration_of(prior, visits, **options):
    """U of a child, where another one has the rest of 1600 visits."""
    options = {"c_puct": 1.5, "c_puct_base": 0, "visit_term": "sum", **options}
    found = answer([child(prior, visits), child(1 - prior, 1600 - visits)], **options)
    assert found.children[0].score == found.children[0].u
    return found.children[0].u


@pytest.mark.parametrize(
    ("visits", "exact"),
    [
        (0, 6),
        (1, 3),
        (5, 1),
        (10, 0.545454545),
        (50, 0.117647059),
        (100, 0.0594059406),
        (400, 0.0149625935),
    ],
)
def test_exploration_falls_with_visits(visits, exact):
    assert exploration_of(0.1, visits) == pytest.approx(exact, **SINGLE)


@pytest.mark.parametrize(
    ("prior", "exact"), [(0.30, 18.0), (0.10, 6.0), (0.03, 1.8), (0.01, 0.6), (0.001, 0.06)]
)
def test_exploration_is_proportional_to_the_prior(prior, exact):
    assert exploration_of(prior, 0) == pytest.approx(exact, **SINGLE)


def test_a_curve_keeps_everything_but_the_childs_own_visits():
    # At 100 visits of the child, and still 1600 in total, the curve shows the same numbers.
    children = [child(0.1, 100), child(0.9, 1500)]
    options = {"c_puct": 1.5, "c_puct_base": 0, "visit_term": "sum", "curve_visits": 400}
    curve = answer(children, **options).curves[0]
    table = dict(zip(curve.visits, curve.scores, strict=True))
    for visits, exact in [(0, 6), (1, 3), (5, 1), (10, 0.545454545), (400, 0.0149625935)]:
        assert table[visits] == pytest.approx(exact, **SINGLE)


def test_polynomial_and_logarithmic_forms():
    assert exploration_of(0.1, 10, visit_exponent=0.5) == pytest.approx(0.5455, abs=5e-5)
    assert exploration_of(0.1, 10, visit_exponent=0.25) == pytest.approx(0.0862439, abs=5e-7)
    logarithmic = {"selection": "puct-log", "c_puct_base": 19652}
    assert exploration_of(0.1, 10, **logarithmic) == pytest.approx(0.1428, abs=5e-5)


def test_puct_explores_more_than_ucb1_where_there_are_many_visits():
    children = [child(1, 10), child(0, 990)]
    puct = answer(children, c_puct=1, c_puct_base=0, visit_term="sum")
    uct = answer(children, selection="uct", c_uct=1)
    assert uct.children[0].u == pytest.approx(0.8311, abs=5e-5)
    assert puct.children[0].u == pytest.approx(2.8748, abs=5e-5)


@pytest.mark.parametrize(
    ("visits", "from_1_5", "from_1_25"),
    [
        (0, 1.5001, 1.2501),
        (800, 1.5400, 1.2900),
        (1600, 1.5783, 1.3283),
        (19652, 2.1932, 1.9432),
        (100_000, 3.3064, 3.0564),
    ],
)
def test_c_grows_with_visits(visits, from_1_5, from_1_25):
    assert answer([child(1, visits)], c_puct=1.5).c == pytest.approx(from_1_5, abs=5e-5)
    assert answer([child(1, visits)], c_puct=1.25).c == pytest.approx(from_1_25, abs=5e-5)
    assert answer([child(1, visits)], c_puct=1.5, c_puct_base=0).c == 1.5


@pytest.mark.parametrize(
    ("form", "at_first", "later"),
    [("one-plus-sum", 1, 17), ("sum", 0, 16), ("node", 0, 16), ("max-one", 1, 16)],
)
def test_the_forms_of_the_root_count_as_they_do_at_a_searchs_root(form, at_first, later):
    assert answer([child(1)], visit_term=form).term == math.sqrt(at_first)
    assert answer([child(1, 16)], visit_term=form).term == math.sqrt(later)


@pytest.mark.parametrize(
    ("wins", "visits", "prior", "uct", "puct"),
    [(14, 20, 0.5, 1.306, 0.926), (6, 15, 0.2, 1.099, 0.519), (4, 5, 0.3, 2.011, 1.274)],
)
def test_three_children_of_two_lessons(wins, visits, prior, uct, puct):
    children = [child(prior, visits, wins / visits), child(1 - prior, 40 - visits)]
    by_uct = answer(children, selection="uct", c_uct=1.41).children[0].score
    by_puct = answer(children, c_puct=1.5, c_puct_base=0, visit_term="sum").children[0].score
    assert by_uct == pytest.approx(uct, abs=5e-4)
    assert by_puct == pytest.approx(puct, abs=5e-4)


# ---- five manoeuvres of a satellite, all worth the same ------------------------------------------

PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL, HOLD = range(5)
MANOEUVRES = [child(prior) for prior in (0.55, 0.05, 0.20, 0.15, 0.05)]
FIRST_FIFTEEN = [0, 0, 2, 0, 3, 0, 0, 2, 0, 0, 3, 0, 2, 0, 0]
FORMS = ["one-plus-sum", "sum", "node", "max-one"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [{}, {"c_puct": 1.5, "c_puct_base": 0}])
def test_selections_follow_the_priors_where_all_values_are_equal(form, options):
    found = answer(MANOEUVRES, visit_term=form, selections=20, **options)
    assert found.order[:15] == FIRST_FIFTEEN
    # Then all five are equal by the formula, and each comes once: float32 priors order them.
    tied = [child(c.prior, found.order[:15].count(i)) for i, c in enumerate(MANOEUVRES)]
    scores = [c.score for c in answer(tied, visit_term=form, **options).children]
    assert scores == pytest.approx([scores[0]] * 5, rel=1e-7)
    assert sorted(found.order[15:]) == [PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL, HOLD]
    assert found.visits_after == [11, 1, 4, 3, 1]
    later = answer(MANOEUVRES, visit_term=form, selections=200, **options)
    assert later.visits_after == [110, 10, 40, 30, 10]


@pytest.mark.parametrize(
    ("form", "first"), [("sum", 0), ("node", 0), ("one-plus-sum", 4), ("max-one", 4)]
)
def test_bare_sum_of_visits_ignores_the_prior_in_the_first_selection(form, first):
    prograde_last = [*MANOEUVRES[1:], MANOEUVRES[0]]
    found = answer(prograde_last, visit_term=form, selections=1)
    assert found.order == [first] == [found.choice]


# ---- temperature ---------------------------------------------------------------------------------


def policy_of(visits, temperature):
    found = answer([child(0.2, n) for n in visits], temperature=temperature)
    return [scored.policy for scored in found.children]


@pytest.mark.parametrize(
    ("temperature", "policy"),
    [
        (0, [1, 0, 0, 0, 0]),
        (0.25, [0.987, 0.000, 0.012, 0.001, 0.000]),
        (0.5, [0.865, 0.014, 0.096, 0.024, 0.002]),
        (1, [0.600, 0.075, 0.200, 0.100, 0.025]),
        (2, [0.393, 0.139, 0.227, 0.161, 0.080]),
    ],
)
def test_temperature_table(temperature, policy):
    assert policy_of([120, 15, 40, 20, 5], temperature) == pytest.approx(policy, abs=5e-4)


def test_temperature_two_is_not_nearly_uniform():
    policy = policy_of([120, 15, 40, 20, 5], 2)
    entropy = -sum(share * math.log(share) for share in policy) / math.log(5)
    assert entropy == pytest.approx(0.916, abs=5e-4)


# ---- priors, first-play urgency, noise, and what is infinite -------------------------------------


def test_priors_are_normalised_and_equal_where_all_are_zero():
    priors = [scored.prior for scored in answer([child(0.3), child(0.9)]).children]
    assert priors == pytest.approx([0.25, 0.75])
    priors = [scored.prior for scored in answer([child(0)] * 4).children]
    assert priors == [0.25] * 4


@pytest.mark.parametrize(
    ("fpu", "q"), [("auto", 0.0), ("zero", 0.0), ("parent", 0.3), ("reduction", 0.3 - 0.5 * 0.8)]
)
def test_a_child_without_visits_has_the_first_play_value(fpu, q):
    children = [child(0.36, 0, 0.9), child(0.64, 5, 0.7)]
    found = answer(children, fpu=fpu, fpu_reduction=0.5, parent_value=0.3)
    assert [scored.q for scored in found.children] == pytest.approx([q, 0.7], abs=1e-7)


def test_infinite_first_play_values_are_sent_as_null():
    children = [child(0.1), child(0.3), child(0.6, 50, 1.0)]
    found = answer(children, fpu="infinite", selections=2)
    assert [scored.q for scored in found.children] == [None, None, 1.0]
    assert [scored.score is None for scored in found.children] == [True, True, False]
    assert found.children[1].u > found.children[0].u > 0
    assert [found.choice, *found.order] == [1, 1, 0]  # by U among the infinite
    assert found.curves[2].scores[0] is None
    assert found.curves[2].scores[1] > 1.0


def test_uct_tries_every_child_once_and_sends_null_for_its_infinite_term():
    children = [child(0.8, 0, -1.0), child(0.1, 3, 1.0), child(0.1, 0, 0.0)]
    found = answer(children, selection="uct", selections=3)
    assert [scored.u is None for scored in found.children] == [True, False, True]
    assert [scored.score is None for scored in found.children] == [True, False, True]
    assert [scored.q for scored in found.children] == [0.0, 1.0, 0.0]
    assert found.term == math.log(3)
    assert found.order == [0, 2, 1]
    sent = json.loads(found.model_dump_json())
    assert sent["children"][0]["score"] is None
    assert sent["curves"][0]["scores"][0] is None


def test_noise_is_mixed_into_the_priors_and_comes_from_the_seed():
    found = answer(MANOEUVRES, noise_weight=0.25, noise_alpha=0.3, seed=5)
    assert sum(scored.noise for scored in found.children) == pytest.approx(1)
    for given_child, scored in zip(MANOEUVRES, found.children, strict=True):
        assert scored.prior == pytest.approx(0.75 * given_child.prior + 0.25 * scored.noise)
    assert found == answer(MANOEUVRES, noise_weight=0.25, noise_alpha=0.3, seed=5)
    assert found != answer(MANOEUVRES, noise_weight=0.25, noise_alpha=0.3, seed=6)
    without = answer(MANOEUVRES, noise_alpha=0.3, seed=5)
    assert [scored.noise for scored in without.children] == [0.0] * 5


def test_alpha_zero_means_ten_by_the_number_of_children():
    by_rule = answer(MANOEUVRES, noise_weight=0.5, seed=3)
    assert by_rule == answer(MANOEUVRES, noise_weight=0.5, noise_alpha=2.0, seed=3)
    assert by_rule != answer(MANOEUVRES, noise_weight=0.5, noise_alpha=1.0, seed=3)


def test_visits_of_many_children_count_beyond_32_bits():
    found = answer([child(0, 10_000_000, 0.5)] * 300, visit_exponent=1, selections=1)
    assert found.term == 3_000_000_001
    assert found.visits_after[found.choice] == 10_000_001


@pytest.mark.parametrize(("last", "count"), [(1, 2), (10, 11), (59, 60), (100, 60), (10**6, 60)])
def test_curves_have_about_sixty_points_from_zero_to_the_last(last, count):
    visits = answer([child(1)], curve_visits=last).curves[0].visits
    assert visits[0] == 0
    assert visits[-1] == last
    assert len(visits) == count
    assert visits == sorted(set(visits))


def test_a_base_too_small_for_its_logarithm_is_refused():
    with pytest.raises(ValidationError, match="use 0 for a constant c, or at least 0"):
        FormulaRequest(children=[child(1)], c_puct_base=1e-320)


def test_selections_one_by_one_are_the_same_as_all_at_once():
    children = [child(0.6, 3, -0.4), child(0.3, 0, 0.5), child(0.1, 0, 0.1)]
    options = {"fpu": "parent", "parent_value": 0.2}
    together = answer(children, selections=12, **options)
    order, value = [], 0.2
    for _ in range(12):
        step = answer(children, selections=1, **{**options, "parent_value": value})
        order += step.order
        value = step.parent_value_after
        children = [
            given.model_copy(update={"visits": visits})
            for given, visits in zip(children, step.visits_after, strict=True)
        ]
    assert order == together.order
    assert value == pytest.approx(together.parent_value_after, abs=1e-12)
    assert value == pytest.approx(
        (0.2 * 4 + sum(children[index].q for index in order)) / (4 + 12), abs=1e-12
    )
