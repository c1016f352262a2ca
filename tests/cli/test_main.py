"""All commands: version, help, and that neither loads anything heavy."""

import itertools
import json
import re
import subprocess
import sys

import pytest

import plainzero as package

COMMANDS = (
    *([name] for name in ("games", "check", "search", "play", "train", "doctor", "export")),
    *([name] for name in ("positions", "match", "rate", "evaluate", "curve", "sweep", "show")),
    *([name] for name in ("gtp", "gomocup", "serve")),
    ["bench"],
    ["bench", "search"],
    ["bench", "games"],
    ["bench", "gpu"],
)


def test_version_is_the_packages(plainzero):
    assert plainzero("--version") == (0, f"plainzero {package.__version__}\n", "")


def test_help_names_every_command(plainzero):
    code, out, _ = plainzero("--help")
    assert code == 0
    for command, *_ in COMMANDS:
        assert f" {command} " in out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_of_a_command_teaches_by_an_example(plainzero, command):
    code, out, _ = plainzero(*command, "--help")
    assert code == 0
    assert command == ["bench"] or "plainzero " + " ".join(command) in out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_usage_says_once_that_an_argument_may_be_repeated(plainzero, command):
    lines = plainzero(*command, "--help").out.splitlines()
    (usage,) = (line for line in lines if "Usage:" in line)
    assert not re.search(r"\.\.\.\S|[\[{]{2}", usage)


@pytest.mark.parametrize("command", [[], *COMMANDS, ["bench", "learning"]], ids=" ".join)
def test_help_fills_its_lines_and_names_no_types(plainzero, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    out = plainzero(*command, "--help").out
    assert not re.search(r"<(bool|str|int|float|list|path)|x>=|default: \(", out)
    paragraphs = out.partition("╭")[0].splitlines()
    for line, following in itertools.pairwise(paragraphs):
        if following.strip():
            next_word = following.split()[0]
            assert not line.strip() or len(f"{line.rstrip()} {next_word}") > 79


def test_help_loads_nothing_heavy():
    program = (
        "import sys, json; from plainzero.cli.main import main; main(['--help']); "
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(json.loads(run.stderr))
    assert "plainzero.cli.search" in loaded
    assert not loaded & {"numpy", "numba", "plainzero.games", "plainzero.search", "torch"}


def test_module_runs_as_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "plainzero.cli", "--version"], capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (0, f"plainzero {package.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sreach"], ["sreach"]),
        (["search"], ["GAME", "plainzero search --help"]),
        (["search", "trio", "--depth", "3"], ["--depth"]),
        (["search", "trio", "--simulations", "many"], ["many", "--simulations"]),
        (["search", "trio", "--seed", "-1"], ["-1", "--seed"]),
        (["check", "trio", "--games", "0"], ["0", "--games"]),
        (["games", "trio"], ["trio"]),
        (["serch"], ["'serch'; did you mean 'search'", "? See plainzero --help"]),
        (
            ["search", "trio", "--simulatons", "3"],
            ["--simulatons; did you mean --simulations? See"],
        ),
        (["train", "trio", "--minutes", "abc"], ["--minutes must be a number, not 'abc'; see"]),
        (["train", "trio", "--minutes", "0"], ["--minutes must be 0.01 or more, not '0'; see"]),
        (["check", "trio", "--games", "1.5"], ["--games must be a whole number, not '1.5'"]),
        (["serve", "--port", "99999"], ["--port must be 65535 or less, not '99999'"]),
        (["train", "runs/none"], ["there is no run runs/none; start one with"]),
    ],
)
def test_wrong_usage_is_one_sentence(refused, arguments, words):
    sentence = refused(*arguments)
    assert all(word in sentence for word in words)


def test_a_missing_run_is_named_on_machines_with_a_gpu_too(refused, monkeypatch):
    monkeypatch.setattr("plainzero.training.precompile.may_have_gpu", lambda: True)
    sentence = refused("train", "runs/none")
    assert "there is no run runs/none; start one with" in sentence
