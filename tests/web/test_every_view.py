"""Every view at two widths: saved as screenshots, and checked for accessibility by axe."""

import pytest
from browsing import ROOT, SCREENSHOTS
from missing_programs import do_without
from playwright.sync_api import expect

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PLAYED = "game=tic-tac-toe&moves=4,0,8"
VIEWS = {
    "play": (f"/play?{PLAYED}", "Tic"),
    "watch": (f"/watch?{PLAYED}&simulations=60&think=1", "nodes shown"),
    "formula": ("/formula", "prograde"),
    "ladder": ("/ladder?game=connect-four", "Perfect play"),
    "ladder-own": ("/ladder?game=tic-tac-toe", "Place on the ladder"),
    "training": ("/training", "small"),
    "training-run": ("/training/small", "Loss"),
    "training-games": ("/training/small?tab=games&generation=3&game=2", "Game"),
    "training-over-time": ("/training/small?tab=over-time", "checkpoint"),
    "learn": ("/learn", "PUCT"),
    "learn-puct": ("/learn/puct", "prior"),
    "learn-idea": ("/learn/idea", "tree"),
}
WIDTHS = {"wide": (1280, 900, "light"), "phone": (390, 844, "dark")}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_the_screen_and_is_accessible(open_page, axe, view, width):
    path, text = VIEWS[view]
    wide, high, scheme = WIDTHS[width]
    page = open_page(
        viewport={"width": wide, "height": high}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(f"/#{path}")
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    expect(page.get_by_role("main").get_by_text(text).first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{view}-{width}.png", full_page=True)
    findings = run_axe(page, axe)
    assert overflow <= 0, f"the view is {overflow} pixels wider than the screen"
    assert not findings, "\n".join(findings)


def test_the_api_documentation_works_under_the_content_security_policy(page):
    answer = page.goto("/docs")
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    expect(page.get_by_text("/api/position", exact=True)).to_be_visible()


@pytest.fixture
def axe(pytestconfig) -> str:
    """The script that checks a page."""
    if not AXE.is_file():
        do_without(pytestconfig, "axe-core is not installed; `make page` does")
    return AXE.read_text()


def run_axe(page, axe) -> list[str]:
    """The serious and critical problems that axe finds, one line each."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {violation['help']}: {node['html'][:150]}"
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
