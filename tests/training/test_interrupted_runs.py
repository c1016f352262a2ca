"""Ctrl-C, and the polite kill: the run saves, says how to go on, and goes on."""

import signal
import time

import pytest
from tiny_runs import check_whole, games_of, train_arguments, unclocked_metrics, weights_of

PATIENCE = 30.0  # seconds for a busy machine


def wait_for(pattern, folder):
    """Until there is a file of that name."""
    deadline = time.monotonic() + PATIENCE
    while not any(folder.glob(pattern)):
        assert time.monotonic() < deadline, f"no {pattern}"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "threads"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1)]
)
def test_interrupted_selfplay_keeps_its_games(server, tmp_path, number, threads):
    folder = tmp_path / "run"
    arguments = train_arguments(folder, 1, threads, training__generation_positions=1500)
    server.start(arguments)
    wait_for("games/unsaved.journal", folder)
    server.kill(number)
    assert server.wait() == 128 + number
    printed = server.output.read_text()
    assert "stopping: saving what was done" in printed
    assert f"plainzero train {folder}" in printed.replace("\n", "")
    check_whole(folder)
    before = games_of(folder)
    assert before and not (folder / "state.safetensors").exists()
    assert server.run(arguments) == 0
    assert set(before) <= set(games_of(folder))


def test_interrupted_learning_is_finished_first(server, tmp_path):
    whole, folder = tmp_path / "whole", tmp_path / "run"
    options = {"training__reuse": 40.0, "training__max_uses": 500}
    assert server.run(train_arguments(whole, 2, **options)) == 0
    server.start(train_arguments(folder, 2, **options))
    wait_for("games/000001.*.parquet", folder)
    server.kill(signal.SIGINT)
    assert server.wait() == 130
    printed = server.output.read_text().replace("\n", "")
    assert f"Saved in {folder}" in printed and f"plainzero train {folder}" in printed
    assert len(unclocked_metrics(folder)) == 1
    assert server.run(train_arguments(folder, 2, **options)) == 0
    assert weights_of(folder) == weights_of(whole)


def test_a_second_interrupt_ends_at_once(server, tmp_path):
    folder = tmp_path / "run"
    options = {"training__reuse": 20_000.0, "training__max_uses": 100_000}
    server.start(train_arguments(folder, 1, **options))
    wait_for("games/000001.*.parquet", folder)
    server.kill(signal.SIGINT)
    deadline = time.monotonic() + PATIENCE
    while "stopping" not in server.output.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    server.kill(signal.SIGINT)
    assert server.wait() == 130
    check_whole(folder)
    assert "Traceback" not in server.output.read_text()


def test_a_run_interrupted_later_says_what_it_has(server, tmp_path):
    folder = tmp_path / "run"
    assert server.run(train_arguments(folder, 1)) == 0
    server.start(train_arguments(folder, 2, training__generation_positions=1500))
    wait_for("games/unsaved.journal", folder)
    server.kill(signal.SIGINT)
    assert server.wait() == 130
    assert f"Saved in {folder}" in server.output.read_text().replace("\n", "")
