"""`plainzero bench learning`: trains by the default command, then measures strength."""

import json
import threading

import pytest

from plainzero import check_game, make_game
from plainzero.arena.yardsticks.measurement import Measurement
from plainzero.bench import learning as bench_learning
from plainzero.bench.learning import (
    STRANGER_GAMES,
    LearnedGame,
    LearningBenchOptions,
    LearningReport,
    Strength,
    _at,
    measure_learning,
)
from plainzero.cli.terminal.learning_table import print_learning

QUICK = ("--games", "2", "--simulations", "0", "--simulations", "4", "--device", "cpu", "--json")
SMALL = (
    *("--set", "training.generation_positions=60", "--set", "selfplay.games=8"),
    *("--set", "run.assess_seconds=0", "--set", "network.blocks=1", "--set", "run.backend=torch"),
)


@pytest.mark.slow
def test_a_game_is_trained_and_measured_at_three_points(plainzero, tmp_path):
    arguments = ("bench", "learning", "dots-and-boxes", "--folder", str(tmp_path), *QUICK)
    code, out, _ = plainzero(*arguments, "--minutes", "0.2", *SMALL)
    (row,) = json.loads(out)["rows"]
    assert (code, row["failure"], row["target"]) == (0, "", 0.97)
    command = "plainzero train dots-and-boxes --minutes 0.2 --set "
    assert row["training"]["command"].startswith(command) and row["training"]["versions"]["torch"]
    assert row["yardstick"] == "moves that keep the outcome, decisive positions"
    assert [at["share"] for at in row["strengths"]] == [0.25, 0.5, 1.0]
    first, _, last = row["strengths"]
    assert row["first_generation_seconds"] <= first["seconds"] <= last["seconds"]
    assert 0 < first["step"] <= last["step"] and first["games"] <= last["games"]
    assert last["measured"].keys() == {"0", "4"}
    for found in last["measured"].values():
        assert found["interval"][0] <= found["figure"] <= found["interval"][1]
        assert found["sample"] == "50 positions"
    code, out, err = plainzero(*arguments)
    assert code == 2 and "is already a run" in err
    code, out, _ = plainzero(*arguments, "--minutes", "0.2", "--measure-only")
    assert code == 0 and json.loads(out)["rows"] == [row]
    match = ("--yardstick", "random", "--measure-only", "--minutes", "0.2")
    code, out, _ = plainzero(*arguments, *match)
    (row,) = json.loads(out)["rows"]
    assert (row["yardstick"], row["target"]) == ("score, random", None)
    assert row["strengths"][2]["measured"]["4"]["sample"] == "2 games from 1 openings"


def test_a_run_without_a_generation_is_a_failure(plainzero, tmp_path):
    code, out, _ = plainzero(
        *("bench", "learning", "tic-tac-toe", "--folder", str(tmp_path), "--measure-only"), *QUICK
    )
    (row,) = json.loads(out)["rows"]
    assert code == 0 and row["failure"] == "no generation was completed"


def test_a_failure_is_the_whole_message_after_the_traceback():
    failed = bench_learning._last_message
    crash = "Traceback (most recent call last):\n  File x\n    y()\nCUDA error: unknown\nAdvice.\n"
    assert failed(crash) == "CUDA error: unknown Advice."
    assert failed("a warning\nplainzero: no room\n") == "plainzero: no room"
    assert failed("x.py:3: UserWarning: w\n  warnings.warn()\n") == "warnings.warn()"
    assert failed("") == ""


def test_games_are_learned_at_once_and_reported_in_order(monkeypatch, tmp_path):
    both, lines = threading.Barrier(2), []

    def learn(name, options, report):
        report(f"{name}: training")
        both.wait(60)
        return name

    monkeypatch.setattr(bench_learning, "_learn", learn)
    options = LearningBenchOptions(minutes=1, games=0, folder=tmp_path, device="cpu", at_once=2)
    names = ["tic-tac-toe", "trio"]
    assert measure_learning(names, options, lines.append).rows == names
    assert sorted(max(lines, key=len).split("\n")) == ["tic-tac-toe: training", "trio: training"]


@pytest.mark.parametrize(("gpu", "shares"), [({}, ()), ({"gpu": "large"}, ("run.gpu_share=0.5",))])
def test_games_learned_at_once_share_a_gpu(gpu, shares, monkeypatch, tmp_path):
    monkeypatch.setattr(bench_learning, "_gpu", lambda device: gpu)
    monkeypatch.setattr(bench_learning, "_learn", lambda name, options, report: options.settings)
    options = LearningBenchOptions(1, 0, tmp_path, settings=("run.seed=1",), at_once=2)
    assert measure_learning(["trio"], options, print).rows == [(*shares, "run.seed=1")]


def test_an_unknown_game_is_refused_before_anything_is_trained(plainzero, tmp_path):
    code, out, err = plainzero("bench", "learning", "shogi", "--folder", str(tmp_path))
    assert (code, out) == (2, "") and "there is no game 'shogi'" in err
    assert not any(tmp_path.iterdir())


def test_a_figure_has_an_interval_only_if_one_can_be_computed(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    found = {1: Measurement(0.5, None, "2 games"), 100: Measurement(0.9, (0.7, 0.97), "40 games")}
    strengths = [
        Strength(share, 60.0, 100, 50, 600, 10.0, 1.0, 0.5, measured)
        for share, measured in ((0.5, found), (1.0, {}))
    ]
    row = LearnedGame("a game", None, "score, random", 0.8, 1.0, strengths)
    print_learning(LearningReport("2026-11-18", {}, {}, {}, [row]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if " 1 " in line] == ["%"]
    assert any("100   90 % (70–97)" in line for line in lines)
    assert any("target 80 %" in line for line in lines)


def test_strength_is_that_of_the_latest_complete_generation():
    metrics = [{"seconds": 10.0}, {"seconds": 20.0}, {"seconds": 70.0}]
    found = [_at(share, 1.0, metrics)["seconds"] for share in (0.1, 0.25, 0.5, 1.0)]
    assert found == [10, 10, 20, 70]


@pytest.mark.slow
@pytest.mark.parametrize("name", STRANGER_GAMES)
def test_the_strangers_games_are_in_order(name):
    assert check_game(make_game(name), games=4, seed=1) == []
