"""`plainzero search`: what it shows, what it refuses, and how Ctrl-C ends it."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import plainzero as package

UNCOMPILABLE = '''
import numpy as np
from plainzero import Game, field

class Odd(Game):
    """A game whose rule formats a text, which does not compile."""
    num_actions, observation_shape, max_turns = 2, (1,), 1
    def fields(self):
        return {"last": field(np.int8)}
    def reset(self, state):
        state.last = 1 // int(state.last) if RAISES else 0
    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, len("{}".format(state.last))
        return 2
    def play(self, state, action):
        self.win(state, 0)
        self.end_turn(state)
    def observe(self, state, planes):
        planes[0] = state.last
'''


def search_json(plainzero, *arguments):
    code, out, err = plainzero("search", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_shows_board_moves_and_line(plainzero):
    code, out, err = plainzero("search", "tic-tac-toe", "--moves", "a1 b2 a2 b1")
    assert (code, err) == (0, "")
    assert " 1 x  o  ." in out and " 2 x  o  ." in out
    assert "best move  a3" in out
    assert "first player to play" in out
    rows = [line.split() for line in out.splitlines() if "%" in line]
    assert rows[0][0] == "a3"
    visits = [int(row[2].replace(",", "")) for row in rows]
    assert visits == sorted(visits, reverse=True) and sum(visits) == 10_000


def test_json_equals_the_library(plainzero):
    found = search_json(
        plainzero, "tic-tac-toe", "--moves", "b2", "--simulations", "300", "--seed", "5"
    )
    game = package.make_game("tic-tac-toe")
    state = game.new_state()
    game.apply(state, game.parse_action("b2"))
    result = package.search(game, state, "rollout", package.SearchConfig(simulations=300), seed=5)
    assert found["visits"] == {game.action_name(a): result.visits[a] for a in game.legal(state)}
    assert found["best"] == game.action_name(result.best_action)
    assert found["value"] == result.value and found["values"] == result.values.tolist()
    assert found["moves"][0] == found["principal_variation"][0] == found["best"]
    assert sum(found["prior"].values()) == pytest.approx(1)
    assert found["simulations"] == 300 == found["config"]["simulations"]
    assert found["nodes"] == len(result.tree) and found["tree_bytes"] > found["used_tree_bytes"] > 0
    assert not found["is_tree_full"] and not found["proven"] and found["seconds"] > 0


def test_options_reach_the_search(plainzero):
    settings = ("--set", "proven_values=true", "--set", "c_uct=2")
    found = search_json(plainzero, "tic-tac-toe", "--moves", "a1,b1", *settings)
    assert found["proven"] and found["value"] == 1.0
    assert found["exact"][found["best"]] == 1.0
    assert found["config"]["c_uct"] == 2.0
    uniform = search_json(plainzero, "tic-tac-toe", "--evaluator", "uniform", "--set", "nodes=50")
    assert uniform["config"]["selection"] == "puct"
    assert uniform["nodes"] == 50


def test_seconds_alone_set_the_budget(plainzero):
    found = search_json(plainzero, "tic-tac-toe", "--seconds", "0.2")
    assert found["config"]["simulations"] == 0
    assert 0.15 < found["seconds"] < 5 and found["simulations"] > 100


def test_full_tree_is_noted(plainzero):
    out = plainzero("search", "tic-tac-toe", "--set", "max_bytes=20000").out
    assert "the tree was full (max_bytes=20000)" in out


def test_chance_is_named_or_drawn(plainzero):
    game = "2048(size=2,target=32)"
    named = search_json(plainzero, game, "--moves", "2@a1 4@a2 right", "--simulations", "50")
    assert named["played"][:3] == ["2@a1", "4@a2", "right"] and len(named["played"]) == 4
    drawn, again = (
        search_json(plainzero, game, "--simulations", "50", "--seed", "3") for _ in range(2)
    )
    assert drawn["played"] == again["played"]
    assert len(drawn["played"]) == 2 and set(drawn["moves"]) <= {"up", "right", "down", "left"}


def test_three_players_have_a_value_each(plainzero):
    found = search_json(plainzero, "trio", "--moves", "a1", "--simulations", "200")
    assert found["to_play"] == 1 and len(found["values"]) == 3
    assert sum(found["values"]) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["conect-four"], ["conect-four", "did you mean connect-four?"]),
        (["trio(length=3)"], ["no parameter 'length'", "size=4"]),
        (["trio(size=x)"], ["size must be int"]),
        (["tic-tac-toe", "--set", "c_punct=2"], ["c_punct", "did you mean c_puct?"]),
        (["tic-tac-toe", "--set", "c_puct"], ["invalid setting 'c_puct'", "OPTION=VALUE"]),
        (["tic-tac-toe", "--set", "c_puct=much"], ["c_puct is 'much'", "a number"]),
        (["tic-tac-toe", "--set", "selection=best"], ["selection is 'best'", "gumbel"]),
        (["tic-tac-toe", "--set", "leaves=0"], ["leaves is 0", "1 or more"]),
        (["tic-tac-toe", "--moves", "a1 z9"], ["no move 'z9'; legal moves: b1 c1 a2"]),
        (["tic-tac-toe", "--moves", "a1 a1"], ["a1 is not legal here", "b1 c1"]),
        (["tic-tac-toe", "--moves", "a1 b1 a2 b2 a3"], ["the game is over after a1 b1 a2 b2 a3"]),
        (["tic-tac-toe", "--moves", "a1 b1 a2 b2 a3 b3"], ["b3 cannot be played", "over"]),
        (["tic-tac-toe", "--simulations", "0"], ["no budget", "simulations"]),
        (["tic-tac-toe", "--simulations", "-5"], ["simulations is -5"]),
        (["tic-tac-toe", "--seconds", "0"], ["no budget"]),
        (["tic-tac-toe", "--seconds", "-1"], ["seconds is -1"]),
        (["tic-tac-toe", "--seconds", "nan"], ["seconds is nan"]),
        (["tic-tac-toe", "--seconds", "1e300"], ["seconds is 1e+300", "maximum is 1,000,000,000"]),
        (["tic-tac-toe", "--simulations", "9" * 20], ["9" * 20, "maximum is 2,000,000,000"]),
        (["tic-tac-toe", "--set", f"nodes={'9' * 20}"], ["nodes is 999", "the maximum"]),
        (["tic-tac-toe", "--threads", "0"], ["threads is 0"]),
        (
            ["tic-tac-toe", "--evaluator", "oracle"],
            ["unknown evaluator 'oracle'", "uniform or rollout"],
        ),
        (["tic-tac-toe", "--set", "max_bytes=10"], ["max_bytes=10", "at least"]),
        (["trio", "--set", "proven_values=true"], ["proven_values", "trio has 3"]),
    ],
)
def test_bad_input_is_one_sentence(refused, arguments, words):
    for sentence in (refused("search", *arguments), refused("search", *arguments, "--json")):
        assert all(word in sentence for word in words)


@pytest.mark.parametrize(
    ("raises", "words"), [(True, "raises ZeroDivisionError"), (False, "do not compile")]
)
@pytest.mark.slow
def test_rules_that_do_not_run_point_to_the_check(plainzero, tmp_path, monkeypatch, raises, words):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # no game has passed the quick check
    file = tmp_path / f"odd_{raises}.py"
    file.write_text(f"RAISES = {raises}\n{UNCOMPILABLE}")
    code, out, err = plainzero("search", f"{file}:Odd")
    *notes, sentence = err.splitlines()
    assert (code, out) == (2, "") and len(notes) == (not raises)
    assert words in sentence and "`plainzero check" in sentence


def test_interrupt_shows_the_result_so_far():
    arguments = ["search", "tic-tac-toe", "--set", "c_uct=1.5", "--seconds", "120", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", _ANNOUNCED, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr.readline() == "searching\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "stopping; Ctrl-C again quits at once\n")
    found = json.loads(out)
    assert found["was_interrupted"] and found["simulations"] > 0 and found["seconds"] < 120


# The command itself, but for a word on stderr when compiling is over.
_ANNOUNCED = """
import sys
from plainzero.cli.terminal import search_progress as thinking
from plainzero.cli.main import main

compile = thinking._compile
def announced(*arguments):
    compile(*arguments)
    print("searching", file=sys.stderr)
thinking._compile = announced
sys.exit(main(sys.argv[1:]))
"""
