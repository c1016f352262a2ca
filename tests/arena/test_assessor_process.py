"""Strength measured in a separate process: same results, and runs continue without it."""

import subprocess
import sys

import pytest

from plainzero.arena.assessor_process import AssessorProcess, serve
from plainzero.arena.strength_meter import StrengthMeter
from plainzero.training.saved_run import open_run

pytestmark = pytest.mark.slow


def test_the_process_answers_every_step_in_turn(untrained_run, monkeypatch):
    monkeypatch.setattr("plainzero.arena.assessor_process._MOST_SECONDS", 300.0)
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
    assert process.wait() != 0, "it was ended with something left to do"


def test_what_is_found_is_what_the_assessor_finds(untrained_run, monkeypatch, capsys):
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


def test_a_process_that_ends_is_told_once_and_nobody_waits_for_it(untrained_run, caplog):
    with AssessorProcess(untrained_run.parent / "nothing", seed=0) as assessor:
        assessor.ask(0)
        assert assessor.found(waits=True) == {}
        assert "its process has ended" in caplog.text
        assessor._process.wait()
        caplog.clear()
        assessor.ask(1)
        assert assessor.found() == {}
        assert not caplog.text


def test_it_ends_by_itself_when_nobody_asks_any_more(untrained_run):
    with AssessorProcess(untrained_run, seed=0) as assessor:
        command = assessor._command
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_a_process_that_ended_with_nothing_asked_is_told_too(untrained_run, caplog, monkeypatch):
    monkeypatch.setattr("plainzero.arena.assessor_process._MOST_SECONDS", 300.0)
    with AssessorProcess(untrained_run, seed=0) as assessor:
        assessor.ask(12345)  # of which there are no weights
        assert assessor.is_busy
        assert assessor.found(waits=True) == {}
        assert not assessor.is_busy
        assessor._process.kill()
        assessor._process.wait()
        assessor.ask(0)
        assert assessor.found() == {}
        assert "its process has ended" in caplog.text


def test_an_answer_that_is_none_ends_it_rather_than_the_waiting(untrained_run, caplog):
    with AssessorProcess(untrained_run, seed=0) as assessor:
        assessor._command = [sys.executable, "-c", "print('hello'); import time; time.sleep(60)"]
        assessor.ask(0)
        assert assessor.found(waits=True) == {}
    assert "its process has ended" in caplog.text
