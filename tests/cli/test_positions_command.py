"""`plainzero positions`."""

from itertools import islice

import numpy as np
import pytest

from plainzero import make_game
from plainzero.opponents.solved_positions import bundled_positions, read_positions

pytestmark = pytest.mark.slow


def test_set_is_written_and_described(plainzero, tmp_path):
    path = tmp_path / "set.csv"
    output = plainzero(
        "positions", "tic-tac-toe", "--count", "50", "--table", "1", "--out", str(path)
    )
    assert output.code == 0
    assert "50 positions of plies 1 to 7" in output.out
    found = read_positions(make_game("tic-tac-toe"), path)
    counts = np.bincount(found.plies, minlength=9)
    assert output.out.splitlines()[-1] == "by ply: " + " ".join(map(str, counts))


def test_bundled_set_is_what_the_command_makes(plainzero, tmp_path):
    path = tmp_path / "set.csv"
    options = ("--plies", "30:4 35:5 39-40:2", "--seed", "0", "--table", "64")
    output = plainzero("positions", "connect-four", *options, "--out", str(path))
    assert output.code == 0 and "13 positions of plies 30 to 40" in output.out
    header, *rows = bundled_positions(make_game("connect-four")).read_text().splitlines()
    expected = [header]
    for ply, count in ((30, 4), (35, 5), (39, 2), (40, 2)):
        expected += islice((row for row in rows if ply_of(row) == ply), count)
    assert path.read_text().splitlines() == expected
    assert [ply_of(row) for row in rows] == sorted(map(ply_of, rows))


def ply_of(row):
    return len(row.split(",")[0].split())


def test_plies_with_fewer_positions_than_asked_for_give_those_they_have(plainzero, tmp_path):
    path = tmp_path / "set.csv"
    output = plainzero("positions", "tic-tac-toe", "--plies", "5:3 0-1:9", "--out", str(path))
    # The first move cannot go wrong; it leads to three positions, up to symmetry.
    assert output.out.splitlines()[-1] == "by ply: 0 3 0 0 0 3 0 0 0"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--plies", "5:17,6:24"], "'5:17,6:24' is not PLY:COUNT or PLY-PLY:COUNT"),
        (["--plies", "5"], "'5' is not PLY:COUNT"),
        (["--plies", "5:-1"], "'5:-1' is not PLY:COUNT"),
        (["--plies", "5:0"], "'5:0' must name plies from 0 to 8 in rising order, and 1 position"),
        (["--plies", "3-9:1"], "'3-9:1' must name plies from 0 to 8"),
        (["--plies", "4-3:1"], "'4-3:1' must name plies from 0 to 8 in rising order"),
        (["--plies", "3-5:1 4:2"], "'4:2' names ply 4 a second time"),
        (["--plies", " "], "no plies given"),
        (["--plies", "5:1", "--count", "6000"], "leave out --count and --early"),
        (["--plies", "5:1", "--early", "0"], "leave out --count and --early"),
    ],
)
def test_wrong_counts_of_plies_are_refused(refused, tmp_path, options, words):
    assert words in refused("positions", "tic-tac-toe", *options, "--out", str(tmp_path / "x.csv"))
    assert not (tmp_path / "x.csv").exists()


def test_games_without_perfect_play_are_refused(refused, tmp_path):
    sentence = refused("positions", "trio", "--out", str(tmp_path / "set.csv"))
    assert "there is no solver for trio" in sentence
    assert not (tmp_path / "set.csv").exists()


def test_missing_folder_is_refused_before_the_work(refused, tmp_path):
    sentence = refused("positions", "tic-tac-toe", "--out", str(tmp_path / "no" / "set.csv"))
    assert "there is no folder" in sentence
