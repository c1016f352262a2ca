"""`plainzero rate GAME`: a ladder is made, resumed, extended and refused."""

import json
import shutil

import pytest

from plainzero.arena.ladder_files import read_ladder
from plainzero.cli.main import main

FEW = ("--games", "60")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The file of a tic-tac-toe ladder."""
    file = tmp_path_factory.mktemp("ladder") / "ladder.json"
    assert main(["rate", "tic-tac-toe", "--games", "300", "--ladder", str(file)]) == 0
    return file


@pytest.fixture
def ladder_file(made, tmp_path):
    return shutil.copy(made, tmp_path / "ladder.json")


def agents_of(pair):
    return {pair.first, pair.second}


def test_a_ladder_holds_the_natural_agents_and_how_it_was_made(made):
    ladder = read_ladder(made)
    assert ladder.anchor == "uct:1000" and ladder.games >= 300 and not ladder.unrated
    assert {"random", "uct:100", "uct:10000", "puct:1000", "perfect"} <= set(ladder.agents)
    assert ladder.rungs[-1].agent == "random"
    assert ladder.made["command"] == "plainzero rate tic-tac-toe --games 300"
    assert ladder.made["machine"]["cores"] >= 1 and "plainzero" in ladder.made["versions"]


def test_a_ladder_is_shown_drawn_and_written_as_markdown(plainzero, ladder_file, tmp_path):
    plot, markdown, games = (tmp_path / name for name in ("l.svg", "l.md", "g.jsonl"))
    files = ("--plot", str(plot), "--markdown", str(markdown), "--save", str(games))
    before = read_ladder(ladder_file).games
    code, out, err = plainzero("rate", "tic-tac-toe", *FEW, "--ladder", str(ladder_file), *files)
    assert (code, err) == (0, "")
    assert "Elo above uct:1000" in out and "expected" in out and f"saved {ladder_file}" in out
    assert plot.is_file() and plot.with_suffix(".png").is_file()
    assert "| `random` | -" in markdown.read_text()
    played = read_ladder(ladder_file).games - before
    assert played >= 60 and len(games.read_text().splitlines()) == played


def test_an_agent_is_placed_on_a_ladder_by_its_own_games(plainzero, ladder_file):
    before = read_ladder(ladder_file)
    code, out, _ = plainzero(
        "rate", "tic-tac-toe", "uct:20", *FEW, "--ladder", str(ladder_file), "--json"
    )
    after, found = read_ladder(ladder_file), json.loads(out)
    assert code == 0 and "uct:20" in [rating["agent"] for rating in found["ratings"]]
    changed = set(after.pairs) ^ set(before.pairs)
    assert changed and all("uct:20" in agents_of(pair) for pair in changed)


def test_the_game_can_be_named_by_an_option_and_the_anchor_chosen(plainzero, ladder_file):
    options = ("--game", "tic-tac-toe", "--anchor", "random", "--ladder", str(ladder_file))
    code, out, _ = plainzero("rate", *options, "--games", "1", "--json")
    ratings = json.loads(out)["ratings"]
    assert code == 0 and json.loads(out)["anchor"] == "random"
    assert ratings[-1] | {"games": 0, "score": 0} == {
        **{"agent": "random", "label": "random"},
        **{"elo": 0.0, "error": 0.0, "games": 0, "score": 0},
    }


def test_an_agent_that_is_gone_keeps_its_place(plainzero, ladder_file):
    ladder_file.write_text(ladder_file.read_text().replace('"uct:100"', '"gtp:no-such-engine"'))
    code, out, _ = plainzero("rate", "tic-tac-toe", *FEW, "--ladder", str(ladder_file), "--json")
    found = json.loads(out)
    assert code == 0 and "no-such-engine" in [row["label"] for row in found["ratings"]]
    assert "plays no further games: " in found["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rate"], "name a game"),
        (["rate", "tic-tac-toe", "--game", "go"], "name the game once"),
        (["rate", "random", "uct:5", "--minutes", "1"], "--minutes is for ladders"),
        (["rate", "random", "uct:5", "--anchor", "random"], "--anchor is for ladders"),
        (["rate", "tic-tac-toe", "rando"], "unknown agent 'rando'"),
        (["rate", "go", "uct:5", "--ladder", "{ladder}"], "is a ladder of tic-tac-toe, not of go"),
        (["rate", "tic-tac-toe", "--seed", "4", "--ladder", "{ladder}"], "was begun with seed 0"),
        (["rate", "tic-tac-toe", "--plies", "4", "--ladder", "{ladder}"], "openings already"),
        (["rate", "tic-tac-toe", "--plot", "no/such/plot.svg"], "no folder no/such"),
        (["rate", "tic-tac-toe", "--markdown", "no/such/x.md"], "no folder no/such"),
    ],
)
def test_bad_requests_are_refused_in_one_sentence(refused, made, arguments, words):
    assert words in refused(*(part.format(ladder=made) for part in arguments))
