"""Playing in the browser: against agents, from positions set up by hand, links and files."""

import re
from urllib.parse import parse_qs

import httpx2 as httpx
import pytest
from browsing import board, cell, moves_of, open_game, position_in
from playwright.sync_api import expect

WIN_IN_ONE = {(5, 0): "x", (5, 1): "x", (5, 2): "x", (4, 0): "o", (4, 1): "o", (4, 2): "o"}


def test_a_whole_game_is_played_by_clicking(page, ask):
    open_game(page, game="tic-tac-toe", seats="hm", vs="uct", simulations=60)
    status = page.get_by_test_id("status")
    view = ask("position", position_in(page))
    while not view["is_over"]:
        played = len(view["moves"])
        board(page).get_by_role("gridcell", name=re.compile("move ")).first.click()
        expect(moves_of(page).nth(played)).to_be_visible()
        expect(status).to_have_text(re.compile(r"Your turn\.|win|draw"))
        view = ask("position", position_in(page))
    first, second = view["returns"]
    result = "A draw." if first == second else "You win." if first > second else "UCT wins."
    expect(status).to_have_text(result)
    expect(moves_of(page)).to_have_count(len(view["moves"]))


def test_a_win_in_one_is_set_up_by_hand_and_found_by_the_hint(page, ask):
    open_game(page, game="connect-four", seats="hm", vs="uct", simulations=400)
    page.get_by_role("button", name="Set up").click()
    editor = page.get_by_role("region", name="Set up a position")
    for piece, name in (("x", "Player 1"), ("o", "Player 2")):
        editor.get_by_role("radiogroup").get_by_text(name).click()
        for (row, col), text in WIN_IN_ONE.items():
            if text == piece:
                cell(page, row, col).click()
    editor.get_by_role("button", name="Play from here").click()
    page.get_by_role("button", name="Hint").click()
    expect(page.get_by_test_id("status")).to_have_text("Hint: 4. It wins.")
    cell(page, 0, 3).click()
    expect(page.get_by_test_id("status")).to_have_text("You win.")


def test_an_impossible_position_is_refused_with_the_servers_message(browser, address):
    page = browser.new_page(base_url=address)  # its console may report the error
    open_game(page, game="connect-four", seats="hm", vs="random")
    page.get_by_role("button", name="Set up").click()
    cell(page, 0, 0).click()
    page.get_by_role("button", name="Play from here").click()
    cells = [["."] * 7 for _ in range(6)]
    cells[0][0] = "x"
    setup = {"cells": cells, "to_play": 0}
    refusal = httpx.post(f"{address}/api/position", json={"game": "connect-four", "setup": setup})
    expect(page.get_by_role("alert")).to_contain_text(refusal.json()["message"])
    page.close()


def test_a_shared_link_shows_the_same_board_and_moves(page, browser, ask):
    open_game(page, game="connect-four", moves="3,3,2,4", seats="hh")
    cell(page, 0, 5).click()
    expect(moves_of(page)).to_have_count(5)
    page.get_by_role("button", name="Share").click()
    link = page.get_by_label("Link to this game").input_value()
    other = browser.new_page()
    other.goto(link)
    expect(moves_of(other)).to_have_count(5)
    assert [one.inner_text() for one in moves_of(other).all()] == [
        one.inner_text() for one in moves_of(page).all()
    ]
    view = ask("position", position_in(other))
    for row, texts in enumerate(view["board"]["cells"]):
        for col, text in enumerate(texts):
            shown = "empty" if text == "." else f"{text}, player {'xo'.index(text) + 1}"
            expect(cell(other, row, col)).to_have_attribute("aria-label", re.compile(shown))
    other.close()


def test_a_game_is_saved_as_sgf_and_opened_again(page):
    open_game(page, game="tic-tac-toe", moves="4,0,8", seats="hh")
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SGF").click()
    saved = download.value.path()
    page.keyboard.press("Escape")
    open_game(page, game="connect-four", seats="hh")
    expect(page.get_by_role("heading", level=1)).to_have_text("Connect Four")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Saved game").set_input_files(saved)
    expect(moves_of(page)).to_have_count(3)
    assert position_in(page) == {"game": "tic-tac-toe", "moves": [4, 0, 8]}
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Connect Four")


def test_the_users_own_game_is_played_by_its_list_of_moves(page, ask):
    open_game(page, game="nim(stones=5)", seats="hm", vs="perfect")
    own = page.get_by_role("group", name="Moves", exact=True)
    own.get_by_role("button", name="1", exact=True).click()
    expect(moves_of(page)).to_have_count(2)  # four stones are left: every move loses
    view = ask("position", position_in(page))
    expect(page.locator("pre")).to_have_text(view["text"])
    own.get_by_role("button").last.click()
    expect(page.get_by_test_id("status")).to_have_text("You win.")
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_text("cannot be set up by hand")).to_be_visible()
    page.get_by_role("button", name="Play both sides").click()
    expect(page.get_by_role("list", name="Players")).to_contain_text("Player 2")


def test_the_analysis_shows_the_numbers_of_the_search(page, ask):
    open_game(page, game="tic-tac-toe", moves="4", seats="hh")
    page.get_by_label("Analysis by").select_option("own")
    page.get_by_label("Simulations").fill("300")
    page.get_by_label("Seed").fill("5")
    expect(page.get_by_test_id("simulations")).to_have_text("300")
    expect(page.get_by_test_id("analysis-state")).to_have_text(re.compile("done|proven"))
    agent = {"kind": "search", "simulations": 300, "options": {"proven_values": True}}
    request = {"position": {"game": "tic-tac-toe", "moves": [4]}, "agent": agent, "seed": 5}
    found = ask("search", request)["analysis"]
    rows = page.get_by_test_id("moves-table").get_by_role("row")
    expect(rows).to_have_count(len(found["moves"]) + 1)
    for row, move in zip(rows.all()[1:], found["moves"], strict=True):
        texts = [text.strip() for text in row.get_by_role("cell").all_inner_texts()]
        assert texts[0] == move["name"]
        assert texts[2] == str(move["visits"])
        assert float(texts[4].replace("−", "-")) == pytest.approx(move["q"], abs=0.006)
        assert float(texts[6].replace("−", "-")) == pytest.approx(move["u"], abs=0.006)


def test_a_game_can_be_played_with_the_keyboard_alone(page):
    open_game(page, game="tic-tac-toe", seats="hh")
    cell(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(moves_of(page)).to_have_count(1)
    expect(cell(page, 1, 1)).to_have_attribute("aria-label", re.compile("x, player 1"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(moves_of(page)).to_have_count(2)
    page.keyboard.press("u")
    expect(cell(page, 1, 2)).to_have_attribute("aria-label", re.compile("empty"))
    expect(moves_of(page)).to_have_count(2)
    page.keyboard.press("r")
    expect(cell(page, 1, 2)).to_have_attribute("aria-label", re.compile("o, player 2"))
    moves_of(page).first.click()
    expect(page.get_by_test_id("status")).to_have_text("Move 1 of 2. Player 2 to move.")
    cell(page, 0, 0).click()
    expect(moves_of(page).last).to_have_text(re.compile("a1|a3"))
    assert position_in(page)["moves"] == [4, 0]


def test_a_network_answers_and_its_generation_is_shown(page, ask, run_folder):
    open_game(page, game="tic-tac-toe")
    expect(page.get_by_role("list", name="Players")).to_contain_text(run_folder.name)
    cell(page, 1, 1).click()
    expect(moves_of(page)).to_have_count(2)
    expect(page.get_by_text("last answer: generation 3")).to_be_visible()
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_test_id("status")).to_have_text("Move 0 of 2. Your turn.")


def find_blocked_direction(ask):
    """The moves to a position of 2048, an illegal direction in it, and a legal move."""
    view = ask("play", {"position": {"game": "2048"}})
    while len(view["legal"]) == 4:
        view = ask("play", {"position": position_of(view), "action": view["legal"][0]["action"]})
    legal = view["legal"][0]
    blocked = {"up", "down", "left", "right"} - {move["name"] for move in view["legal"]}
    return position_of(view)["moves"], blocked.pop(), legal


def position_of(view):
    return {"game": view["game"], "moves": [move["action"] for move in view["moves"]]}


def test_arrow_keys_slide_the_tiles_even_from_the_board_and_never_undo(page, ask):
    moves, blocked, legal = find_blocked_direction(ask)
    open_game(page, game="2048", moves=",".join(map(str, moves)), seats="h")
    expect(moves_of(page)).to_have_count(len(moves))
    cell(page, 1, 1).click()
    page.keyboard.press(f"Arrow{blocked.capitalize()}")
    page.keyboard.press(f"Arrow{legal['name'].capitalize()}")
    expect(moves_of(page)).to_have_count(len(moves) + 2)  # chance added a tile
    assert position_in(page)["moves"][:-1] == [*moves, legal["action"]]


def test_a_move_that_failed_can_be_retried(browser, address):
    page = browser.new_page(base_url=address)  # its console reports the error
    open_game(page, game="tic-tac-toe", seats="hm", vs="random")
    page.route("**/api/play", lambda route: route.abort(), times=1)
    cell(page, 1, 1).click()
    page.get_by_role("button", name="Try again").click()
    expect(moves_of(page)).to_have_count(2)
    assert position_in(page)["moves"][0] == 4
    page.close()


def test_an_opponent_continues_after_a_lost_connection(browser, address):
    page = browser.new_page(base_url=address)
    requests = []

    def forward(socket):
        server = socket.connect_to_server()

        def receive(message):
            requests.extend([message] if '"type":"search"' in message else [])
            if len(requests) == 1 and '"type":"search"' in message:
                socket.close(code=1001, reason="lost")
            else:
                server.send(message)

        socket.on_message(receive)

    page.route_web_socket("**/api/socket", forward)
    open_game(page, game="tic-tac-toe", seats="hm", vs="random")
    cell(page, 1, 1).click()
    expect(moves_of(page)).to_have_count(2)
    assert len(requests) == 2
    page.close()


def test_enter_starts_a_new_game_unless_a_number_is_invalid(page):
    open_game(page, game="tic-tac-toe", seats="hm", vs="uct", simulations=60)
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New game")
    simulations = dialog.get_by_role("spinbutton", name="Simulations")
    simulations.fill("0")
    dialog.get_by_role("button", name="Start game").click()
    expect(simulations).to_be_focused()
    expect(dialog).to_contain_text("Enter a whole number from 1")
    simulations.fill("70")
    simulations.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("list", name="Players")).to_contain_text("70 simulations")


def test_links_to_the_other_views_carry_the_agent(page, run_folder):
    name = run_folder.name
    open_game(page, game="tic-tac-toe", seats="hm", vs="guided", run=name, simulations=90)
    cell(page, 1, 1).click()
    watch = page.get_by_role("link", name="Watch it think")
    expect(page.get_by_test_id("analysis-state")).to_have_text(re.compile("done|proven"))
    query = parse_qs(watch.get_attribute("href").partition("?")[2])
    linked = {key: query[key][0] for key in ("evaluator", "run", "simulations", "proofs", "moves")}
    assert linked == {
        "evaluator": "network",
        "run": name,
        "simulations": "90",
        "proofs": "1",
        "moves": "4",
    }
    page.get_by_role("link", name="Open in Formula").click()
    expect(page).to_have_url(re.compile(rf"by=run%3A{name}&simulations=90"))


def test_a_link_to_an_unknown_game_shows_no_board(browser, address):
    page = browser.new_page(base_url=address)  # its console may report the error
    open_game(page, game="tic-tac-toe", seats="hh")
    page.goto("/#/play?game=nonsense")
    expect(page.get_by_role("alert")).to_contain_text("nonsense")
    expect(board(page)).to_have_count(0)
    page.get_by_role("link", name="Play another game").click()
    expect(page.get_by_test_id("status")).to_have_text("Your turn.")
    page.close()
