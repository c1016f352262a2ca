"""The catalogue of runs: names, states, curves as they grow, and folders that are damaged."""

import json
import shutil
import subprocess
import sys
import threading

import pytest
from small_runs import GENERATIONS, copy_finished, make_runs

from plainzero.networks import torch_private
from plainzero.server.api.schemas.runs import ResumeRun
from plainzero.server.runs.catalogue import UnknownRun
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunError, RunFolder


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def run(home, tmp_path_factory):
    """The folder of a finished run at home."""
    return copy_finished(tmp_path_factory, home / "first")


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def add_line(path, **numbers):
    with open(path, "a") as file:
        file.write(json.dumps(numbers) + "\n")


def names_of(runs):
    return [info.run for info in runs.infos()]


# ---- names ---------------------------------------------------------------------------------------


def test_runs_given_and_runs_at_home_are_listed(run, home, tmp_path):
    given = shutil.copytree(run, tmp_path / "given")
    (home / "no run").mkdir()
    assert names_of(make_runs(given, home=home)) == ["given", "first"]


def test_a_home_that_is_not_there_yet_has_no_runs(home):
    assert make_runs(home=home).infos() == []


def test_a_folder_that_holds_runs_lists_each(run, home, tmp_path):
    shutil.copytree(run, home / "second")
    assert names_of(make_runs(home, home=tmp_path / "elsewhere")) == ["first", "second"]


def test_a_run_given_twice_is_listed_once(run, home):
    assert names_of(make_runs(run, run, home, home=home)) == ["first"]


def test_runs_of_one_name_get_names_of_their_own_and_keep_them(run, home, tmp_path):
    other = shutil.copytree(run, tmp_path / "other" / "first")
    edit(other / "config.toml", f"generations = {GENERATIONS}", "generations = 9")
    runs = make_runs(other, home=home)
    assert names_of(runs) == ["first", "first-2"]
    assert (runs.info("first").state, runs.info("first-2").state) == ("stopped", "finished")
    shutil.rmtree(other)
    assert names_of(runs) == ["first-2"]


def test_a_folder_with_an_odd_name_gets_one_that_can_be_asked_for(run, home):
    run.rename(home / ".my run/ü".replace("/", ";"))
    assert names_of(make_runs(home=home)) == ["my-run-ü"]


def test_a_run_that_appears_is_found(run, home):
    runs = make_runs(home=home)
    assert names_of(runs) == ["first"]
    shutil.copytree(run, home / "second")
    assert names_of(runs) == ["first", "second"]
    assert runs.info("second").state == "finished"


@pytest.mark.parametrize(
    "name", ["second", "", ".", "..", "../home/first", "/etc", "first/", "first\n", "a\0"]
)
def test_a_name_that_no_run_has_is_refused(run, home, name):
    runs = make_runs(home=home)
    for ask in (runs.info, runs.details, runs.saved, lambda name: runs.since(name, 0)):
        with pytest.raises(UnknownRun, match="available: first"):
            ask(name)


def test_a_folder_that_is_not_there_is_refused(home, tmp_path):
    with pytest.raises(ValueError, match="there is no run folder"):
        make_runs(tmp_path / "nowhere", home=home)


# ---- information about a run ---------------------------------------------------------------------


def test_a_finished_run_says_what_it_has(run, home):
    info = make_runs(home=home).info("first")
    last = read_metrics(run / "metrics.jsonl")[-1]
    assert (info.run, info.game, info.state, info.message) == (
        "first",
        "tic-tac-toe",
        "finished",
        "",
    )
    assert (info.generation, info.generations, info.minutes) == (GENERATIONS, GENERATIONS, 0.0)
    assert (info.games, info.positions) == (last["total_games"], last["total_positions"])
    assert info.seconds == last["seconds"] and info.steps == RunFolder(run).steps()
    assert info.can_control and info.latest.step == last["step"]


def test_details_have_every_generation_and_every_setting(run, home):
    details = make_runs(home=home).details("first")
    lines = read_metrics(run / "metrics.jsonl")
    told = [{"generation": g.generation, "step": g.step, **g.numbers} for g in details.generations]
    assert told == lines
    assert details.settings["network"]["channels"] == 8
    assert details.settings["about"]["game"] == "tic-tac-toe"
    assert set(details.settings) == {"about", "network", "search", "selfplay", "training", "run"}


def test_only_generations_after_the_one_named_are_new(run, home):
    runs = make_runs(home=home)
    assert [g.generation for g in runs.since("first", 0)] == [1, 2, 3]
    assert [g.generation for g in runs.since("first", 2)] == [3]
    assert runs.since("first", 3) == []


def test_a_run_with_time_left_is_stopped(run, home):
    edit(run / "config.toml", f"generations = {GENERATIONS}", "generations = 9")
    assert make_runs(home=home).info("first").state == "stopped"


def test_a_run_whose_time_is_too_short_for_more_games_is_finished(run, home):
    last = read_metrics(run / "metrics.jsonl")[-1]
    selfplay = last["games"] / last["games_per_second"]
    edit(run / "config.toml", f"generations = {GENERATIONS}", "generations = 0")
    runs = make_runs(home=home)
    for left, state in ((0.5, "finished"), (1.5, "stopped")):
        minutes = (last["seconds"] + left * selfplay) / 60
        text = (run / "config.toml").read_text().splitlines()
        lines = [f"minutes = {minutes}" if line.startswith("minutes") else line for line in text]
        (run / "config.toml").write_text("\n".join(lines))
        assert runs.info("first").state == state


def test_a_run_that_a_process_has_is_running(run, home):
    runs = make_runs(home=home)
    with RunFolder(run).locked():
        assert runs.info("first").state == "running"
        with pytest.raises(ValueError, match="that this server cannot stop"):
            runs.stop("first")
    assert runs.info("first").state == "finished"


def test_looking_at_a_lock_keeps_nobody_from_taking_it(run):
    is_over = threading.Event()
    folder, other = RunFolder(run), RunFolder(run)

    def look():
        while not is_over.is_set():
            other.is_locked()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(300):
            with folder.locked():
                pass
    finally:
        is_over.set()
        thread.join()


def test_a_lock_that_is_held_is_refused_after_a_moment(run):
    with RunFolder(run).locked(), pytest.raises(RunError, match="is in use by process"):
        with RunFolder(run).locked():
            pass


def write_game(file):
    """A game of somebody's own, which leaves a mark where it is executed."""
    lines = [
        "from pathlib import Path",
        "from plainzero.games.bundled.tic_tac_toe import TicTacToe",
        f"Path({str(file)!r}).with_suffix('.mark').touch()",
        "class Mine(TicTacToe):",
        "    pass",
    ]
    file.write_text("\n".join(lines))
    return f"{file}:Mine"


def test_a_game_of_ones_own_is_named_without_its_path(run, home, tmp_path):
    file = tmp_path / "mine.py"
    spec = write_game(file)
    edit(run / "config.toml", 'game = "tic-tac-toe"', f'game = "{spec}"')
    runs = make_runs(home=home, games=[spec])
    assert runs.info("first").game == "mine"
    assert str(tmp_path) not in runs.details("first").model_dump_json()
    file.rename(tmp_path / "moved.py")
    sys.modules.pop(type(runs.saved("first").game).__module__)
    info = make_runs(home=home, games=[spec]).info("first")
    assert info.state == "failed" and "cannot load the game of first" in info.message
    assert str(tmp_path) not in info.message


# ---- games in files ------------------------------------------------------------------------------


def test_a_file_that_a_run_at_home_names_is_not_executed(run, home, tmp_path):
    spec = write_game(tmp_path / "unasked.py")
    edit(run / "config.toml", 'game = "tic-tac-toe"', f'game = "{spec}"')
    runs = make_runs(home=home, games=["tic-tac-toe", "examples/nim.py:Nim"])
    info = runs.info("first")
    assert info.state == "failed" and not info.can_control
    assert "its game file unasked.py:Mine was not loaded" in info.message
    assert str(tmp_path) not in info.message
    with pytest.raises(ValueError, match="was not loaded"):
        runs.resume("first", ResumeRun(minutes=5.0))
    assert not (tmp_path / "unasked.mark").exists()


def test_a_path_that_begins_like_a_trusted_one_is_not_executed(run, home, tmp_path):
    trusted = write_game(tmp_path / "asked.py")
    (run / "link").symlink_to(tmp_path / "asked.py")
    (run / "link:x").mkdir()
    write_game(run / "link:x" / "unasked.py")
    edit(run / "config.toml", '"tic-tac-toe"', f'"{run / "link:x" / "unasked.py"}"')
    info = make_runs(home=home, games=[trusted]).info("first")
    assert info.state == "failed" and "was not loaded" in info.message
    assert not (run / "link:x" / "unasked.mark").exists()


def test_a_file_that_the_command_line_names_serves_runs_at_home(run, home, tmp_path, monkeypatch):
    spec = write_game(tmp_path / "asked.py")
    edit(run / "config.toml", 'game = "tic-tac-toe"', f'game = "{spec}"')
    monkeypatch.chdir(tmp_path)
    info = make_runs(home=home, games=["asked.py:Mine(  )"]).info("first")
    assert (info.state, info.game) == ("finished", "mine")


def test_runs_that_the_command_line_names_load_their_files(run, home, tmp_path):
    spec = write_game(tmp_path / "given.py")
    edit(run / "config.toml", 'game = "tic-tac-toe"', f'game = "{spec}"')
    for given in (run, home):
        info = make_runs(given, home=tmp_path / "elsewhere").info("first")
        assert (info.state, info.game) == ("finished", "mine")
    copy = shutil.copytree(run, tmp_path / "other" / "copy")
    assert make_runs(copy, home=home).info("first").state == "finished"


@pytest.mark.parametrize("name", ["asked.py", "asked.py:Mine", "asked.py(size=4)"])
@pytest.mark.parametrize("folder", [".", "a:b", "a (1)"])
def test_a_file_is_trusted_with_and_without_its_class(run, home, tmp_path, folder, name):
    (tmp_path / folder).mkdir(exist_ok=True)
    write_game(tmp_path / folder / "asked.py")
    named, stored = tmp_path / folder / name, tmp_path / folder / "asked.py:Mine"
    edit(run / "config.toml", 'game = "tic-tac-toe"', f'game = "{stored}"')
    assert make_runs(home=home).info("first").state == "failed"
    assert not (tmp_path / folder / "asked.mark").exists()
    info = make_runs(home=home, games=[str(named)]).info("first")
    assert (info.state, info.game) == ("finished", "mine")


def test_an_unknown_game_is_answered_in_full(run, home):
    edit(run / "config.toml", 'game = "tic-tac-toe"', 'game = "shogi"')
    assert "path/to/file.py:ClassName" in make_runs(home=home).info("first").message


def test_an_old_pytorch_is_the_reason_why_a_run_is_not_opened(run, home, monkeypatch):
    class OldTorch:
        def find_spec(self, name, path=None, target=None):
            if name == "plainzero.training.saved_run":
                raise torch_private.OldTorch("PyTorch 2.3 is installed")

    monkeypatch.delitem(sys.modules, "plainzero.training.saved_run", raising=False)
    monkeypatch.setattr(sys, "meta_path", [OldTorch(), *sys.meta_path])
    assert make_runs(home=home).info("first").message == "PyTorch 2.3 is installed"


def test_a_config_that_names_no_game_fails_its_run(run, home):
    edit(run / "config.toml", 'game = "tic-tac-toe"', "game = 5")
    info = make_runs(home=home).info("first")
    assert info.state == "failed"
    assert info.message == "first/config.toml names no game under [about]"


# ---- metrics that grow ---------------------------------------------------------------------------


def test_lines_that_are_added_are_read(run, home):
    runs, metrics = make_runs(home=home), run / "metrics.jsonl"
    assert runs.info("first").generation == 3
    add_line(metrics, generation=4, step=99, total_games=7, loss=0.5)
    assert (runs.info("first").generation, runs.info("first").games) == (4, 7)
    with open(metrics, "a") as file:
        file.write('{"generation": 5, "st')
    assert runs.info("first").generation == 4
    with open(metrics, "a") as file:
        file.write('ep": 120}\n')
    assert [g.step for g in runs.since("first", 3)] == [99, 120]


def test_a_last_line_that_is_written_anew_is_read_anew(run, home):
    runs, metrics = make_runs(home=home), run / "metrics.jsonl"
    whole = metrics.read_bytes()
    add_line(metrics, generation=4, step=90, loss=1.0)
    assert runs.info("first").latest.numbers == {"loss": 1.0}
    metrics.write_bytes(whole)
    add_line(metrics, generation=4, step=90, loss=2.0)
    add_line(metrics, generation=5, step=95, loss=3.0)
    assert [g.numbers["loss"] for g in runs.since("first", 3)] == [2.0, 3.0]
    metrics.write_bytes(whole)
    assert runs.info("first").generation == 3
    metrics.unlink()
    assert (runs.info("first").generation, runs.info("first").latest) == (0, None)


def test_numbers_that_are_none_are_left_out(run, home):
    add_line(run / "metrics.jsonl", generation=4, step=9, loss=float("nan"), word="x", games=1)
    assert make_runs(home=home).info("first").latest.numbers == {"games": 1.0}


def test_a_damaged_line_ends_the_curve_and_is_told(run, home):
    runs, metrics = make_runs(home=home), run / "metrics.jsonl"
    with open(metrics, "a") as file:
        file.write("[1, 2]\n")
    add_line(metrics, generation=5, step=9)
    info = runs.info("first")
    assert (info.generation, info.state) == (3, "finished")
    assert "metrics.jsonl is damaged in line 4" in info.message


def test_many_threads_see_a_run_grow(run, home):
    runs, faults = make_runs(home=home), []
    is_over = threading.Event()

    def follow():
        seen = 0
        while not is_over.is_set() or seen < 60:
            new = [g.generation for g in runs.since("first", seen)]
            if new != list(range(seen + 1, seen + 1 + len(new))):
                faults.append((seen, new))
            seen += len(new)
            runs.infos()

    threads = [threading.Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for generation in range(4, 61):
        add_line(run / "metrics.jsonl", generation=generation, step=generation * 10)
    is_over.set()
    for thread in threads:
        thread.join()
    assert faults == [] and runs.info("first").generation == 60


# ---- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[about]", "[about", "first/config.toml cannot be read"),
        ("channels = 8", "chanels = 8", "first/config.toml: "),
        ("[search]", "[serch]", "has no section 'search'"),
        ('game = "tic-tac-toe"', 'game = "tic-tac-tow"', ": there is no game"),
    ],
)
def test_a_damaged_config_fails_its_run_alone(run, home, old, new, message):
    shutil.copytree(run, home / "second")
    edit(run / "config.toml", old, new)
    runs = make_runs(home=home)
    damaged, whole = runs.infos()
    assert damaged.state == "failed" and message in damaged.message
    assert str(home) not in damaged.message
    assert not damaged.can_control and runs.details("first").settings == {}
    assert (whole.run, whole.state) == ("second", "finished")
    edit(run / "config.toml", new, old)
    assert runs.info("first").state == "finished"


def test_a_run_without_its_config_fails(run, home):
    (run / "config.toml").unlink()
    (info,) = make_runs(home=home).infos()
    assert info.state == "failed" and "its config.toml is missing" in info.message


WITHOUT_TORCH = """
import sys
from pathlib import Path

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "safetensors", "pyarrow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from plainzero.games.registry import make_game
from plainzero.server.runs import loaded_networks, position_over_time
from plainzero.server.runs.catalogue import Runs
(info,) = Runs([], Path(sys.argv[1]), True, make_game, str).infos()
print(info.state, info.message)
"""


def test_without_pytorch_runs_are_listed_and_say_what_is_missing(run, home):
    command = [sys.executable, "-c", WITHOUT_TORCH, str(home)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output == "failed first needs the package torch: pip install 'plainzero[learn]'\n"
