"""docs/ladders.md and its images are those of the bundled ladders."""

import runpy
from pathlib import Path

import pytest

from plainzero import make_game
from plainzero.arena.ladder_files import BUNDLED, read_ladder

ROOT = Path(__file__).parents[1]
FILES = sorted(BUNDLED.glob("*.json"))


def test_the_page_has_the_tables_of_the_bundled_ladders():
    program = runpy.run_path(str(ROOT / "benchmarks" / "ladders.py"))
    written = (ROOT / "docs" / "ladders.md").read_text()
    assert written.endswith(program["START"] + program["sections"]()), (
        "run python benchmarks/ladders.py"
    )


def test_gomoku_go_othello_hex_and_connect_four_have_a_ladder():
    assert {file.stem for file in FILES} >= {"gomoku", "go", "othello", "hex", "connect-four"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_bundled_ladder_is_complete(file):
    ladder = read_ladder(file)
    assert ladder.game == make_game(file.stem).name and ladder.anchor == "uct:1000"
    assert ladder.made["command"].startswith(f"plainzero rate {file.stem}")
    assert len(ladder.rungs) >= 7 and ladder.games >= 100
    assert not any(agent.startswith("run:") for agent in ladder.agents)
    assert (ROOT / "docs" / "images" / f"ladder_{file.stem.replace('-', '_')}.svg").is_file()
