"""Compiled code on disk: found again, never stale, safe for many processes, dispensable."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.compiler.source_digest import _look_at, dependencies
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.rules import bound_rule, register
from plainzero.search import cpu

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "plainzero"

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
        # Long enough to stay a separate function in machine code.
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
BONUSES = """
from amounts import amount
from plainzero.compiler.cpu_kernels import kernel_function

@kernel_function
def bonus():
    return amount()
"""
AMOUNTS = """
import constants
from plainzero.compiler.cpu_kernels import kernel_function

@kernel_function
def amount():
    return constants.START + 7
"""
TOTAL = 2 * (1 + 2 + 3 + 4) + 4 * 5


FIVE_ROUNDS, SIX_ROUNDS = "game.py:Collect(rounds=5)", "game.py:Collect(rounds=6)"


def prepare(folder: Path) -> Path:
    """Puts a game in two files, and the program that plays it, into a folder."""
    (folder / "game.py").write_text(GAME)
    (folder / "gains.py").write_text(GAINS)
    shutil.copy(Path(__file__).with_name("cache_program.py"), folder / "program.py")
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
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")]),
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
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    # A game that is new on this machine is checked, which takes a line.
    lines = [line for line in errors.splitlines() if not line.startswith("checked the rules of")]
    return json.loads(output), "\n".join(lines)


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_parameters_of_one_game_stay_apart_when_both_come_from_disk(compiled: Path) -> None:
    report(compiled, FIVE_ROUNDS)
    alone = report(compiled, SIX_ROUNDS)
    assert alone["misses"] == 1
    together = report(compiled, FIVE_ROUNDS, SIX_ROUNDS)
    assert together == {**alone, "hits": 1, "misses": 0}


@pytest.mark.slow
def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    processes = [start(folder) for _ in range(4)]
    reports = [finish(process) for process in processes]
    assert [(found["total"], found["turns"]) for found, _ in reports] == [(TOTAL, 4)] * 4
    assert [errors for _, errors in reports] == [""] * 4
    assert report(folder)["hits"] == 1


@pytest.mark.slow
def test_unusable_cache_folder_gives_one_warning_and_the_result(tmp_path: Path) -> None:
    folder = prepare(tmp_path)
    (folder / "cache").write_text("a file where the folder should be")
    found, errors = finish(start(folder, SIX_ROUNDS, "game.py:Collect"))
    assert found["total"] == TOTAL
    assert errors.count("RuntimeWarning") == 1
    assert "Point NUMBA_CACHE_DIR at a folder you can write to" in errors


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the whole package beside a program whose kernel calls functions of two modules."""
    folder = prepare(tmp_path_factory.mktemp("package"))
    program = folder / "program.py"
    calling = program.read_text().replace("[0].total\n", "[0].total + bonus()\n")
    program.write_text(f"from bonuses import bonus\n{calling}")
    (folder / "bonuses.py").write_text(BONUSES)
    (folder / "amounts.py").write_text(AMOUNTS)
    (folder / "constants.py").write_text("START = 100\n")
    shutil.copytree(
        ROOT / "src" / "plainzero",
        folder / "plainzero",
        ignore=shutil.ignore_patterns("__pycache__", "page", "*.safetensors"),
    )
    assert report(folder) == {"total": TOTAL + 107, "turns": 4, "hits": 0, "misses": 1}
    return folder


@contextmanager
def edited(file: Path, old: str, new: str) -> Iterator[None]:
    before = file.read_text()
    assert old in before
    file.write_text(before.replace(old, new))
    try:
        yield
    finally:
        file.write_text(before)


@pytest.mark.slow
def test_edited_host_code_recompiles_nothing(package: Path) -> None:
    with ExitStack() as edits:
        for name in ("api.py", "result.py", "runner.py", "config.py"):
            file = package / "plainzero" / "search" / name
            edits.enter_context(edited(file, "\nimport ", "\n# edited\nimport "))
        assert report(package)["hits"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "total"),
    [
        ("amounts.py", "+ 7", "+ 8", TOTAL + 108),
        ("constants.py", "100", "200", TOTAL + 207),
        ("plainzero/games/rules.py", "np.int32(1)", "np.int32(2 - 1)", TOTAL + 107),
        ("plainzero/compiler/inner_functions.py", '"""', '"""\n', TOTAL + 107),
    ],
    ids=["two imports deep", "constant in a third module", "rules", "compiler"],
)
def test_edited_kernel_source_is_compiled_anew(package, file, old, new, total) -> None:
    with edited(package / file, old, new):
        assert report(package) == {"total": total, "turns": 4, "hits": 0, "misses": 1}


def kernels_of_the_package() -> list[Any]:
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    from plainzero.compiler.gpu_kernels import GpuKernel

    for path in PACKAGE.rglob("*.py"):
        if re.search(r"^@(Kernel|GpuKernel)$", path.read_text(), re.MULTILINE):
            importlib.import_module(
                ".".join(("plainzero", *path.relative_to(PACKAGE).with_suffix("").parts))
            )
    return [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("plainzero.")
        for value in vars(module).values()
        if isinstance(value, Kernel | GpuKernel) and value.__module__ == name
    ]


def paths_of(kernel: Any) -> set[Path]:
    target = "cpu" if isinstance(kernel, Kernel) else "cuda"
    return {path for path, _ in dependencies(*kernel.sources, target=target)}


def test_every_file_with_compiled_code_enters_a_digest():
    reached = set().union(*map(paths_of, kernels_of_the_package()))
    marks = re.compile(r"^@(kernel_function|Kernel|GpuKernel|for_cells)$", re.MULTILINE)
    marked = {path for path in PACKAGE.rglob("*.py") if marks.search(path.read_text())}
    assert len(marked) > 20
    assert marked <= reached


def test_a_search_depends_on_its_kernels_and_their_compiler_alone():
    paths = [path for path in paths_of(cpu.simulate_games) if path.is_relative_to(PACKAGE)]
    reached = {path.relative_to(PACKAGE).as_posix() for path in paths}
    assert {
        "search/kernels/selection.py",
        "games/rules.py",
        "compiler/inner_functions.py",
    } <= reached
    host = {name for name in reached if name.startswith("search/") and "/kernels/" not in name}
    assert host == {"search/cpu.py"}  # in particular, no code of a GPU


def test_a_digest_does_not_depend_on_what_has_run():
    before = {kernel: kernel.source_digest for kernel in kernels_of_the_package()}
    register(TicTacToe())
    bound_rule(TicTacToe().tag, "play")
    _look_at.cache_clear()
    for kernel, digest in before.items():
        del kernel.source_digest
        assert kernel.source_digest == digest


def test_code_of_other_projects_is_not_followed():
    found = list(dependencies(uses_another_project))
    assert {path for path, _ in found} >= {Path(__file__), Path(pytest.__file__)}
    assert len(found) < 5


def uses_another_project():
    pytest.importorskip("nothing")
