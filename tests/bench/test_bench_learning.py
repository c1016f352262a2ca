"""`plainzero bench learning`: trains by the default command, then plays against a yardstick."""

import dataclasses
import json

import pytest

from plainzero import check_game, make_game
from plainzero.bench.learning import (
    STRANGER_GAMES,
    LearnedGame,
    LearningReport,
    Strength,
    _at,
    yardstick,
)
from plainzero.cli.bench import _print_learning

QUICK = ("--games", "2", "--simulations", "4", "--yardstick", "random", "--device", "cpu", "--json")
SMALL = (
    *("--set", "training.generation_positions=60", "--set", "selfplay.games=8"),
    *("--set", "run.assess_seconds=0", "--set", "network.blocks=1", "--set", "run.backend=torch"),
)


@pytest.mark.slow
def test_a_game_is_trained_and_measured_at_three_points(plainzero, tmp_path):
    arguments = ("bench", "learning", "tic-tac-toe", "--folder", str(tmp_path), *QUICK)
    code, out, _ = plainzero(*arguments, "--minutes", "0.5", *SMALL)
    (row,) = json.loads(out)["rows"]
    assert (code, row["failure"], row["yardstick"]) == (0, "", "random")
    assert [at["share"] for at in row["strengths"]] == [0.25, 0.5, 1.0]
    first, _, last = row["strengths"]
    assert row["first_generation_seconds"] <= first["seconds"] <= last["seconds"]
    assert 0 < first["step"] <= last["step"] and first["games"] <= last["games"]
    assert 0 <= last["score"] <= 1 and last["interval"] is None  # of one opening
    code, out, err = plainzero(*arguments)
    assert code == 2 and "is already a run" in err
    code, out, _ = plainzero(*arguments, "--minutes", "0.5", "--measure-only")
    assert code == 0 and json.loads(out)["rows"][0]["strengths"] == row["strengths"]


def test_a_run_without_a_generation_is_a_failure(plainzero, tmp_path):
    code, out, _ = plainzero(
        *("bench", "learning", "tic-tac-toe", "--folder", str(tmp_path), "--measure-only"), *QUICK
    )
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["failure"] == "no generation was completed"


def test_an_unknown_game_is_refused_before_anything_is_trained(plainzero, tmp_path):
    code, out, err = plainzero("bench", "learning", "shogi", "--folder", str(tmp_path))
    assert (code, out) == (2, "") and "there is no game 'shogi'" in err
    assert not any(tmp_path.iterdir())


def test_a_score_has_an_interval_only_if_one_can_be_computed(capsys):
    at = Strength(1.0, 60.0, 100, 50, 10.0, 1.0, 0.5, score=0.5, interval=None)
    known = dataclasses.replace(at, score=0.9, interval=(0.7, 0.97))
    unplayed = dataclasses.replace(at, score=None)
    row = LearnedGame("a game", "random", 1.0, [at, known, unplayed])
    _print_learning(LearningReport({}, {}, {}, [row]))
    out = capsys.readouterr().out
    assert "50%" in out and "90% (70%–97%)" in out
    assert out.count("(") == 1 and "100%" not in out


def test_strength_is_that_of_the_latest_complete_generation():
    metrics = [{"seconds": 10.0}, {"seconds": 20.0}, {"seconds": 30.0}]
    assert [_at(seconds, metrics)["seconds"] for seconds in (5, 10, 29, 40)] == [10, 10, 20, 30]


def test_bundled_games_have_yardsticks_of_their_own():
    assert yardstick("gomoku") == "threats:400"
    assert yardstick("gomoku(size=9)") == "uct:1000"


@pytest.mark.slow
@pytest.mark.parametrize("name", STRANGER_GAMES)
def test_the_strangers_games_are_in_order(name):
    assert check_game(make_game(name), games=4, seed=1) == []
