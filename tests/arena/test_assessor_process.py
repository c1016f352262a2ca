"""Strength measured by a process of its own: as in this one, and a run goes on without it."""

import subprocess
import sys

from plainzero.arena.assessor_process import AssessorApart, serve
from plainzero.arena.strength_meter import Assessor
from plainzero.training.saved_run import open_run


def test_the_process_answers_every_step_in_turn(untrained_run, monkeypatch):
    monkeypatch.setattr("plainzero.arena.assessor_process._MOST_SECONDS", 300.0)
    step = open_run(untrained_run).steps[-1]
    with AssessorApart(untrained_run, seed=0) as apart:
        assert apart.found() == {}
        apart.ask(step)
        apart.ask(step + 1)
        found = apart.found(waits=True)
        assert found["assessed_step"] == step
        assert "rating" in found
        assert apart.found(waits=True) == {}
        apart.ask(step)
        process = apart._process
    assert process.wait() != 0, "it was ended with something left to do"


def test_what_is_found_is_what_the_assessor_finds(untrained_run, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        Assessor, "assess", lambda self, evaluator, config: asked.append(config) or {"rating": 7.0}
    )
    step = open_run(untrained_run).steps[-1]
    monkeypatch.setattr("sys.stdin", [f"{step}\n", "12345\n"])
    serve(str(untrained_run), 0)
    first, second = capsys.readouterr().out.splitlines()
    assert first == '{"rating": 7.0, "assessed_step": %.1f}' % step  # noqa: UP031
    assert second == "{}"
    assert asked == [open_run(untrained_run).search_config(64)]


def test_a_process_that_ends_is_told_once_and_nobody_waits_for_it(untrained_run, caplog):
    with AssessorApart(untrained_run.parent / "nothing", seed=0) as apart:
        apart.ask(0)
        assert apart.found(waits=True) == {}
        assert "its process has ended" in caplog.text
        apart._process.wait()
        caplog.clear()
        apart.ask(1)
        assert apart.found() == {}
        assert not caplog.text


def test_it_ends_by_itself_when_nobody_asks_any_more(untrained_run):
    with AssessorApart(untrained_run, seed=0) as apart:
        command = apart._command
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_a_process_that_ended_with_nothing_asked_is_told_too(untrained_run, caplog, monkeypatch):
    monkeypatch.setattr("plainzero.arena.assessor_process._MOST_SECONDS", 300.0)
    with AssessorApart(untrained_run, seed=0) as apart:
        apart.ask(12345)  # of which there are no weights
        assert apart.is_busy
        assert apart.found(waits=True) == {}
        assert not apart.is_busy
        apart._process.kill()
        apart._process.wait()
        apart.ask(0)
        assert apart.found() == {}
        assert "its process has ended" in caplog.text


def test_an_answer_that_is_none_ends_it_rather_than_the_waiting(untrained_run, caplog):
    with AssessorApart(untrained_run, seed=0) as apart:
        apart._command = [sys.executable, "-c", "print('hello'); import time; time.sleep(60)"]
        apart.ask(0)
        assert apart.found(waits=True) == {}
    assert "its process has ended" in caplog.text
