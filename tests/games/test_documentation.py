"""The example in the documentation passes the check, and the tables are complete."""

import dataclasses
import re
from pathlib import Path

import plainzero
from plainzero.games import bundled_games, make_game
from plainzero.games.check.check_game import check_game
from plainzero.games.contract import PIECES
from plainzero.games.formats.saved_games import read_saved, to_json

DOCS = Path(__file__).parents[2] / "docs"


def test_example_of_the_guide_passes_the_check(tmp_path):
    guide = (DOCS / "write-a-game.md").read_text()
    source = re.search(r"```python\n(# queen\.py\n.*?)```", guide, re.DOTALL)[1]
    (tmp_path / "queen.py").write_text(source)
    game = make_game(f"{tmp_path / 'queen.py'}:Queen(size=6)")
    assert check_game(game, seed=1) == []
    state = game.new_state()
    game.apply(state, game.parse_action("left 2"))
    assert game.text(state).split("\n")[5] == ". . . Q . ."


def test_guide_and_examples_import_from_the_package_root_alone():
    examples = [path.read_text() for path in (DOCS.parent / "examples").glob("*.py")]
    guide = (DOCS / "write-a-game.md").read_text()
    imports = [
        line
        for text in (guide, *examples)
        for line in re.findall(r"^\s*((?:from|import) plainzero.*)$", text, re.MULTILINE)
    ]
    assert len(imports) > 5
    for line in imports:
        names = re.fullmatch(r"from plainzero import (\w+(?:, \w+)*)", line)
        assert names, f"{line!r} reaches past the package's root"
        assert set(names[1].split(", ")) <= set(plainzero.__all__)
    public = {"plainzero", "plainzero.games.formats"}
    named = set(re.findall(r"`(plainzero(?:\.\w+)*)`", guide))
    assert named <= public, "the guide names a module that is not public"


def test_every_name_that_the_guide_imports_in_prose_is_public():
    guide = " ".join((DOCS / "write-a-game.md").read_text().split())
    named = re.findall(r"`(\w+)(?:\([^`]*\))?` \((?:from|in) `plainzero`", guide)
    assert {"grid_symmetries", "cells_in_a_row"} <= set(named)
    assert set(named) <= set(plainzero.__all__)


def test_guide_names_every_kind_of_problem():
    guide = (DOCS / "write-a-game.md").read_text()
    package = Path(__file__).parents[2] / "src" / "plainzero" / "games" / "check"
    sources = "".join(path.read_text() for path in package.glob("*.py"))
    kinds = set(re.findall(r'\.add\(\s*"([^"]+)"', sources))
    assert len(kinds) > 15
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in guide] == []


def test_guide_names_the_pieces_in_their_order():
    guide = (DOCS / "write-a-game.md").read_text()
    assert (
        f"| {', '.join(f'`{piece}`' for piece in PIECES)} | a piece of player 1, 2, 3, …" in guide
    )


def test_game_saved_in_the_guide_can_be_read():
    guide = (DOCS / "write-a-game.md").read_text()
    saved = re.search(r"```json\n(.*?)```", guide, re.DOTALL)[1]
    assert to_json(make_game("tic-tac-toe"), read_saved(saved, make_game)) == saved


def test_page_of_games_names_every_game_with_its_parameters():
    index = (DOCS / "games" / "README.md").read_text()
    for name, cls in bundled_games().items():
        parameters = ", ".join(f"{p.name}={p.default}" for p in dataclasses.fields(cls))
        shown = f"`{parameters}`" if parameters else "none"
        assert f"| [`{name}`]({name}.md) | {shown} |" in index
        assert (DOCS / "games" / f"{name}.md").read_text().count("- Observation:") == 1
