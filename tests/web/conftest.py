"""A real server in a separate process, with a small run, and a real browser."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from browsing import PATIENCE, ROOT
from missing_programs import do_without

from plainzero import make_game
from plainzero.arena.ladder import Ladder, Pair
from plainzero.arena.ladder_files import write_ladder
from plainzero.arena.ladder_games import begin_ladder
from plainzero.server.api.page_files import FOLDER, is_built

OWN_GAME = ROOT / "examples" / "nim.py"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_runtest_setup(item):
    if CHROMIUM is None:
        do_without(item.config, "there is no chromium on the PATH")
    if not is_built(FOLDER):
        do_without(item.config, "the page was not built; `make page` does")


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory) -> Path:
    """A tic-tac-toe run: three generations of a small network."""
    folder = tmp_path_factory.mktemp("given") / "small"
    settings = ["network.kind=mlp", "training.generation_positions=300", "selfplay.games=32"]
    command = [sys.executable, "-m", "plainzero.cli", "train", "tic-tac-toe", "--generations", "3"]
    options = [part for setting in settings for part in ("--set", setting)]
    subprocess.run(
        [*command, "--run", str(folder), "--threads", "1", "--seed", "1", *options],
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """The folder in which the page starts runs."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def ladders(tmp_path_factory) -> Path:
    """The folder of the user's own ladders, with one of tic-tac-toe."""
    folder = tmp_path_factory.mktemp("ladders")
    agents = dict.fromkeys(["uct:1000", "random", "uct:100", "gtp:best"], "")
    pairs = (
        Pair("uct:1000", "random", 17, 2, 1, 10, 33.0),
        Pair("uct:1000", "uct:100", 8, 6, 6, 10, 13.0),
        Pair("uct:1000", "gtp:best", 5, 10, 5, 10, 12.0),
    )
    openings = begin_ladder(make_game("tic-tac-toe"), "uct:1000", 0).openings
    ladder = Ladder("tic-tac-toe", "uct:1000", 0, openings, agents, pairs, 60.0)
    write_ladder(ladder, folder / "tic-tac-toe.json")
    return folder


@pytest.fixture(scope="session")
def address(run_folder, home, ladders) -> Iterator[str]:
    """A running server with the small run and a game from a file."""
    command = [sys.executable, "-m", "plainzero.cli", "serve", "--port", "0", "--nice", "0"]
    process = subprocess.Popen(
        [
            *command,
            str(run_folder),
            "--home",
            str(home),
            "--ladders",
            str(ladders),
            "--game",
            f"{OWN_GAME}:Nim",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://" in line, f"the server did not start: {line!r}"
        yield line.split("http://")[1].split()[0].join(("http://", ""))
    finally:
        process.terminate()
        process.communicate()  # also closes the pipe


@pytest.fixture(scope="module")
def browser():
    """Chromium, for one module at a time, because Playwright's event loop occupies the thread."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, address):
    """Opens pages, each in a separate context; errors printed by their scripts fail the test."""
    contexts, errors = [], []

    def note(message):
        if message.type == "error":
            errors.append(message.text)

    def open_page(**options):
        contexts.append(browser.new_context(base_url=address, **options))
        contexts[-1].set_default_timeout(PATIENCE)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", note)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not errors, errors


@pytest.fixture
def page(open_page):
    """A page of 1280 × 900."""
    return open_page(viewport={"width": 1280, "height": 900})


@pytest.fixture
def ask(address):
    """Sends requests to the server's HTTP routes."""

    def post(path, body):
        answer = httpx.post(f"{address}/api/{path}", json=body, timeout=None)
        answer.raise_for_status()
        return answer.json()

    return post
