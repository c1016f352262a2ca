"""Runs the command line inside the test's process; positions to ask it about."""

import io
from typing import NamedTuple

import numpy as np
import pytest

from plainzero import make_game
from plainzero.cli.main import main
from plainzero.opponents.perfect import move_outcomes
from plainzero.opponents.solved_positions import write_positions


class Output(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def plainzero(capsys, monkeypatch):
    """plainzero("search", "trio") -> Output; COLUMNS keeps tables in one piece."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments, typed=""):
        if typed:
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(list(arguments))
        return Output(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(plainzero):
    """Runs what must be refused with one sentence, and returns that sentence."""

    def run(*arguments):
        code, out, err = plainzero(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("plainzero: ") and err.count("\n") == 1
        return err

    return run


@pytest.fixture(scope="module")
def positions_file(tmp_path_factory):
    """Solved positions of tic-tac-toe after four moves."""
    game, generator, played, states = make_game("tic-tac-toe"), np.random.default_rng(1), [], []
    for _ in range(60):
        state, moves = game.new_state(), []
        for _ in range(4):
            moves.append(int(generator.choice(game.legal(state))))
            game.apply(state, moves[-1])
        played.append(moves)
        states.append(state)
    path = tmp_path_factory.mktemp("positions") / "some.csv"
    write_positions(game, path, played, move_outcomes(game, states))
    return str(path)
