"""Nothing needs Linux: search, training, server and engines run without what only Linux has."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plainzero.operating_system import available_cores

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "plainzero"
LINUX_ONLY = {
    *("sched_getaffinity", "sched_setaffinity", "killpg", "waitid", "fork", "setpriority"),
    *("getpriority", "set_blocking", "getuid", "setsid", "SIGHUP", "SIGKILL", "sysconf", "poll"),
}
LINUX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "msvcrt"}


@pytest.mark.slow
@pytest.mark.parametrize("system", ["macos", "windows"])
def test_search_training_server_and_engines_run_elsewhere(system, tmp_path):
    ended = subprocess.run(
        [sys.executable, ROOT / "tests" / "portable_program.py", system, tmp_path],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert ended.returncode == 0, ended.stderr + ended.stdout
    found = json.loads(ended.stdout.splitlines()[-1])
    locked = found["training"].pop("locked")
    assert found == {
        "visits": 200,
        "training": {"code": 0, "weights": 2},
        "runs": ["run"],
        "engine": ["hello", False],
    }
    assert len(locked) == 1 and "is in use by process" in locked[0]


def test_cores_are_those_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 5, 6}, raising=False)
    assert available_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert available_cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


def calls_of_one_system(path):
    """Lines of a file that name what some system lacks."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in LINUX_ONLY:
            if isinstance(node.value, ast.Name) and node.value.id in ("os", "signal", "select"):
                yield node.lineno
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if LINUX_MODULES.intersection(names):
            yield node.lineno


def test_calls_that_some_system_lacks_stand_in_one_file():
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name != "operating_system.py"
        if path.parent.name
        != "peers"  # programs of other environments, which import nothing of ours
        for line in calls_of_one_system(path)
    ]
    assert found == []
    assert list(calls_of_one_system(SOURCE / "operating_system.py"))
