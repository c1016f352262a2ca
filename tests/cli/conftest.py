"""Runs the command line inside the test's process."""

import io
from typing import NamedTuple

import pytest

from tesuji.cli.main import main


class Output(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def tesuji(capsys, monkeypatch):
    """tesuji("search", "trio") -> Output; COLUMNS keeps tables in one piece."""
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments, typed=""):
        if typed:
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(list(arguments))
        return Output(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(tesuji):
    """Runs what must be refused with one sentence, and returns that sentence."""

    def run(*arguments):
        code, out, err = tesuji(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("tesuji: ") and err.count("\n") == 1
        return err

    return run
