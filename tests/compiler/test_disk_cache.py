"""Compiled code on disk: found again, never stale, safe for many processes, dispensable."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

GAME = """
import numpy as np
from gains import gain
from plainzero.games.contract import Game, field

BONUS = 5

class Collect(Game):
    rounds: int = 4

    num_players = 1
    num_actions = 1
    observation_shape = (1,)
    max_turns = property(lambda self: self.rounds)
    weight = property(lambda self: 2)

    def fields(self):
        return {"total": field(np.int64)}

    def legal_actions(self, state, actions):
        actions[0] = 0
        return 1

    def extra(self, turn):
        # Long enough to stay a function of its own in machine code.
        total = 0
        for i in range(turn * self.rounds):
            for j in range(i):
                if (i ^ j) % 3 == 0:
                    total += self.rounds * i
                elif (i | j) % 5 == 1:
                    total -= j * self.rounds
                else:
                    while total > 1000:
                        total -= self.rounds * 7 + i % 3
        return total

    def play(self, state, action):
        state.total += gain(state.turn) * self.weight + BONUS
        if self.rounds > 4:
            state.total += self.extra(state.turn) + self.extra(state.turn + 2) + self.extra(9)
        if state.turn + 1 == self.rounds:
            self.draw(state)

    def observe(self, state, planes):
        planes[0] = state.total
"""
GAINS = "def gain(turn):\n    return turn + 1\n"
TOTAL = 2 * (1 + 2 + 3 + 4) + 4 * 5


FIVE_ROUNDS, SIX_ROUNDS = "game.py:Collect(rounds=5)", "game.py:Collect(rounds=6)"


def prepare(folder: Path) -> Path:
    """Puts a game in two files, and the program that plays it, into a folder."""
    (folder / "game.py").write_text(GAME)
    (folder / "gains.py").write_text(GAINS)
    shutil.copy(ROOT / "tests" / "cache_program.py", folder / "program.py")
    return folder


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a first process has compiled the game; tests leave its files alone."""
    folder = prepare(tmp_path_factory.mktemp("compiled"))
    assert report(folder) == {"total": TOTAL, "turns": 4, "hits": 0, "misses": 1}
    return folder


def start(folder: Path, *games: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONWARNINGS": "always::RuntimeWarning",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("NUMBA_DISABLE_JIT", None)
    return subprocess.Popen(
        [sys.executable, "program.py", *(games or ["game.py:Collect"])],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[dict[str, int], str]:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return json.loads(output), errors


def report(folder: Path, *games: str) -> dict[str, int]:
    return finish(start(folder, *games))[0]


def copy_game(folder: Path, name: str) -> Path:
    copied = folder / name
    copied.mkdir()
    for file in ("game.py", "gains.py"):
        shutil.copy(folder / file, copied / file)
    return copied


def test_second_process_finds_the_compiled_code(compiled: Path) -> None:
    assert report(compiled) == {"total": TOTAL, "turns": 4, "hits": 1, "misses": 0}


def test_game_in_another_folder_finds_its_compiled_code(compiled: Path) -> None:
    copy_game(compiled, "elsewhere")
    found = report(compiled, "elsewhere/game.py:Collect")
    assert found == {"total": TOTAL, "turns": 4, "hits": 1, "misses": 0}


@pytest.mark.parametrize(
    ("file", "old", "new", "total"),
    [
        ("game.py", "* self.weight +", "* self.weight -", TOTAL - 40),
        ("game.py", "BONUS = 5", "BONUS = 6", TOTAL + 4),
        ("game.py", "self: 2)", "self: 3)", TOTAL + 10),
        ("gains.py", "turn + 1", "turn + 2", TOTAL + 8),
    ],
    ids=["rule", "constant", "property", "helper in another file"],
)
def test_edit_is_compiled_anew(compiled: Path, file: str, old: str, new: str, total: int) -> None:
    edited = copy_game(compiled, f"edited-{total}")
    text = (edited / file).read_text()
    assert text.count(old) == 1
    (edited / file).write_text(text.replace(old, new))
    found = report(compiled, f"{edited.name}/game.py:Collect")
    assert found == {"total": total, "turns": 4, "hits": 0, "misses": 1}


def test_parameters_of_one_game_stay_apart_when_both_come_from_disk(compiled: Path) -> None:
    report(compiled, FIVE_ROUNDS)
    alone = report(compiled, SIX_ROUNDS)
    assert alone["misses"] == 1
    together = report(compiled, FIVE_ROUNDS, SIX_ROUNDS)
    assert together == {**alone, "hits": 1, "misses": 0}


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    processes = [start(folder) for _ in range(4)]
    reports = [finish(process) for process in processes]
    assert [(found["total"], found["turns"]) for found, _ in reports] == [(TOTAL, 4)] * 4
    assert [errors for _, errors in reports] == [""] * 4
    assert report(folder)["hits"] == 1


def test_unusable_cache_folder_gives_one_warning_and_the_result(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    (folder / "cache").write_text("a file where the folder should be")
    found, errors = finish(start(folder, SIX_ROUNDS, "game.py:Collect"))
    assert found["total"] == TOTAL
    assert errors.count("RuntimeWarning") == 1
    assert "Point NUMBA_CACHE_DIR at a folder you can write to" in errors


def test_every_file_with_compiled_code_enters_a_digest():
    from plainzero.games.contract import _framework_files

    package = ROOT / "src" / "plainzero"
    marks = re.compile(r"^@(kernel_function|Kernel|CudaKernel|rule_function)$", re.MULTILINE)
    marked = [path for path in package.rglob("*.py") if marks.search(path.read_text())]
    # The kernels of opponents and server have a digest of their own in their tag.
    others = [path for path in marked if path.parent.name not in ("opponents", "server")]
    assert len(others) > 15
    assert set(others) <= set(_framework_files())
