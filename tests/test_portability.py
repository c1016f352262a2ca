"""Nothing needs Linux: search, training, server and engines run without what only Linux has."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plainzero.operating_system import available_cores, lower_priority

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "plainzero"
LINUX_ONLY = {
    *("sched_getaffinity", "sched_setaffinity", "killpg", "waitid", "fork", "setpriority", "nice"),
    *("getpriority", "set_blocking", "getuid", "setsid", "getsid", "SIGHUP", "SIGKILL", "sysconf"),
    "poll",
}
LINUX_MODULES = {
    *("fcntl", "resource", "pwd", "grp", "termios", "msvcrt"),
    *("select", "selectors"),  # on Windows only for sockets
}


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


@pytest.fixture
def sleeper(request):
    """A process that sleeps, the leader of a new session if the parameter is true."""
    sleep = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(3600)"]
    process = subprocess.Popen(sleep, start_new_session=request.param)
    yield process
    process.kill()
    process.wait()


def niceness(process):
    return os.getpriority(os.PRIO_PROCESS, process)


def autogroup(process):
    """The niceness of a process's session."""
    return int(Path(f"/proc/{process}/autogroup").read_text().split()[-1])


needs_priorities = pytest.mark.skipif(
    not hasattr(os, "setpriority"), reason="this system has no priorities"
)


def has_autogroups():
    try:
        return Path("/proc/self/autogroup").read_text() != ""
    except OSError:
        return False


needs_autogroups = pytest.mark.skipif(
    not has_autogroups(), reason="this system has no niceness of sessions"
)


@needs_priorities
@pytest.mark.parametrize("sleeper", [False], indirect=True)
def test_a_niceness_is_a_minimum_or_added_to_the_inherited_one(sleeper):
    inherited = niceness(sleeper.pid)
    lower_priority(sleeper.pid, inherited + 2)
    lower_priority(sleeper.pid, inherited + 1)
    assert niceness(sleeper.pid) == min(inherited + 2, 19)
    lower_priority(sleeper.pid, 3, is_added=True)
    assert niceness(sleeper.pid) == min(inherited + 5, 19)
    lower_priority(sleeper.pid, 19, is_added=True)
    assert niceness(sleeper.pid) == 19


@needs_autogroups
@pytest.mark.parametrize("sleeper", [False, True], indirect=True)
def test_only_the_leader_of_a_session_lowers_the_whole_session(sleeper):
    is_leader = os.getsid(sleeper.pid) == sleeper.pid
    before = autogroup(os.getpid())
    lower_priority(sleeper.pid, 19)
    assert autogroup(os.getpid()) == before
    assert autogroup(sleeper.pid) == (19 if is_leader else before)


def test_a_system_without_priorities_changes_none(monkeypatch):
    for name in ("setpriority", "getpriority", "nice"):
        monkeypatch.delattr(os, name, raising=False)
    lower_priority(os.getpid(), 10, is_added=True)


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
