"""The Formula view shows the results of the search's own functions."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from plainzero.search.kernels.formulas import puct_score, visit_term
from plainzero.search.kernels.options import ONE_PLUS_SUM
from plainzero.search.result import visits_to_policy
from plainzero.server.api.schemas.formula import Child, FormulaRequest
from plainzero.server.searching.formula import answer_formula

MANOEUVRES = ["prograde", "retrograde", "radial", "anti-radial", "hold"]
PRIORS = [0.55, 0.05, 0.20, 0.15, 0.05]


def three_digits(value):
    return f"{value:.3f}".replace("-", "−")


def percent(share):
    """A share as the page formats it."""
    digits = 1 if 0 < share < 0.0995 else 0
    return f"{share * 100:.{digits}f} %"


def scores(page):
    return page.get_by_role("list", name="Scores").get_by_test_id("score")


def test_the_c_puct_slider_updates_every_score(page):
    page.goto("#/formula?children=calm*0.7*12*0.25,bold*0.3*3*-0.5")
    slider = page.get_by_role("slider", name="c_puct")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "1.55")
    term = visit_term(ONE_PLUS_SUM, 15, 15, 0.5)
    expected = [
        puct_score(0.25, float(np.float32(0.7)), 12, term, 1.55),
        puct_score(-0.5, float(np.float32(0.3)), 3, term, 1.55),
    ]
    expect(scores(page)).to_have_text([three_digits(score) for score in expected])
    numbers = page.get_by_test_id("numbers")
    expect(numbers).to_contain_text(f"= {three_digits(max(expected))}")
    expect(page.locator("[data-part=c]")).to_have_class(re.compile(r"\blit\b"))
    expect(page).to_have_url(re.compile("c_puct=1.55"))


def test_twenty_selections_follow_the_priors_and_can_be_undone(page):
    page.goto("#/formula")
    visits = page.get_by_test_id("visits")
    expect(visits).to_have_text("0 / 0 / 0 / 0 / 0")
    ten = page.get_by_role("button", name="10 selections")
    ten.click()
    expect(page.get_by_text("10 of them selected here")).to_be_visible()
    ten.click()
    expect(visits).to_have_text("11 / 1 / 4 / 3 / 1")
    children = [Child(name="", prior=prior, visits=0, q=0) for prior in PRIORS]
    order = answer_formula(FormulaRequest(children=children, selections=20, c_puct_base=0)).order
    named = ", ".join(MANOEUVRES[index] for index in order)
    expect(page.get_by_role("img", name="Selections in order")).to_have_accessible_name(
        f"Selections in order: {named}"
    )
    expect(page).to_have_url(re.compile(r"order=\w{20}"))  # written a moment later
    page.reload()  # the address contains everything
    expect(visits).to_have_text("11 / 1 / 4 / 3 / 1")
    page.get_by_role("button", name="Undo").click()
    expect(visits).to_have_text("0 / 0 / 0 / 0 / 0")


def test_a_preset_loads_and_temperature_changes_what_is_played(page):
    page.goto("#/formula")
    page.get_by_role("button", name="Temperature", exact=True).click()
    expect(page.get_by_test_id("visits")).to_have_text("120 / 15 / 40 / 20 / 5")
    expect(page).to_have_url(re.compile("preset=temperature"))
    slider = page.get_by_role("slider", name="Temperature τ")
    played = page.get_by_role("list", name="Visits and move probabilities").locator("b")
    for keys, temperature in (("", 0.5), ("Home", 0.0), ("End", 3.0)):
        if keys:
            slider.press(keys)
        policy = visits_to_policy([120, 15, 40, 20, 5], temperature)
        expect(played).to_contain_text([percent(share) for share in policy])


def test_noise_equals_that_of_a_search_with_the_same_seed(page):
    page.goto("#/formula?preset=noise")
    shown = page.get_by_role("list", name="Priors before and after noise").locator("b")
    children = [Child(name="", prior=prior, visits=0, q=0) for prior in PRIORS]
    options = {"noise_weight": 0.25, "noise_alpha": 0.3}
    for seed in (1, 2):
        found = answer_formula(FormulaRequest(children=children, seed=seed, **options))
        expect(shown).to_contain_text([percent(child.prior) for child in found.children])
        page.get_by_role("button", name="Resample").click()


@pytest.mark.parametrize(
    ("by", "evaluator"),
    [
        ("uniform", {"evaluator": "uniform"}),
        ("run:small", {"evaluator": "network", "run": "small"}),
    ],
)
def test_the_moves_of_a_position_are_loaded(page, by, evaluator):
    options = {"selection": "puct", "proven_values": False}
    request = {
        "position": {"game": "tic-tac-toe", "moves": [4, 0]},
        "agent": {"kind": "search", "simulations": 60, "options": options, **evaluator},
    }
    analysis = page.request.post("api/search", data=request).json()["analysis"]
    page.goto(f"#/formula?game=tic-tac-toe&moves=4,0&by={by}&simulations=60")
    expect(page.get_by_text("60 simulations, 7 moves.")).to_be_visible()
    visits = " / ".join(str(move["visits"]) for move in analysis["moves"])
    expect(page.get_by_test_id("visits")).to_have_text(visits)
    for move in analysis["moves"]:
        prior = page.get_by_role("group", name=move["name"]).get_by_role("slider", name="Prior")
        expect(prior).to_have_attribute("aria-valuetext", f"{move['prior']:.2f}")


def test_the_position_of_other_views_is_used_and_long_lists_are_shortened(page):
    page.goto("#/play?game=trio")
    expect(page.get_by_role("grid")).to_be_visible()
    page.get_by_role("link", name="Formula").click()
    page.get_by_role("button", name="The current position’s moves").click()
    expect(page.get_by_text("200 simulations, 16 moves.")).to_be_visible()
    priors = page.get_by_role("slider", name="Prior")
    expect(priors).to_have_count(12)
    page.get_by_role("button", name="Show 4 more").click()
    expect(priors).to_have_count(16)
