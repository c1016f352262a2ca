"""Helpers for the tests of the page."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
PATIENCE = 1_200_000  # milliseconds; far beyond what a busy machine needs


def open_game(page, **query):
    """Opens the Play view with a game on the board."""
    from playwright.sync_api import expect

    page.goto(f"/#/play?{urlencode(query)}")
    expect(page.get_by_test_id("status")).not_to_be_empty()


def board(page):
    """The board on the page."""
    return page.get_by_role("grid")


def cell(page, row, col):
    """A cell of the board."""
    return board(page).get_by_role("gridcell").and_(page.locator(f'[data-cell="{row},{col}"]'))


def moves_of(page):
    """The buttons in the list of moves."""
    return page.get_by_role("list", name="Moves of the game").get_by_role("button")


def position_in(page):
    """The position in the page's address."""
    query = parse_qs(page.url.partition("?")[2])
    moves = [int(move) for move in query.get("moves", [""])[0].split(",") if move]
    return {"game": query["game"][0], "moves": moves}
