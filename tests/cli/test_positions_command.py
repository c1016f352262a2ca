"""`tesuji positions`."""

import numpy as np

from tesuji import make_game
from tesuji.opponents.positions import read_positions


def test_set_is_written_and_described(tesuji, tmp_path):
    path = tmp_path / "set.csv"
    output = tesuji("positions", "tic-tac-toe", "--count", "50", "--table", "1", "--out", str(path))
    assert output.code == 0
    assert "50 positions of plies 1 to 7" in output.out
    found = read_positions(make_game("tic-tac-toe"), path)
    counts = np.bincount(found.plies, minlength=9)
    assert output.out.splitlines()[-1] == "by ply: " + " ".join(map(str, counts))


def test_games_without_perfect_play_are_refused(refused, tmp_path):
    sentence = refused("positions", "trio", "--out", str(tmp_path / "set.csv"))
    assert "perfect play of trio is not known" in sentence
    assert not (tmp_path / "set.csv").exists()


def test_missing_folder_is_refused_before_the_work(refused, tmp_path):
    sentence = refused("positions", "tic-tac-toe", "--out", str(tmp_path / "no" / "set.csv"))
    assert "there is no folder" in sentence
