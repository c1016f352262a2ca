"""Runs that are started, stopped and resumed: real processes, and what is refused before one."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from small_runs import GENERATIONS, SETTINGS, copy_finished, make_runs, wait_until

from plainzero.games.registry import make_game
from plainzero.server.api.schemas.runs import ResumeRun, StartRun
from plainzero.server.options import ServerOptions
from plainzero.server.runs.processes import TrainingProcesses
from plainzero.server.services import Services
from plainzero.training.run_folder import RunFolder

pytestmark = pytest.mark.slow

OWN_GAME = """\
from plainzero.games.bundled.tic_tac_toe import TicTacToe


class Mine(TicTacToe):
    pass
"""


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def runs(home):
    runs = make_runs(home=home)
    yield runs
    runs.close()


def request(**fields):
    fields = {"game": "tic-tac-toe", "minutes": 10.0, "settings": SETTINGS} | fields
    return StartRun(**fields)


def trainings_of(runs):
    trainings = runs._trainings
    return [trainings.find(path) for path in trainings.paths()]


def wait_for_generation(runs, run, generation):
    def is_there():
        info = runs.info(run)
        assert info.state in ("starting", "running"), info
        return info.generation >= generation

    wait_until(is_there)


def wait_for_end(runs, run, state):
    """The run once its process has ended, which must leave it in that state."""
    wait_until(lambda: runs.info(run).state in ("stopped", "finished", "failed"))
    info = runs.info(run)
    assert info.state == state, info
    return info


# ---- processes -----------------------------------------------------------------------------------


def test_a_run_is_begun_killed_resumed_and_stopped(runs, home):
    begun = runs.start(request(run="mine"))
    assert (begun.run, begun.game, begun.state) == ("mine", "tic-tac-toe", "starting")
    assert (begun.minutes, begun.can_control) == (10.0, True)
    with pytest.raises(ValueError, match="mine is training, and this server trains 1 at a time"):
        runs.start(request(run="other"))
    with pytest.raises(ValueError, match="mine is already training"):
        runs.resume("mine", ResumeRun())
    wait_for_generation(runs, "mine", 2)
    assert runs.since("mine", 1)[0].generation == 2
    assert runs.details("mine").settings["run"]["threads"] == len(os.sched_getaffinity(0))

    os.kill(RunFolder(home / "mine").holder(), signal.SIGKILL)
    failed = wait_for_end(runs, "mine", "failed")
    assert "was killed by SIGKILL" in failed.message and failed.can_control
    assert make_runs(home=home).info("mine").state == "stopped"

    assert runs.resume("mine", ResumeRun()).message == ""
    wait_for_generation(runs, "mine", failed.generation + 1)
    other_server = make_runs(home / "mine", home=home / "elsewhere")
    assert other_server.info("mine").state == "running"
    assert other_server.stop("mine").state in ("stopping", "stopped")
    assert wait_for_end(runs, "mine", "stopped").message == ""
    assert other_server.info("mine").state == "stopped"
    assert "generation 1 " in (home / "mine" / "train.log").read_text()


def test_a_run_goes_on_to_a_later_end(runs, home, tmp_path_factory):
    copy_finished(tmp_path_factory, home / "first")
    finished, seconds = runs.info("first"), 1.0
    while finished.generation == GENERATIONS:  # on a busy machine a second is not enough for one
        seconds *= 2
        minutes = (finished.seconds + seconds) / 60
        runs.resume("first", ResumeRun(minutes=minutes))
        finished = wait_for_end(runs, "first", "finished")
        assert (finished.minutes, finished.generations) == (minutes, 0)
        assert finished.message == ""
    with pytest.raises(ValueError, match="first is not training"):
        runs.stop("first")


def test_closing_ends_processes_and_starts_none(home, tmp_path, monkeypatch):
    (tmp_path / "games.py").write_text(OWN_GAME)
    monkeypatch.chdir(tmp_path)
    runs = make_runs(
        home=Path("home"),
        make_game=lambda name: make_game(f"games.py:{name.title()}"),
        spec_of=lambda name: f"games.py:{name.title()}",
        niceness=7,
    )
    info = runs.start(request(game="mine"))
    assert (info.run, info.game) == ("mine", "mine")
    (process,) = (training.process for training in trainings_of(runs))
    command = process.args
    assert command[command.index("train") + 1] == f"{tmp_path}/games.py:Mine"
    assert command[command.index("--run") + 1] == str(home / "mine")
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == 7
    runs.close()
    assert process.poll() is not None and runs.info("mine").state == "stopped"
    with pytest.raises(ValueError, match="the server is shutting down"):
        runs.resume("mine", ResumeRun())


@pytest.mark.parametrize("name", ["games.py", "games.py:Mine", "games.py(size=4)"])
@pytest.mark.parametrize("folder", [".", "a:b", "a (1)"])
def test_a_process_gets_the_full_path_of_a_games_file(folder, name, home, tmp_path, monkeypatch):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "games.py").write_text(OWN_GAME)
    monkeypatch.chdir(tmp_path)
    runs, started = make_runs(home=home), []
    runs._trainings.start = lambda path, arguments, game, config: started.append(arguments[0])
    runs.start(request(game=f"{folder}/{name}"))
    assert started == [f"{(tmp_path / folder).resolve()}/{name}"]
    assert make_game(started[0]) == make_game(f"{folder}/{name}")


def test_a_run_with_a_relative_path_is_not_resumed(home, tmp_path, tmp_path_factory, monkeypatch):
    run = copy_finished(tmp_path_factory, home / "first")
    config = run / "config.toml"
    config.write_text(config.read_text().replace('game = "tic-tac-toe"', 'game = "games.py"'))
    (tmp_path / "games.py").write_text(OWN_GAME)
    (run / "games.py").write_text("the training process, which runs here, must not load this")
    monkeypatch.chdir(tmp_path)
    runs = make_runs(home=home, games=["games.py"])
    assert runs.info("first").state == "finished"
    with pytest.raises(ValueError, match=r"first is games\.py, a relative path; write the full"):
        runs.resume("first", ResumeRun(minutes=5.0))


def test_a_process_of_others_is_not_killed_where_it_could_not_save(monkeypatch, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    folder = RunFolder(tmp_path)
    monkeypatch.setattr(folder, "holder", lambda: process.pid)
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ValueError, match="first is in use by a process that this server cannot"):
        TrainingProcesses(0).stop(folder, "first")
    process.communicate(b"\n")
    assert process.returncode == 0


def test_a_process_that_fails_says_why(runs, home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    state = run / "state.safetensors"
    contents = state.read_bytes()
    state.write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    runs.resume("first", ResumeRun(minutes=5.0))
    failed = wait_for_end(runs, "first", "failed")
    assert failed.message.startswith("first/state.safetensors is damaged")
    assert failed.generation == GENERATIONS
    state.write_bytes(contents)
    with RunFolder(run).locked():
        assert runs.info("first").state == "running"
    assert runs.info("first").state == "finished"


def test_a_run_stopped_before_it_wrote_anything_can_be_begun_again(runs, home):
    info = runs.start(request())
    assert info.run == "tic-tac-toe"
    runs.stop(info.run)
    stopped = wait_for_end(runs, info.run, "stopped")
    assert (stopped.generation, stopped.message, stopped.minutes) == (0, "", 10.0)
    runs.resume(info.run, ResumeRun())
    assert runs.info(info.run).state in ("starting", "running")
    runs.stop(info.run)
    wait_for_end(runs, info.run, "stopped")


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.batch_sise=3", "did you mean batch_size?"),
        ("batch_size", "invalid setting 'batch_size'; write section.option=value"),
        ("training.batch_size=0", "batch_size is 0; it must be 1 or more"),
        ("run.backend=abacus", "unknown backend 'abacus'"),
        ("search.seconds=3", "leave seconds and nodes at 0"),
        ("network.channels=4096", "weights; the limit for runs started here is 100,000,000"),
        ("run.minutes=nan", "minutes is nan; it must be a finite number"),
        ("run.minutes=0", "the settings have run.minutes=0, but minutes is 10"),
    ],
)
def test_settings_that_make_no_sense_start_nothing(runs, home, setting, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        runs.start(request(settings=[setting]))
    assert not home.exists() and runs.infos() == []


def test_configuring_a_run_keeps_nobody_from_stopping_another(home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    is_configuring, may_configure = threading.Event(), threading.Event()

    def make_slowly(name):
        is_configuring.set()
        may_configure.wait()
        raise ValueError("never mind")

    runs = make_runs(home=home, make_game=make_slowly, max_trainings=2)
    refusals = []

    def stop():
        with RunFolder(run).locked(), pytest.raises(ValueError, match="cannot stop") as error:
            runs.stop("first")
        refusals.append(error)

    def start():
        with pytest.raises(ValueError, match="never mind"):
            runs.start(request())

    starting = threading.Thread(target=start, daemon=True)
    starting.start()
    is_configuring.wait()
    stop()
    may_configure.set()
    starting.join()
    assert len(refusals) == 1


def test_a_game_that_there_is_not_starts_nothing(runs, home):
    with pytest.raises(ValueError, match="there is no game 'shogi'"):
        runs.start(request(game="shogi"))
    assert not home.exists()


@pytest.mark.parametrize("name", [".", "..", ".hidden", "-rf", "a/b", "../up", "a\n", "a b", ""])
def test_a_name_that_is_a_path_or_odd_is_refused(runs, home, name):
    asked = StartRun.model_construct(**dict(request()) | {"run": name})
    with pytest.raises(ValueError, match="invalid run name"):
        runs.start(asked)
    assert not home.exists()


def test_a_name_too_long_for_a_folder_is_refused(runs):
    with pytest.raises(ValueError, match="File name too long"):
        runs.start(request(run="日" * 100))


def test_a_name_that_is_taken_is_refused(runs, home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    (home / "file").write_text("")
    before = sorted(path.name for path in run.rglob("*"))
    for name in ("first", "file"):
        with pytest.raises(ValueError, match=f"run '{name}' already exists; resume it"):
            runs.start(request(run=name))
    assert sorted(path.name for path in run.rglob("*")) == before


def test_a_run_at_its_limit_needs_more_minutes(runs, home, tmp_path_factory):
    copy_finished(tmp_path_factory, home / "first")
    for asked in (ResumeRun(), ResumeRun(minutes=0.0001)):
        with pytest.raises(ValueError, match=r"first has reached its limit \(3 generations"):
            runs.resume("first", asked)


def test_a_damaged_run_is_not_resumed(runs, home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    (run / "config.toml").write_text("[about")
    with pytest.raises(ValueError, match=r"first/config\.toml cannot be read"):
        runs.resume("first", ResumeRun(minutes=5.0))


def test_a_server_that_only_shows_starts_and_stops_nothing(home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    runs = make_runs(home=home, can_train=False)
    assert not runs.info("first").can_control
    with RunFolder(run).locked():
        for act in (
            lambda: runs.start(request()),
            lambda: runs.stop("first"),
        ):
            with pytest.raises(ValueError, match="training is disabled"):
                act()
    with pytest.raises(ValueError, match="training is disabled"):
        runs.resume("first", ResumeRun(minutes=5.0))


def test_a_training_elsewhere_counts_too(runs, home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    shutil.copytree(run, home / "second")
    sentence = rf"first is being trained by another process \(PID {os.getpid()}\)"
    with RunFolder(run).locked(), pytest.raises(ValueError, match=sentence):
        runs.resume("second", ResumeRun(minutes=5.0))


# ---- the command line's --train ------------------------------------------------------------------


def test_train_leaves_runs_alone_that_are_not_at_home(home, tmp_path, tmp_path_factory):
    given = copy_finished(tmp_path_factory, tmp_path / "given")
    text = (given / "config.toml").read_text()
    assert "generations = 3" in text
    (given / "config.toml").write_text(text.replace("generations = 3", "generations = 900"))
    before = sorted(given.rglob("*"))
    services = Services(ServerOptions(runs=(given,), home=home, default_game="tic-tac-toe"))
    try:
        services.train(minutes=5.0)
        states = {info.run: info.state for info in services.runs.infos()}
    finally:
        services.close()
    assert states == {"given": "stopped", "tic-tac-toe": "starting"}
    assert sorted(given.rglob("*")) == before


def test_train_says_which_other_process_is_training(home, tmp_path_factory):
    run = copy_finished(tmp_path_factory, home / "first")
    game = "othello(size=4)"
    for default, rest in ((game, f", so {game} is not trained"), ("tic-tac-toe", " (0 minutes so")):
        services = Services(ServerOptions(home=home, default_game=default))
        with RunFolder(run).locked():
            sentence = services.train(minutes=5.0)
        services.close()
        start = f"first is being trained by another process (PID {os.getpid()})"
        assert sentence.startswith(start + rest), sentence
    assert [info.run for info in services.runs.infos()] == ["first"]
