"""Strength measured in a separate process: same results, and runs continue without it."""

import subprocess
import sys

import pytest

from plainzero.arena.assessor_process import AssessorProcess, serve
from plainzero.arena.strength_meter import StrengthMeter
from plainzero.training.saved_run import open_run

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Waits for as long as a busy machine may take."""
    monkeypatch.setattr("plainzero.arena.assessor_process._MOST_SECONDS", 3600.0)


def test_the_process_answers_every_step_in_turn(untrained_run):
    step = open_run(untrained_run).steps[-1]
    with AssessorProcess(untrained_run, seed=0) as assessor:
        assert assessor.found() == {}
        assessor.ask(step)
        assessor.ask(step + 1)
        found = assessor.found(waits=True)
        assert found["assessed_step"] == step
        assert "rating" in found
        assert assessor.found(waits=True) == {}
        assessor.ask(step)
        process = assessor._process
    assert process.wait() != 0, "it was killed with a request unanswered"


def test_the_process_reports_what_the_meter_found(untrained_run, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        StrengthMeter,
        "measure",
        lambda self, evaluator, config: asked.append(config) or {"rating": 7.0},
    )
    step = open_run(untrained_run).steps[-1]
    monkeypatch.setattr("sys.stdin", [f"{step}\n", "12345\n"])
    serve(str(untrained_run), 0)
    first, second = capsys.readouterr().out.splitlines()
    assert first == '{"rating": 7.0, "assessed_step": %.1f}' % step  # noqa: UP031
    assert second == "{}"
    assert asked == [open_run(untrained_run).search_config(64)]


def test_the_end_of_the_process_is_reported_once_and_not_waited_for(untrained_run, caplog):
    with AssessorProcess(untrained_run.parent / "nothing", seed=0) as assessor:
        assessor.ask(0)
        assert assessor.found(waits=True) == {}
        assert "its process has ended" in caplog.text
        assessor._process.wait()
        caplog.clear()
        assessor.ask(1)
        assert assessor.found() == {}
        assert not caplog.text


def test_the_process_exits_at_the_end_of_its_input(untrained_run):
    with AssessorProcess(untrained_run, seed=0) as assessor:
        command = assessor._command
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_the_end_of_an_idle_process_is_reported_too(untrained_run, caplog):
    with AssessorProcess(untrained_run, seed=0) as assessor:
        assessor.ask(12345)  # has no weights
        assert assessor.is_busy
        assert assessor.found(waits=True) == {}
        assert not assessor.is_busy
        assessor._process.kill()
        assessor._process.wait()
        assessor.ask(0)
        assert assessor.found() == {}
        assert "its process has ended" in caplog.text


def test_an_invalid_answer_counts_as_the_end_of_the_process(untrained_run, caplog):
    with AssessorProcess(untrained_run, seed=0) as assessor:
        assessor._command = [sys.executable, "-c", "print('hello'); import time; time.sleep(3600)"]
        assessor.ask(0)
        assert assessor.found(waits=True) == {}
    assert "its process has ended" in caplog.text
