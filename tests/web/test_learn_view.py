"""The lessons open, read in order, and their widgets work."""

import itertools
import re

import numpy as np
from playwright.sync_api import expect

from plainzero.search.kernels.formulas import puct_score


def test_every_lesson_opens_from_the_overview_with_one_heading_and_a_widget(page):
    page.goto("#/learn")
    lessons = page.get_by_role("main").get_by_role("listitem").get_by_role("link")
    expect(lessons).to_have_count(8)
    for index in range(8):
        title = lessons.nth(index).locator(".title").inner_text()
        lessons.nth(index).click()
        expect(page.get_by_role("heading", level=1)).to_have_text([title])
        expect(page).to_have_title(f"{title} – PlainZero")
        expect(page.get_by_text(f"{index + 1} of 8")).to_be_visible()
        expect(page.get_by_role("main").locator("figure").first).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)
        assert page.get_by_role("heading", level=2).count() >= 3
        page.get_by_role("link", name="Learn", exact=True).last.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(["Learn"])


def test_lessons_link_to_their_neighbours(page):
    page.goto("#/learn/idea")
    way = page.get_by_role("navigation", name="Lessons")
    expect(way.get_by_role("link", name="Previous")).to_have_count(0)
    way.get_by_role("link", name="Next").click()
    expect(page).to_have_url(re.compile("#/learn/uct$"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    way.get_by_role("link", name="Previous").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("The idea")
    page.goto("#/learn/nowhere")
    expect(page.get_by_text("This lesson does not exist.")).to_be_visible()


def test_the_widget_steps_through_real_simulations(page):
    page.goto("#/learn/idea")
    widget = page.get_by_test_id("small-watch")
    expect(widget.get_by_text("Simulation 1 of 100")).to_be_visible()
    for simulation in range(2, 7):  # there are six moves, and each is tried once first
        widget.get_by_role("button", name="Next").click()
        expect(widget.get_by_text(f"Simulation {simulation} of 100")).to_be_visible()
        expect(widget.get_by_text("untried, so it comes first")).to_have_count(1)
    widget.get_by_role("button", name="Next").click()
    expect(widget.get_by_text("the largest here")).to_have_count(1)
    widget.get_by_role("button", name="Back").click()
    expect(widget.get_by_text("Simulation 6 of 100")).to_be_visible()
    expect(widget.get_by_text("the largest here")).to_have_count(0)


def test_the_formula_of_a_lesson_computes_what_the_search_does(page):
    page.goto("#/learn/puct")
    slider = page.get_by_role("slider", name="c_puct")
    slider.focus()
    page.keyboard.press("End")
    expected = [
        puct_score(0.0, float(np.float32(prior)), 0, 1.0, 5.0)
        for prior in (0.55, 0.05, 0.20, 0.15, 0.05)
    ]
    shown = page.get_by_role("list", name="Scores").get_by_test_id("score")
    expect(shown).to_have_text([f"{score:.3f}" for score in expected])


def test_a_player_who_moves_twice_gets_the_same_result_twice(page):
    page.goto("#/learn/backup")
    widget = page.get_by_test_id("way-back")
    widget.get_by_label("Game").select_option("twice")
    moves = widget.get_by_role("listitem")
    expect(moves.filter(has_text="-").first).to_be_visible()
    rows = [
        (row.locator("title").text_content(), row.locator(".added").inner_text())
        for row in moves.all()
    ]
    assert any(one == other for one, other in itertools.pairwise(rows)), rows


def test_a_position_is_proven_with_enough_simulations(page):
    page.goto("#/learn/proven")
    widget = page.get_by_test_id("proofs")
    expect(widget.get_by_text("the position is not proven yet")).to_be_visible()
    widget.get_by_role("slider", name="Simulations").press("End")
    expect(widget.get_by_text("where the search stopped")).to_be_visible()
    found = widget.get_by_role("row").filter(has_text="proven:")
    expect(found).to_have_count(6)
    for row in found.all():
        # The truth is requested separately, and may arrive later.
        expect(row).to_have_text(re.compile(r"proven: (lost|draw|won)\s*\1\s*$"))


def test_self_play_shows_the_curves_of_a_run(page):
    page.goto("#/learn/self-play")
    expect(page.get_by_role("img", name=re.compile("^Loss"))).to_be_visible()
    expect(page.get_by_text("games of tic-tac-toe so far.")).to_be_visible()
