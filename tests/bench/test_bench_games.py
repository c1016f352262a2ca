"""`plainzero bench games`: a row for each game that is named."""

import json


def test_a_row_says_what_rules_and_search_of_a_game_do(plainzero):
    code, out, _ = plainzero("bench", "games", "tic-tac-toe", "--json", "--repeats", "1")
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row["game"] == "tic-tac-toe"
    assert 5 <= row["plies"]["ours"] <= 9
    for measure in ("playouts", "uct", "puct"):
        assert row[measure]["ours"] > 0
    assert row["node_bytes"] > row["state_bytes"] > 0


def test_a_game_that_there_is_not_is_refused_before_anything_is_measured(plainzero):
    code, out, err = plainzero("bench", "games", "shogi")
    assert (code, out) == (2, "") and "there is no game 'shogi'" in err
