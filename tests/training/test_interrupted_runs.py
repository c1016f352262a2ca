"""Ctrl-C, and the polite kill: the run saves, says how to resume it, and can be resumed."""

import signal
import time

import pytest
from tiny_runs import check_whole, games_of, train_arguments, unclocked_metrics, weights_of

pytestmark = pytest.mark.slow

ENDLESS = 10**9  # positions of a generation that no process lives to see


def wait_for(server, has_happened):
    """Returns once it has; a process that ended before will never make it happen."""
    while not has_happened():
        assert server.is_running() or has_happened(), server.output.read_text()
        time.sleep(0.01)


def wait_for_file(server, folder, pattern):
    wait_for(server, lambda: any(folder.glob(pattern)))


@pytest.mark.parametrize(
    ("number", "threads"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1)]
)
def test_interrupted_selfplay_keeps_its_games(server, tmp_path, number, threads):
    folder = tmp_path / "run"
    server.start(train_arguments(folder, 1, threads, training__generation_positions=ENDLESS))
    wait_for_file(server, folder, "games/unsaved.journal")
    server.kill(number)
    assert server.wait() == 128 + number
    printed = server.output.read_text()
    assert "stopping" in printed
    assert f"plainzero train {folder}" in printed.replace("\n", "")
    check_whole(folder)
    before = games_of(folder)
    assert before and not (folder / "state.safetensors").exists()
    assert server.run(train_arguments(folder, 1, threads)) == 0
    assert set(before) <= set(games_of(folder))


def test_interrupted_learning_is_finished_first(server, tmp_path):
    whole, folder = tmp_path / "whole", tmp_path / "run"
    assert server.run(train_arguments(whole, 2)) == 0
    # Files in order: config, first weights, games in progress, shard. Then it learns.
    code = server.run(train_arguments(folder, 2), last_file=4, signal=signal.SIGINT)
    assert code == 130
    assert len([*folder.glob("games/*.parquet")]) == 1
    printed = server.output.read_text().replace("\n", "")
    assert f"Saved in {folder}" in printed and f"plainzero train {folder}" in printed
    assert len(unclocked_metrics(folder)) == 1
    assert server.run(train_arguments(folder, 2)) == 0
    assert weights_of(folder) == weights_of(whole)


def test_a_second_interrupt_ends_at_once(server, tmp_path):
    folder = tmp_path / "run"
    options = {"training__reuse": 20_000.0, "training__max_uses": 100_000}
    server.start(train_arguments(folder, 1, **options))
    wait_for_file(server, folder, "games/000001.*.parquet")
    server.kill(signal.SIGINT)
    wait_for(server, lambda: "stopping" in server.output.read_text())
    server.kill(signal.SIGINT)
    assert server.wait() == 130
    check_whole(folder)
    assert "Traceback" not in server.output.read_text()


def test_a_run_interrupted_later_says_what_it_has(server, tmp_path):
    folder = tmp_path / "run"
    assert server.run(train_arguments(folder, 1)) == 0
    server.start(train_arguments(folder, 2, training__generation_positions=ENDLESS))
    wait_for_file(server, folder, "games/unsaved.journal")
    server.kill(signal.SIGINT)
    assert server.wait() == 130
    assert f"Saved in {folder}" in server.output.read_text().replace("\n", "")
