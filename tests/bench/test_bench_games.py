"""`plainzero bench games`: one row per game."""

import json


def test_a_row_has_the_rates_and_sizes_of_a_game(plainzero):
    code, out, _ = plainzero("bench", "games", "tic-tac-toe", "--json", "--repeats", "1")
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row["game"] == "tic-tac-toe"
    assert 5 <= row["plies"]["ours"] <= 9
    for measure in ("playouts", "uct", "puct"):
        assert row[measure]["ours"] > 0
    assert row["node_bytes"] > row["state_bytes"] > 0


def test_an_unknown_game_is_refused_before_anything_is_measured(plainzero):
    code, out, err = plainzero("bench", "games", "shogi")
    assert (code, out) == (2, "") and "there is no game 'shogi'" in err
