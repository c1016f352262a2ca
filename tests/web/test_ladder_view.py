"""The Ladder view: agents with intervals, games against them, and runs placed among them."""

import re

from playwright.sync_api import expect


def rungs(page):
    return page.get_by_role("list", name="Agents, strongest first").get_by_role("listitem")


def open_ladder(page, game):
    page.goto(f"/#/ladder?game={game}")
    expect(rungs(page).first).to_be_visible()


def test_agents_stand_in_the_order_of_their_ratings(page, ask):
    open_ladder(page, "connect-four")
    texts = rungs(page).all_inner_texts()
    elos = [
        int(re.search(r"([+−]?\d+)", text.split("\n")[1])[1].replace("−", "-")) for text in texts
    ]
    assert len(elos) >= 8 and elos == sorted(elos, reverse=True) and 0 in elos
    assert "Random moves" in texts[-1]
    expect(page.get_by_text(re.compile("Elo above uct:1000"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Elo by simulations"))).to_be_visible()


def test_choosing_an_agent_starts_a_game_against_it(page):
    open_ladder(page, "connect-four")
    page.get_by_role("link", name="Play against UCT, 100 simulations").click()
    expect(page).to_have_url(re.compile("/play.*game=connect-four.*vs=uct.*simulations=100"))
    expect(page.get_by_test_id("status")).not_to_be_empty()
    expect(page.get_by_role("list", name="Players")).to_contain_text("100 simulations")


def test_an_agent_that_the_page_cannot_play_is_no_link(page):
    open_ladder(page, "tic-tac-toe")
    best = rungs(page).filter(has_text="best")
    expect(best).to_have_count(1)
    expect(best.get_by_role("link")).to_have_count(0)


def test_another_game_is_chosen_by_its_name_and_stands_in_the_address(page):
    open_ladder(page, "connect-four")
    page.get_by_label("Game", exact=True).select_option("Tic Tac Toe")
    expect(rungs(page)).to_have_count(4)
    expect(page).to_have_url(re.compile(r"ladder\?game=tic-tac-toe"))
    page.go_back()
    expect(rungs(page).filter(has_text="Alpha-beta")).to_have_count(1)


def test_a_game_without_a_ladder_says_how_to_make_one(page):
    page.goto("/#/ladder?game=pig")
    expect(page.get_by_text("There is no ladder of this game yet.")).to_be_visible()
    expect(page.get_by_text('plainzero rate "pig"')).to_be_visible()


def test_the_games_of_each_pair_are_a_table(page):
    open_ladder(page, "tic-tac-toe")
    table = page.get_by_role("table", name="Games of each pair")
    row = table.get_by_role("row").filter(has_text="Random moves")
    assert row.locator("td").all_inner_texts()[2:7] == ["20", "17", "2", "1", "90 %"]


def test_a_run_is_placed_by_real_games(page):
    open_ladder(page, "tic-tac-toe")
    page.get_by_role("spinbutton", name="Simulations per move").fill("3")
    page.get_by_label("Minutes of games").fill("60")  # all openings take less
    page.get_by_role("button", name="Place on the ladder").click()
    expect(page.get_by_text("small is playing")).to_be_visible()
    expect(page.get_by_text("small has played its games")).to_be_visible()
    placed = rungs(page).filter(has_text="small, 3 simulations")
    expect(placed).to_have_count(1)
    placed.get_by_role("link").click()
    expect(page).to_have_url(re.compile("/play.*vs=guided.*run=small.*simulations=3"))
