"""`plainzero games` and `plainzero check`."""

import json
from pathlib import Path

from plainzero.games import bundled_games

FAULTY = '''
import numpy as np
from plainzero import Game, field

class Faulty(Game):
    """A game in which a draw is worth something."""
    num_actions, observation_shape, max_turns = 2, (1,), 1
    def fields(self):
        return {"last": field(np.int8)}
    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, 1
        return 2
    def play(self, state, action):
        state.last = action
        state.returns[0] = 0.5
        self.finish(state)
        self.end_turn(state)
    def observe(self, state, planes):
        planes[0] = state.last
'''


def test_table_names_every_game_with_its_parameters(plainzero):
    code, out, err = plainzero("games")
    assert (code, err) == (0, "")
    for name in bundled_games():
        assert f" {name} " in out
    assert "in_a_row=4" in out


def test_a_narrow_table_cuts_no_parameter(plainzero, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = plainzero("games").out
    assert "…" not in out and "`" not in out
    assert "double_three=forbidden" in out and "attacker_ellipse=30.0," in out


def test_json_describes_every_game(plainzero):
    games = {game["name"]: game for game in json.loads(plainzero("games", "--json").out)["games"]}
    assert games.keys() == bundled_games().keys()
    assert games["connect-four"]["parameters"] == {"rows": 6, "cols": 7, "in_a_row": 4}
    assert games["trio"]["players"] == 3
    assert games["2048"]["description"].startswith("Slide and merge")


def test_game_in_order_says_what_was_tried(plainzero):
    code, out, err = plainzero("check", "tic-tac-toe", "--games", "3", "--seed", "7")
    assert (code, err) == (0, "")
    assert "tic-tac-toe passes the check: up to 3 random games with seed 7" in out


def test_finding_is_one_line_and_exit_code_1(plainzero, tmp_path):
    (tmp_path / "faulty.py").write_text(FAULTY)
    code, out, err = plainzero("check", f"{tmp_path / 'faulty.py'}:Faulty")
    assert (code, err) == (1, "")
    assert out.startswith("zero sum: ") and out.count("\n") == 1


def test_a_game_for_the_cpu_alone_passes_with_a_line_that_says_why(plainzero, tmp_path):
    source = (Path(__file__).parents[2] / "examples" / "nim.py").read_text()
    source = source.replace("state.left -= action + 1", "state.left -= [action + 1][0]")
    (tmp_path / "listing.py").write_text(source)
    code, out, err = plainzero("check", str(tmp_path / "listing.py"))
    assert (code, err) == (0, "")
    assert out.startswith("gpu: the rules run on the CPU and not on a GPU: play builds a list")
    assert "nim passes the check" in out


def test_check_does_not_refer_to_itself(refused, tmp_path):
    source = FAULTY.replace(
        "    def fields", "    def __init__(self):\n        pass\n    def fields"
    )
    (tmp_path / "made.py").write_text(source)
    sentence = refused("check", str(tmp_path / "made.py"))
    assert "Faulty has an __init__ (made.py, line 8)" in sentence
    assert "plainzero check" not in sentence


def test_check_refuses_what_is_no_game(refused, tmp_path):
    (tmp_path / "broken.py").write_text("def :")
    (tmp_path / "empty.py").write_text("")
    assert "tic-tac-toe" in refused("check", "tictactoe")
    missing = f"{tmp_path}/none.py"
    assert refused("check", missing) == f"plainzero: there is no file {missing!r}\n"
    assert "does not load: SyntaxError" in refused("check", f"{tmp_path}/broken.py:Game")
    assert "no game class 'Game'" in refused("check", f"{tmp_path}/empty.py:Game")
