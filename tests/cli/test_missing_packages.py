"""Without the packages of an extra, a command says which extra to install, and the rest works."""

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

# Runs commands one after the other, and tells of each its code and what it wrote.
PROGRAM = """
import contextlib
import io
import json
import sys

class Blocker:
    blocked = set(sys.argv[1].split(","))

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from plainzero.cli.main import main
told = []
for command in json.loads(sys.argv[2]):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = main(command.split())
    told.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""


OWN_GAME = (
    "from plainzero.games.bundled.tic_tac_toe import TicTacToe\n\n\n"
    "class Own(TicTacToe):\n    pass\n"
)


class Run(NamedTuple):
    code: int
    out: str
    err: str


def run_without(packages, *commands, cwd):
    """What came of each of the commands."""
    program = [sys.executable, "-c", PROGRAM, ",".join(packages), json.dumps(commands)]
    told = subprocess.run(program, capture_output=True, text=True, cwd=cwd, timeout=300)
    assert (told.returncode, told.stderr) == (0, "")
    return [Run(*run) for run in json.loads(told.stdout)]


LEARNING = (
    *("torch", "safetensors", "pyarrow", "tomli_w", "tensorboard", "matplotlib"),
    *("onnx", "onnxruntime"),
)


COMMANDS = (
    "train tic-tac-toe",
    "doctor runs/first",
    "evaluate runs/first",
    "export runs/first --onnx net.onnx",
    "match run:runs/first:10 random",
    "match run:runs/first:10 random --game tic-tac-toe",
    "rate random run:runs/first:0",
    "sweep runs/first --parameter c_puct --values 1,2",
    "play tic-tac-toe --opponent run:runs/first:200",
)


def test_commands_that_learn_name_the_extra(tmp_path):
    runs = run_without(LEARNING, *COMMANDS, cwd=tmp_path)
    for command, run in zip(COMMANDS, runs, strict=True):
        assert (run.code, run.out) == (2, ""), command
        assert run.err.startswith("plainzero: this needs the package "), command
        assert "pip install 'plainzero[learn]'" in run.err and run.err.count("\n") == 1, command
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["safetensors", "pyarrow", "tomli_w"])
def test_every_package_of_the_extra_is_asked_for(tmp_path, package):
    (run,) = run_without([package], "train tic-tac-toe", cwd=tmp_path)
    assert run.code == 2
    assert f"package {package}: pip install 'plainzero[learn]'" in run.err


def test_own_game_is_not_blamed_for_a_missing_package(tmp_path):
    (tmp_path / "own.py").write_text(OWN_GAME)
    (run,) = run_without(LEARNING, "train own.py:Own", cwd=tmp_path)
    assert run.code == 2 and "pip install 'plainzero[learn]'" in run.err


@pytest.mark.parametrize("game", ["tic-tac-toe", "own.py", "own.py:Own"])
def test_an_old_pytorch_is_one_sentence_and_not_the_games_fault(tmp_path, game):
    (tmp_path / "own.py").write_text(OWN_GAME)
    program = (
        "import sys, torch; torch.__version__ = '2.3.1'; "
        "from plainzero.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "train", game],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert (ended.returncode, ended.stderr) == (
        2,
        "plainzero: PyTorch 2.3.1 is installed; PlainZero needs 2.4 or newer: "
        "pip install --upgrade torch\n",
    )


def test_plot_names_its_own_extra(tmp_path):
    command = "rate random uct:2 --game tic-tac-toe --games 2 --plot ladder.svg"
    (run,) = run_without(LEARNING, command, cwd=tmp_path)
    assert run.code == 2 and "pip install 'plainzero[plots]'" in run.err


def test_agents_without_a_network_play_without_any_of_it(tmp_path):
    commands = ("match uct:5 random --game tic-tac-toe --games 2 --json", "match uct:5 random")
    played, unsaid = run_without(LEARNING, *commands, cwd=tmp_path)
    assert played.code == 0, played.err
    assert "--game" in unsaid.err
