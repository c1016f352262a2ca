"""Without the packages of an extra, a command says which extra to install, and the rest works."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys

class Blocker:
    blocked = set(sys.argv[1].split(","))

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from tesuji.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def run_without(packages, *arguments, cwd):
    command = [sys.executable, "-c", PROGRAM, ",".join(packages), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


LEARNING = ("torch", "safetensors", "pyarrow", "tensorboard", "matplotlib", "onnx", "onnxruntime")


@pytest.mark.parametrize(
    "command",
    [
        "train tic-tac-toe",
        "doctor runs/first",
        "evaluate runs/first",
        "export runs/first --onnx net.onnx",
        "match run:runs/first:10 random",
        "match run:runs/first:10 random --game tic-tac-toe",
        "rate random run:runs/first:0",
        "sweep runs/first --parameter c_puct --values 1,2",
        "play tic-tac-toe --opponent run:runs/first:200",
    ],
)
def test_command_that_learns_names_the_extra(tmp_path, command):
    run = run_without(LEARNING, *command.split(), cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("tesuji: this needs the package ")
    assert "pip install 'tesuji[learn]'" in run.stderr and run.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", ["safetensors", "pyarrow"])
def test_every_package_of_the_extra_is_asked_for(tmp_path, package):
    run = run_without([package], "train", "tic-tac-toe", cwd=tmp_path)
    assert run.returncode == 2
    assert f"package {package}: pip install 'tesuji[learn]'" in run.stderr


def test_own_game_is_not_blamed_for_a_missing_package(tmp_path):
    source = "from tesuji.games.tic_tac_toe import TicTacToe\n\n\nclass Own(TicTacToe):\n    pass\n"
    (tmp_path / "own.py").write_text(source)
    run = run_without(LEARNING, "train", "own.py:Own", cwd=tmp_path)
    assert run.returncode == 2 and "pip install 'tesuji[learn]'" in run.stderr


def test_plot_names_its_own_extra(tmp_path):
    arguments = "rate random uct:2 --game tic-tac-toe --games 2 --plot ladder.svg"
    run = run_without(LEARNING, *arguments.split(), cwd=tmp_path)
    assert run.returncode == 2 and "pip install 'tesuji[plots]'" in run.stderr


def test_agents_without_a_network_play_without_any_of_it(tmp_path):
    arguments = "match uct:5 random --game tic-tac-toe --games 2 --json"
    run = run_without(LEARNING, *arguments.split(), cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    unsaid = run_without(LEARNING, *"match uct:5 random".split(), cwd=tmp_path)
    assert "--game" in unsaid.stderr
