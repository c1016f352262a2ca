"""Compiling without inner_functions.py if Numba does not allow it; no numba.cuda on a CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

SOURCES = Path(__file__).parents[2] / "src"

SEARCH = """
from plainzero import SearchConfig, make_game, search
game = make_game("tic-tac-toe")
result = search(game, game.new_state(), "rollout", SearchConfig(simulations=50), seed=3)
answer = result.visits.tolist()
"""
SMALL_KERNEL = """
from plainzero.compiler.cpu_kernels import NO_TAG, Kernel, kernel_function
double = kernel_function(lambda x: 2 * x)
answer = Kernel(lambda x: double(x) + 1)(NO_TAG, 20)
"""
REPORT = """
print(json.dumps({
    "answer": answer,
    "warnings": [str(warning.message) for warning in caught],
    "gpu_modules": [name for name in sys.modules if name.startswith(("numba.cuda", "numba_cuda"))],
}))
"""
WARNING = "compiling takes about three times as long as it could: Numba "


def run(program: str, **environment: str) -> dict[str, Any]:
    """What a new process reports that runs the program."""
    parts = "import json, sys, warnings", "with warnings.catch_warnings(record=True) as caught:"
    always = ' warnings.simplefilter("always")'
    result = subprocess.run(
        [sys.executable, "-c", "\n".join([*parts, always, indent(program, " "), REPORT])],
        env={**os.environ, "PYTHONPATH": str(SOURCES), "NUMBA_DISABLE_JIT": "0", **environment},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    return report


@pytest.fixture(scope="module")
def usual():
    return run(SEARCH)


def test_a_search_on_the_cpu_imports_nothing_for_gpus(usual):
    assert usual["gpu_modules"] == []


@pytest.mark.slow
def test_a_search_without_our_compiler_has_the_same_visits(usual):
    found = run(f"import numba.core.codegen\ndel numba.core.codegen.JITCodeLibrary\n{SEARCH}")
    assert usual["warnings"] == []
    assert sum(text.startswith(WARNING) for text in found["warnings"]) == 1
    assert found["answer"] == usual["answer"]


def test_our_compiler_is_not_used_if_its_passes_do_not_work(tmp_path):
    broken = (
        "from plainzero.compiler import inner_functions\n"
        "inner_functions._LeaveUncallable.run_pass = None\n"
    )
    found = run(broken + SMALL_KERNEL, NUMBA_CACHE_DIR=str(tmp_path))
    assert found["answer"] == 41
    assert sum(text.startswith(WARNING) for text in found["warnings"]) == 1
