"""Processes that compile for a GPU: started before all else, ended when nobody needs them.

Without a GPU they would end by themselves, with an error, after a second or so.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plainzero import SearchConfig
from plainzero.cli.main import main
from plainzero.games import make_game

pytestmark = pytest.mark.slow

pytest.importorskip("numba_cuda", reason="needs numba-cuda")
SEARCH = SearchConfig(simulations=4)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAME = "connect-four(rows=4,cols=5)"  # that nothing else compiles


def children():
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {number for task in tasks for number in task.read_text().split()}


def test_processes_that_nobody_needs_any_more_are_ended():
    from plainzero.selfplay.gpu.compile_processes import CompileProcesses

    with CompileProcesses(make_game(NAME), NAME, SEARCH) as compilers:
        begun = dict(compilers._processes)
        assert list(begun) == ["select", "finish", "others"]
    assert {process.returncode for process in begun.values()} == {-signal.SIGTERM}


def test_kernels_of_searches_are_compiled_once_self_plays_are_done():
    from plainzero.selfplay.gpu.compile_processes import CompileProcesses

    with CompileProcesses(make_game(NAME), NAME, SEARCH) as compilers:
        compilers.request_search(SEARCH)
        begun = dict(compilers._processes)
        compilers.wait()
        compilers.wait()
        later = {name: it for name, it in compilers._processes.items() if name not in begun}
        assert None not in {process.returncode for process in begun.values()}
    assert list(later) == ["search"]
    assert {process.returncode for process in later.values()} == {-signal.SIGTERM}


def test_a_command_that_is_refused_leaves_no_processes(monkeypatch, tmp_path, capsys):
    before, seen = children(), []

    def refuse(folder, what, changes):
        seen.append(children() - before)
        raise ValueError("no")

    monkeypatch.setattr("plainzero.training.precompile.may_have_gpu", lambda: True)
    monkeypatch.setattr("plainzero.cli.train._new_config", refuse)
    assert main(["train", NAME, "--run", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err == "plainzero: no\n"
    (while_preparing,) = seen
    assert len(while_preparing) == 3
    assert not children() & while_preparing


def test_each_is_told_of_kernels_that_there_are():
    from plainzero.selfplay.gpu import compile_processes as compilers
    from plainzero.selfplay.gpu import compile_worker as compiling_ahead

    assert compilers._SELFPLAY == tuple(compiling_ahead.SELFPLAY)
    assert compilers._SEARCH == tuple(compiling_ahead.SEARCH)


@pytest.mark.parametrize("is_done", [False, True])
def test_what_is_on_disk_is_not_compiled_again(is_done, monkeypatch):
    from plainzero.selfplay.gpu import compile_worker as compiling_ahead

    compiled = []
    monkeypatch.setattr(compiling_ahead, "choose_device", lambda device: device)
    monkeypatch.setattr(compiling_ahead, "are_compiled", lambda *given: is_done)
    monkeypatch.setattr(compiling_ahead, "compile_kernels", lambda *given: compiled.append(given))
    given = json.dumps(dataclasses.asdict(SEARCH))
    compiling_ahead.main(NAME, "select", "cuda:0", given)
    assert [(name, search) for _, name, search in compiled] == [("select", SEARCH)][is_done:]


def test_they_are_started_before_numba_is_imported():
    program = f"""if True:
        import sys
        import plainzero.training.precompile as here
        here.may_have_gpu = lambda: True
        with here.Precompiler() as compiling:
            compiling.begin({NAME!r}, [])
            assert len(compiling._compilers._processes) == 3
            sys.exit("numba" in sys.modules)
    """
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("settings", [["--device", "cpu"], ["--set", "run.device=cpu"]])
def test_a_run_for_the_cpu_starts_none(settings, monkeypatch, tmp_path):
    before, seen = children(), []

    def refuse(folder, what, changes):
        seen.append(children() - before)
        raise ValueError("no")

    monkeypatch.setattr("plainzero.training.precompile.may_have_gpu", lambda: True)
    monkeypatch.setattr("plainzero.cli.train._new_config", refuse)
    assert main(["train", NAME, "--run", str(tmp_path / "run"), *settings]) == 2
    assert seen == [set()]


def test_a_run_that_goes_on_has_what_it_needs_compiled():
    from plainzero.selfplay.gpu.compile_processes import CompileProcesses
    from plainzero.training.precompile import Precompiler
    from plainzero.training.settings import default_config

    game = make_game(NAME)
    config = default_config(game)  # by Gumbel
    with Precompiler() as compiling:
        compiling._compilers = begun = CompileProcesses(game, NAME, SEARCH)
        assert begun.is_for(SearchConfig(simulations=9, c_puct=3.0))  # only numbers differ
        assert not begun.is_for(config.search)
        now = compiling.for_run(game, NAME, config, "cuda:0")
        assert now is not begun and now.is_for(config.search)
        assert {process.returncode for process in begun._processes.values()} == {-signal.SIGTERM}
        assert compiling.for_run(game, NAME, config, "cuda:0") is now


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["search.selection=gumbel"],
        ["search.selection=uct", "selfplay.games=64"],
        ["search.visits=40", "search.selection=puct", " search.c_puct = 2"],
        ["search.simulations=40", "search.noise_weight=0"],
        ["search.simulations=20", "search.selection=puct-log", "search.noise_weight=0.1"],
    ],
)
@pytest.mark.parametrize("name", ["connect-four", "pig"])
def test_what_is_compiled_first_is_what_a_new_run_searches_by(name, settings, monkeypatch):
    from plainzero.selfplay.search_defaults import chosen_search
    from plainzero.training.choose_device import new_config

    monkeypatch.setattr("plainzero.training.gpu.defaults.free_bytes", lambda: 1 << 34)
    game = make_game(name)
    for device in ("cpu", "cuda:0"):
        config = new_config(game, device, settings)
        assert chosen_search(game, device, settings) == config.search


def test_a_game_file_has_its_full_path_for_the_processes(monkeypatch):
    from plainzero.training.precompile import Precompiler

    begun = []
    monkeypatch.setattr("plainzero.training.precompile.may_have_gpu", lambda: True)
    monkeypatch.setattr(
        "plainzero.selfplay.gpu.compile_processes.CompileProcesses",
        lambda game, name, search, device: begun.append(name),
    )
    monkeypatch.chdir(EXAMPLES)
    Precompiler().begin("nim.py", [])
    assert begun == [str(EXAMPLES / "nim.py")]
