"""Watching a search on the page: everything shown equals the recorded search."""

import re

import pytest
from browsing import PATIENCE
from playwright.sync_api import expect

import plainzero
from plainzero import SearchConfig

MOVES = (4, 0)
SEED = 3
SIMULATIONS = 60
LINK = (
    f"/#/watch?game=tic-tac-toe&moves=4,0&evaluator=uniform&simulations={SIMULATIONS}&seed={SEED}"
)
PHASES = ("Select", "Expand", "Evaluate", "Back up")


def search(simulations=SIMULATIONS, evaluator="uniform", **options):
    game = plainzero.make_game("tic-tac-toe")
    state = game.new_state()
    for action in MOVES:
        game.apply(state, action)
    config = SearchConfig(simulations=simulations, trace=True, **options)
    return game, plainzero.search(game, state, evaluator, config, SEED, threads=1)


def think(page, link=LINK):
    page.goto(link)
    page.get_by_role("button", name="Think", exact=True).click()
    expect(page.get_by_role("region", name="Timeline")).to_be_visible()


def scrub(page, simulation):
    page.get_by_role("slider", name="Simulation").fill(str(simulation))
    expect(
        page.get_by_role("heading", name=f"The root after {simulation} simulation")
    ).to_be_visible()


def step_forward(page, unit="simulation"):
    page.get_by_role("button", name=f"One {unit} forward").click()


def root_visits(page):
    rows = page.get_by_role("table", name="The root's moves").locator("tbody tr")
    return {
        row.locator("td").nth(0).inner_text().strip(): int(row.locator("td").nth(4).inner_text())
        for row in rows.all()
    }


def path_of(page):
    items = page.get_by_role("list", name="Path").get_by_role("listitem")
    return [item.locator(".name").inner_text() for item in items.all()]


def chosen_phase(page):
    return page.get_by_role("group", name="Phases").locator("[aria-pressed=true]")


def show_outline(page):
    page.get_by_role("button", name="As an outline").first.click()
    expect(page.get_by_role("tree")).to_be_visible()


def test_any_simulation_is_shown_as_recorded(page):
    think(page)
    game, whole = search()
    for simulation in (1, 17, SIMULATIONS):
        scrub(page, simulation)
        _, part = search(simulation)
        number = len(part.tree)
        expect(page.get_by_test_id("counts")).to_have_text(f"{number} of {number} nodes shown")
        expected = {game.action_name(action): int(part.visits[action]) for action in part.legal}
        assert root_visits(page) == expected
        way = [game.action_name(action) for action in whole.trace[simulation - 1].actions]
        steps = page.get_by_role("list", name="Path").get_by_role("listitem")
        expect(steps.locator(".name")).to_have_text(way)


def test_a_simulation_can_be_stepped_through_its_four_phases(page):
    think(page, LINK + "&simulation=20")
    scrub(page, 20)
    page.get_by_role("button", name="single phases").click()
    _, before = search(20)
    _, after = search(21)
    nodes = page.get_by_test_id("counts")
    for phase in PHASES:
        step_forward(page, "phase")
        expect(chosen_phase(page)).to_contain_text(phase)
        expect(page.get_by_role("heading", name="Simulation 21")).to_be_visible()
        part = before if phase == "Select" else after
        expect(nodes).to_contain_text(f"of {len(part.tree)} nodes")
        moment = 21 if phase == "Back up" else 20
        expect(page.get_by_role("heading", name=f"The root after {moment} sim")).to_be_visible()
        shown = page.get_by_role("list", name="Path").locator("li.lit")
        expect(shown).to_have_count(len(after.trace[20].actions))
    step_forward(page, "phase")
    expect(chosen_phase(page)).to_contain_text("Select")
    expect(page.get_by_role("heading", name="Simulation 22")).to_be_visible()


def test_keys_step_through_the_simulations(page):
    think(page, LINK)
    page.get_by_role("heading", name="Watch it think").click()
    page.keyboard.press("Home")
    expect(page.get_by_role("heading", name="Before the first simulation")).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="The root after 2 simulations")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="The root after 1 simulation")).to_be_visible()


def test_a_collapsed_node_hides_its_subtree_and_shows_its_size(page):
    think(page)
    show_outline(page)
    _, whole = search()
    child = max(range(1, len(whole.tree)), key=lambda node: subtree_size(whole.tree, node))
    below = subtree_size(whole.tree, child) - 1
    item = page.locator(f'[data-node="{child}"]')
    item.focus()
    page.keyboard.press("Enter")
    expect(item).to_have_attribute("aria-expanded", "false")
    expect(item).to_contain_text(f"+{below} not shown")
    expect(page.get_by_role("treeitem")).to_have_count(len(whole.tree) - below)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem")).to_have_count(len(whole.tree))


def test_the_drawing_collapses_a_node_and_shows_its_details(page):
    think(page)
    _, whole = search()
    counts = page.get_by_test_id("counts")
    expect(counts).to_have_text(f"{len(whole.tree)} of {len(whole.tree)} nodes shown")
    canvas = page.get_by_role("application", name="Search tree")
    canvas.focus()
    page.keyboard.press("Shift+ArrowDown")
    card = page.get_by_role("region", name="Details of a node")
    expect(card.locator("dd").first).to_have_text(str(SIMULATIONS))
    expect(card.get_by_role("grid", name="The node's position")).to_be_visible()
    expect(card.get_by_role("link", name="Play from here")).to_have_attribute(
        "href", "#/play?game=tic-tac-toe&moves=4,0"
    )
    page.keyboard.press("Enter")
    expect(counts).to_have_text(f"1 of {len(whole.tree)} nodes shown")
    page.keyboard.press("Enter")
    expect(counts).to_have_text(f"{len(whole.tree)} of {len(whole.tree)} nodes shown")


def subtree_size(tree, node):
    """The number of nodes in the subtree of `node`."""
    return sum(node in tree.path(other)[0] for other in range(len(tree)))


def test_two_searches_are_compared_on_one_timeline(page):
    page.goto(LINK)
    page.get_by_label("Suggested comparisons").select_option(label="UCT and PUCT")
    page.get_by_role("button", name="Think", exact=True).click()
    scrub(page, 40)
    game, uct = search(40, "rollout", selection="uct", c_uct=1.41)
    _, puct = search(40, "rollout", selection="puct")
    table = page.get_by_role("table", name="Shares of the root's visits")
    rows = table.locator("tbody tr").all()
    shown = {
        row.locator("th").inner_text(): tuple(
            int(row.locator("td").nth(column).inner_text()) for column in (0, 3)
        )
        for row in rows
    }
    assert shown == {
        game.action_name(action): (int(uct.visits[action]), int(puct.visits[action]))
        for action in uct.legal
    }
    assert any(a != b for a, b in shown.values())
    assert path_of_side(page, "side-a") != [] and path_of_side(page, "side-b") != []


def test_the_first_search_stays_while_a_second_is_set_up(page):
    think(page)
    scrub(page, 40)
    page.get_by_role("button", name="Change position or settings").click()
    compare = page.get_by_label("Compare two searches")
    compare.check()
    expect(page.get_by_role("group", name="Search B")).to_be_visible()
    expect(page.get_by_role("heading", name="The root after 40 sim")).to_be_visible()
    page.get_by_role("button", name="Think", exact=True).click()
    expect(page.get_by_role("application", name="Search tree of B")).to_be_visible()
    page.get_by_role("button", name="Change position or settings").click()
    compare.uncheck()
    expect(page.get_by_role("application", name="Search tree", exact=False)).to_have_count(1)
    expect(page.get_by_role("button", name="Think", exact=True)).to_be_visible()


def test_another_link_applies_its_settings_without_searching(page):
    think(page)
    page.goto(LINK.replace(f"simulations={SIMULATIONS}", "simulations=77"))
    expect(page.get_by_label("Simulations")).to_have_value("77")
    expect(page.get_by_role("button", name="Think", exact=True)).to_be_enabled()


def test_the_view_survives_a_lost_connection(page):
    line = Line(page)
    line.cut()
    page.goto(LINK + "&think=1&simulation=20")
    expect(page.get_by_text("Waiting for the connection")).to_be_visible()
    line.restore()
    expect(page.get_by_role("heading", name="The root after 20 sim")).to_be_visible()
    visits = root_visits(page)
    line.cut()
    page.get_by_role("slider", name="Simulation").fill("30")
    expect(page.get_by_text("Cannot reach the server")).to_be_visible()
    assert root_visits(page) == visits
    line.restore()
    expect(page.get_by_text("This search is no longer on the server.")).to_be_visible()
    assert root_visits(page) == visits
    page.get_by_role("button", name="Think again").click()
    expect(page.get_by_role("heading", name="The root after 30 sim")).to_be_visible()


class Line:
    """The page's WebSocket, which can be cut and restored."""

    def __init__(self, page):
        """An intact connection."""
        self._is_cut = False
        self._ends = []
        page.route_web_socket(re.compile("/api/socket"), self._connect)

    def cut(self):
        """Closes the connection, and new ones at once."""
        self._is_cut = True
        for end in self._ends:
            end.close()
        self._ends = []

    def restore(self):
        """Lets the next connection through."""
        self._is_cut = False

    def _connect(self, end):
        if self._is_cut:
            end.close()
        else:
            self._ends += [end.connect_to_server(), end]


def path_of_side(page, side):
    return page.get_by_test_id(side).get_by_role("list", name="Path").all_inner_texts()


def test_a_hundred_thousand_simulations_are_watched_to_their_end(page):
    page.goto("/#/watch?game=connect-four&evaluator=rollout&simulations=100000&think=1")
    expect(page.get_by_role("heading", name="The root after 100\u202f000 sim")).to_be_visible()
    expect(page.get_by_test_id("counts")).to_have_text(
        re.compile(r"^400 of 9\d\u202f\d+ nodes|^400 of 100\u202f")
    )
    visits = page.get_by_role("table", name="The root's moves").locator("tbody td:nth-child(5)")
    total = sum(int(text.replace("\u202f", "")) for text in visits.all_inner_texts())
    assert total == 100_000
    slider = page.get_by_role("slider", name="Simulation")
    for simulation in range(5000, 100_001, 5000):  # faster than the server can answer
        slider.fill(str(simulation))
    slider.fill("99900")
    expect(page.get_by_role("heading", name="The root after 99\u202f900 sim")).to_be_visible()
    page.get_by_role("slider", name="Speed").press("End")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("heading", name="The root after 100\u202f000 sim")).to_be_visible()


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_path_lights_up_edge_by_edge_unless_motion_is_reduced(browser, address, motion):
    context = browser.new_context(base_url=address, reduced_motion=motion)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    try:
        page.clock.install()
        think(page)
        scrub(page, 50)
        page.clock.pause_at(page.evaluate("Date.now() / 1000") + 5)
        page.get_by_role("group", name="Phases").get_by_role("button", name="Select").click()
        expect(page.get_by_role("heading", name="The root after 49 sim")).to_be_visible()
        way = page.get_by_role("list", name="Path").locator("li")
        lit = page.get_by_role("list", name="Path").locator("li.lit")
        length = len(search()[1].trace[49].actions)
        expect(way).to_have_count(length)
        expect(lit).to_have_count(length if motion == "reduce" else 0)
        page.clock.run_for(5000)
        expect(lit).to_have_count(length)
    finally:
        context.close()


def test_the_address_restores_the_same_moment(page):
    think(page)
    scrub(page, 33)
    page.get_by_role("group", name="Phases").get_by_role("button", name="Evaluate").click()
    expect(page).to_have_url(re.compile("simulation=33&phase=2"))
    way, link = path_of(page), page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.get_by_role("heading", name="Simulation 33")).to_be_visible()
    expect(chosen_phase(page)).to_contain_text("Evaluate")
    assert path_of(page) == way
