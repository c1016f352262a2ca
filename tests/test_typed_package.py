"""A user's script, checked by mypy --strict against the package as it is installed."""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="needs mypy")

SOURCES = Path(__file__).parents[1] / "src"

SCRIPT = '''\
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import plainzero
import plainzero.search.config as config_module
from plainzero import Game, Grid, SearchConfig, Searcher, SearchResult, StopFlag, field, search


class Race(Game):
    """Players take one or two steps; whoever reaches the end wins."""

    length: int = 5
    num_actions = 2
    observation_shape = (1,)
    max_turns = 5

    def fields(self) -> dict[str, Any]:
        return {"place": field(np.int8)}

    def legal_actions(self, state: Any, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        return 2

    def play(self, state: Any, action: Any) -> None:
        state.place += action + 1
        if state.place >= self.length:
            self.win(state, state.to_play)
        else:
            self.end_turn(state)

    def observe(self, state: Any, planes: Any) -> None:
        planes[0] = state.place


def evaluate(planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return np.zeros((len(planes), 2), np.float32), np.zeros(len(planes), np.float32)


game = Race()
state = game.new_state()
config: SearchConfig = config_module.SearchConfig(simulations=20)
result = search(game, state, evaluate, config)
assert_type(result, SearchResult)
assert_type(result.best_action, int)
assert_type(result.value, float)
assert_type(result.visits, NDArray[np.int64])
assert_type(result.principal_variation, list[int])
assert_type(search(game, [state, state], "rollout", stop=StopFlag()), list[SearchResult])
assert_type(plainzero.search(game, state), SearchResult)
searcher = Searcher(game, evaluate, config)
assert_type(searcher.search(state), SearchResult)
assert_type(searcher.search([state]), list[SearchResult])
for edge in result.tree.edges():
    assert_type(edge.visits, int)
print(result.best_action, Grid)
'''

MISTAKES = """\
from plainzero import SearchConfig, make_game, search

game = make_game("tic-tac-toe")
search(game, game.new_state(), lambda planes: 3)
search(game, game.new_state()).best_move
search(game, game.new_state(), simulations=3)
SearchConfig(simulations="many")
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """Runs mypy on a script, in an environment in which the sources are installed."""
    folder = tmp_path_factory.mktemp("typed")
    venv.create(folder / "environment", with_pip=False)
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    paths = [SOURCES, *site.getsitepackages()]
    (packages / "plainzero.pth").write_text("\n".join(map(str, paths)))

    def run(script: str) -> list[str]:
        (folder / "script.py").write_text(script)
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "script.py"]
        command += [f"--python-executable={folder / 'environment' / 'bin' / 'python'}"]
        environment = {k: v for k, v in os.environ.items() if k != "MYPYPATH"}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.stdout.splitlines()[:-1]

    return run


def test_a_users_script_passes(mypy, tmp_path):
    assert mypy(SCRIPT) == []
    (tmp_path / "script.py").write_text(SCRIPT)
    program = [sys.executable, "script.py"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_a_users_mistakes_are_found(mypy):
    found = {line.split(":")[1] for line in mypy(MISTAKES) if "error:" in line}
    assert found == {"4", "5", "6", "7"}
