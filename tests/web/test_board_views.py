"""The boards of the games: what they show, and how moves are made on them."""

import random
import re

import pytest
from browsing import SCREENSHOTS, board, cell, moves_of, open_game, position_in
from playwright.sync_api import expect

from plainzero import make_game

PLIES = {
    "go": 40,
    "gomoku": 30,
    "gomoku-42": 40,
    "hex": 40,
    "othello": 24,
    "breakthrough": 16,
    "ultimate-tic-tac-toe": 45,
    "pig": 9,
    "orbit": 10,
    "sensor-jammer": 10,
}
WIDTHS = {
    "wide": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark", "has_touch": True},
}


def click_all(page, *places):
    for count, (row, col) in enumerate(places, 1):
        cell(page, row, col).click()
        expect(moves_of(page)).to_have_count(count)


def playable(page):
    """The cells that can be played."""
    return board(page).get_by_role("gridcell", name=re.compile("move "))


def test_go_shows_coordinates_captures_and_passes(page):
    open_game(page, game="go", seats="hh")
    names = [*"abcdefghj", *"987654321"]
    expect(page.get_by_test_id("coordinates").locator("text")).to_have_text(names)
    click_all(page, (7, 0), (8, 0), (8, 1))  # a2, a1, and b1 takes the corner
    expect(cell(page, 8, 0)).to_have_attribute("aria-label", re.compile("empty"))
    expect(cell(page, 8, 1)).to_have_attribute("aria-label", re.compile("x, player 1, last move"))
    page.get_by_role("group", name="Moves", exact=True).get_by_role("button", name="pass").click()
    expect(moves_of(page).last).to_have_text("4 pass")


def test_the_second_player_swaps_in_hex(page, ask):
    open_game(page, game="hex(size=4,swap=True)", seats="hh")
    click_all(page, (1, 2))
    page.get_by_role("button", name="swap").click()
    expect(moves_of(page)).to_have_count(2)
    view = ask("position", position_in(page))
    for row, texts in enumerate(view["board"]["cells"]):
        for col, text in enumerate(texts):
            shown = "empty" if text == "." else "o, player 2"
            expect(cell(page, row, col)).to_have_attribute("aria-label", re.compile(shown))


def test_a_pawn_is_moved_by_two_clicks_and_by_keys(page):
    open_game(page, game="breakthrough", seats="hh")
    cell(page, 6, 3).click()
    cell(page, 5, 2).click()
    expect(moves_of(page)).to_have_text(["1 d2c3"])
    pawn = cell(page, 1, 4)
    pawn.focus()
    page.keyboard.press("Enter")
    expect(pawn).to_have_attribute("aria-label", re.compile("picked up"))
    page.keyboard.press("Escape")
    expect(pawn).to_have_attribute("aria-label", re.compile("can move"))
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(moves_of(page)).to_have_text(["1 d2c3", "2 e7e6"])
    expect(cell(page, 2, 4)).to_have_attribute("aria-label", re.compile("o, player 2, last move"))


def test_only_the_board_that_a_move_sends_to_can_be_played(page, ask):
    open_game(page, game="ultimate-tic-tac-toe", seats="hh")
    expect(playable(page)).to_have_count(81)
    cell(page, 4, 3).click()  # the left of the middle board
    expect(playable(page)).to_have_count(9)
    cell(page, 0, 0).click()  # not on the left board, so it does nothing
    cell(page, 3, 1).click()
    expect(moves_of(page)).to_have_text(["1 d5", "2 b4"])
    legal = ask("position", position_in(page))["legal"]
    expect(playable(page)).to_have_count(len(legal))
    for move in legal:
        expect(board(page).get_by_role("gridcell", name=f"move {move['name']}")).to_have_count(1)


def test_a_small_point_is_aimed_at_before_a_finger_plays_it(open_page):
    page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    open_game(page, game="gomoku-42", seats="hh")
    cell(page, 9, 9).tap()
    expect(page.get_by_text("Tap j10 again to play there.")).to_be_visible()
    expect(moves_of(page)).to_have_count(0)
    cell(page, 9, 9).tap()
    expect(moves_of(page)).to_have_text(["1 j10"])


def test_parameters_are_chosen_from_their_valid_values(page):
    open_game(page, game="hex", seats="hh")
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New game")
    expect(dialog.get_by_role("checkbox", name="Swap")).not_to_be_checked()
    dialog.get_by_label("Game", exact=True).select_option("gomoku")
    rule = dialog.get_by_label("Rule")
    assert rule.locator("option").all_inner_texts() == ["freestyle", "standard", "renju"]
    rule.select_option("renju")
    dialog.get_by_role("button", name="Start game").click()
    expect(dialog).to_be_hidden()
    assert position_in(page)["game"] == "gomoku(rule=renju)"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_board_fits_the_window_and_shows_the_position(open_page, width):
    page = open_page(reduced_motion="reduce", **WIDTHS[width])
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for name, plies in PLIES.items():
        moves, state = random_moves(name, plies)
        open_game(page, game=name, moves=",".join(map(str, moves)), seats="hh")
        expect(moves_of(page)).to_have_count(len(moves))
        texts = [text for row in make_game(name).view(state).cells for text in row]
        for player, piece in enumerate("xo", 1):
            stones = board(page).get_by_role("gridcell", name=f"{piece}, player {player}")
            expect(stones).to_have_count(texts.count(piece))
        box = board(page).evaluate("element => element.getBoundingClientRect().toJSON()")
        size = page.viewport_size
        assert box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
        assert box["height"] <= 0.8 * size["height"], f"{name} is taller than the window"
        page.screenshot(path=SCREENSHOTS / f"play-{name}-{width}.png")


def random_moves(name, plies):
    """The moves of a random game that ends at a player's turn, and the position."""
    game, chance = make_game(name), random.Random(4)
    state, moves = game.new_state(), []
    while not state.is_over and (len(moves) < plies or state.to_play < 0):
        moves.append(chance.choice([move for move in game.legal(state) if move != 81] or [81]))
        game.apply(state, moves[-1])
    return moves, state
