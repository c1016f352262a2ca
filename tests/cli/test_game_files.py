"""Commands take a game's file without its class, if it defines one game."""

from pathlib import Path

import pytest
from small_runs import SETTINGS

from plainzero import make_game
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunFolder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Goes to the folder of the game's file; the result goes to another one."""
    monkeypatch.chdir(EXAMPLES)
    return lambda: monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("game", ["nim.py", "nim.py(stones=9)", "nim.py:Nim(stones=9)"])
def test_search_and_check_take_a_file(plainzero, elsewhere, game):
    for command in (["search", game, "--simulations", "50"], ["check", game, "--games", "2"]):
        code, out, _ = plainzero(*command)
        assert code == 0 and make_game(game).name in out


def test_play_takes_a_file(plainzero, elsewhere):
    code, out, _ = plainzero("play", "nim.py", "--side", "none", "--simulations", "50")
    assert code == 0 and "nim" in out


@pytest.mark.slow
@pytest.mark.parametrize("game", ["nim.py", "nim.py:Nim", "nim.py(stones=9)"])
def test_a_run_of_a_file_is_resumed_in_another_folder(plainzero, elsewhere, tmp_path, game):
    folder = tmp_path / "run"
    settings = [f"--set={each}" for each in SETTINGS if not each.startswith("network.")]
    options = [f"--run={folder}", "--threads=1", "--generations=1", *settings]
    assert plainzero("train", game, *options).code == 0
    trained = make_game(game)
    elsewhere()
    assert RunFolder(folder).read_game() == trained
    assert plainzero("train", "run", "--generations=2").code == 0
    assert len(read_metrics(RunFolder(folder).metrics_file)) == 2
