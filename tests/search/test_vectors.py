"""Numbers printed in texts about PUCT, as tests of the search's formulas."""

import math

import numpy as np
import pytest
from lottery import LOTTERY, offer

from plainzero import SearchConfig, search
from plainzero.search.kernels.formulas import (
    growing_c_puct,
    puct_log_score,
    puct_score,
    q_of,
    uct_score,
    visit_term,
)
from plainzero.search.kernels.options import (
    MAX_ONE,
    NODE,
    ONE_PLUS_SUM,
    PENDING_COUNT,
    PENDING_DRAW,
    PENDING_LOSS,
    SUM,
)
from plainzero.search.result import visits_to_policy

pytestmark = pytest.mark.slow

# ---- PUCT: weiqi.kids, c = 1.5 and N(s) = 1600 ---------------------------------------------------


@pytest.mark.parametrize(
    ("visits", "printed", "exact"),
    [
        (0, 6.00, 6),
        (1, 3.00, 3),
        (5, 1.00, 1),
        (10, 0.55, 6 / 11),
        (50, 0.12, 6 / 51),
        (100, 0.06, 6 / 101),
        (400, 0.015, 6 / 401),
    ],
)
def test_exploration_falls_with_visits(visits, printed, exact):
    explore = puct_score(0.0, 0.1, visits, visit_term(SUM, 1600, 1601, 0.5), 1.5)
    assert explore == pytest.approx(exact, rel=1e-12)
    assert explore == pytest.approx(printed, abs=0.005)


@pytest.mark.parametrize(
    ("prior", "explore"), [(0.30, 18.0), (0.10, 6.0), (0.03, 1.8), (0.01, 0.6), (0.001, 0.06)]
)
def test_exploration_is_proportional_to_the_prior(prior, explore):
    assert puct_score(0.0, prior, 0, math.sqrt(1600), 1.5) == pytest.approx(explore, rel=1e-12)


def test_puct_explores_more_than_ucb1_after_many_visits():
    assert uct_score(0.0, 10, math.log(1000), 1.0) == pytest.approx(0.8311, abs=5e-5)
    assert puct_score(0.0, 1.0, 10, math.sqrt(1000), 1.0) == pytest.approx(2.8748, abs=5e-5)


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
def test_c_puct_grows_with_visits(visits, from_1_5, from_1_25):
    assert growing_c_puct(1.5, 19652.0, visits) == pytest.approx(from_1_5, abs=5e-5)
    assert growing_c_puct(1.25, 19652.0, visits) == pytest.approx(from_1_25, abs=5e-5)


def test_c_puct_without_a_base_is_constant():
    assert growing_c_puct(1.5, 0.0, 10**6) == 1.5


def test_polynomial_and_logarithmic_forms():
    half_power = visit_term(SUM, 1600, 1601, 0.5)
    assert puct_score(0.0, 0.1, 10, half_power, 1.5) == pytest.approx(0.5455, abs=5e-5)
    log_visits = math.log(1 + 1600 + 19652)
    assert puct_log_score(0.0, 0.1, 10, log_visits, 1.5) == pytest.approx(0.1428, abs=5e-5)
    assert visit_term(SUM, 1600, 1601, 0.25) == pytest.approx(math.sqrt(40), rel=1e-12)


def test_four_forms_of_the_visit_term():
    terms = {ONE_PLUS_SUM: 17, SUM: 16, NODE: 25, MAX_ONE: 25}
    for form, count in terms.items():
        assert visit_term(form, 16, 25, 0.5) == math.sqrt(count)
    at_first = {ONE_PLUS_SUM: 1, SUM: 0, NODE: 0, MAX_ONE: 1}
    for form, count in at_first.items():
        assert visit_term(form, 0, 0, 0.5) == count


# ---- UCT and PUCT: ml_spacepower, lessons 2 and 5; N = 40 ----------------------------------------


@pytest.mark.parametrize(
    ("wins", "visits", "prior", "uct", "puct"),
    [(14, 20, 0.5, 1.306, 0.926), (6, 15, 0.2, 1.099, 0.519), (4, 5, 0.3, 2.011, 1.274)],
)
def test_three_children(wins, visits, prior, uct, puct):
    q = q_of(wins, visits, 0, PENDING_COUNT, math.nan)
    assert uct_score(q, visits, math.log(40), 1.41) == pytest.approx(uct, abs=5e-4)
    assert puct_score(q, prior, visits, math.sqrt(40), 1.5) == pytest.approx(puct, abs=5e-4)


def test_q_divides_by_visits_and_not_by_one_more():
    assert q_of(8.0, 10, 0, PENDING_COUNT, 0.0) == 0.8


@pytest.mark.parametrize(("q", "win_rate"), [(0.6, 0.80), (0.0, 0.50), (-0.3, 0.35)])
def test_q_is_twice_the_win_rate_minus_one(q, win_rate):
    wins, games = round(win_rate * 100), 100
    assert q_of(wins - (games - wins), games, 0, PENDING_COUNT, math.nan) == pytest.approx(q)


# ---- pending leaves: gomoku. Parent N = 10 with 2 pending, child n = 3 with 1 pending ------------


@pytest.mark.parametrize(
    ("mode", "form", "pending", "score"),
    [
        (PENDING_COUNT, MAX_ONE, 1, 1.05426),
        (PENDING_COUNT, MAX_ONE, 0, 1.13246),
        (PENDING_DRAW, ONE_PLUS_SUM, 1, 0.95189),
        (PENDING_LOSS, MAX_ONE, 1, 0.67926),
    ],
)
def test_pending_visits(mode, form, pending, score):
    value_sum, visits, parent_visits = 1.5, 3, 10 + 2 * pending
    q = q_of(value_sum, visits, pending, mode, math.nan)
    term = visit_term(form, parent_visits, parent_visits, 0.5)
    assert puct_score(q, 0.4, visits + pending, term, 2.0) == pytest.approx(score, abs=5e-6)


# ---- the satellite's priors: ml_spacepower, lesson 3 ---------------------------------------------

PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL, HOLD = MANOEUVRES = range(5)
PRIORS = {PROGRADE: 11, RETROGRADE: 1, RADIAL: 4, ANTI_RADIAL: 3, HOLD: 1}  # in twentieths
FIRST_TWENTY = "P P R P A P P R P P A P R P P P ret R A hold".split()
LETTERS = {PROGRADE: "P", RETROGRADE: "ret", RADIAL: "R", ANTI_RADIAL: "A", HOLD: "hold"}


def visits_after(simulations, priors, visit_term_form):
    logits = np.zeros((1, LOTTERY.num_actions), np.float32)
    logits[0, :5] = np.log([priors[action] for action in MANOEUVRES])

    def evaluator(observations):
        count = len(observations)
        return np.repeat(logits, count, axis=0), np.zeros(count, np.float32)

    state = offer(*[0.0] * 5)  # all manoeuvres are worth the same
    config = SearchConfig(simulations=simulations, c_puct_base=0.0, visit_term=visit_term_form)
    return search(LOTTERY, state, evaluator, config, seed=0).visits[:5].astype(int).tolist()


def test_first_twenty_selections_by_the_formula():
    # Integer priors make the ties of selections 16 to 20 exact, as in the text.
    visits = dict.fromkeys(PRIORS, 0)
    chosen = []
    for _ in range(20):
        scores = {a: puct_score(0.0, prior, visits[a], 1.0, 1.0) for a, prior in PRIORS.items()}
        action = max(scores, key=scores.__getitem__)
        visits[action] += 1
        chosen.append(LETTERS[action])
    assert chosen == FIRST_TWENTY


@pytest.mark.parametrize("form", ["one-plus-sum", "sum", "node", "max-one"])
def test_visits_follow_the_priors_if_all_results_are_equal(form):
    # Ties end at selection 15; the next five have equal scores, and float32 priors order them.
    before = [0] * 5
    for simulation, letter in enumerate(FIRST_TWENTY[:15], start=1):
        after = visits_after(simulation, PRIORS, form)
        added = [a for a in range(5) if after[a] > before[a]]
        assert [LETTERS[action] for action in added] == [letter]
        before = after
    assert visits_after(20, PRIORS, form) == [11, 1, 4, 3, 1]
    assert visits_after(200, PRIORS, form) == [110, 10, 40, 30, 10]


@pytest.mark.parametrize(
    ("form", "first"), [("sum", 0), ("node", 0), ("one-plus-sum", 4), ("max-one", 4)]
)
def test_bare_sum_of_visits_ignores_the_prior_in_the_first_simulation(form, first):
    prograde_last = dict(zip(range(5), [1, 4, 3, 1, 11], strict=True))
    assert np.flatnonzero(visits_after(1, prograde_last, form)).tolist() == [first]


# ---- temperature: ml_spacepower, lesson 3, with the table's numbers corrected --------------------


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
    visits = np.array([120, 15, 40, 20, 5])
    assert visits_to_policy(visits, temperature) == pytest.approx(policy, abs=5e-4)


def test_temperature_two_is_not_nearly_uniform():
    policy = visits_to_policy(np.array([120, 15, 40, 20, 5]), 2.0)
    entropy = -(policy * np.log(policy)).sum() / math.log(5)
    assert entropy == pytest.approx(0.916, abs=5e-4)
