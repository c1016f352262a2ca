"""For all tests: markers, the command line, and Hypothesis without a deadline (it compiles)."""

import io
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent

settings.register_profile("plainzero", deadline=None)
settings.load_profile("plainzero")


def pytest_addoption(parser):
    parser.addoption(
        "--needs-all",
        action="store_true",
        help="fail instead of skipping if the browser, the built page, GNU Go or NVIDIA's "
        "compiler is missing",
    )


def pytest_collection_modifyitems(items):
    """Marks tests by their folder: web is browser, any gpu folder is gpu."""
    for item in items:
        folders = item.path.relative_to(TESTS).parts[:-1]
        if "web" in folders:
            item.add_marker(pytest.mark.browser)
        if "gpu" in folders:
            item.add_marker(pytest.mark.gpu)


class Output(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def plainzero(capsys, monkeypatch):
    """Runs a command in this process: plainzero("search", "trio") -> Output."""
    from plainzero.cli.main import main

    monkeypatch.setenv("COLUMNS", "120")  # keeps tables in one piece

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
