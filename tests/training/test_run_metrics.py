"""The metrics of each generation, in metrics.jsonl and for TensorBoard."""

import json

import pytest
from tiny_runs import games_of, train_arguments

from plainzero.cli.main import main
from plainzero.networks.architectures import make_network
from plainzero.networks.weights import load_weights, put_weights
from plainzero.training.metrics import MetricsLog, read_metrics
from plainzero.training.saved_run import open_run

NAMES = {
    "generation",
    "step",
    "steps",
    "seconds",
    "total_games",
    "total_positions",
    "loss",
    "policy_loss",
    "value_loss",
    "policy_entropy",
    "target_entropy",
    "policy_kl",
    "search_agreement",
    "value_mean",
    "value_calibration_error",
    "gradient_norm",
    "learning_rate",
    "draw_rate",
    "first_player_score",
    "game_length",
    "proof_rate",
    "resign_rate",
    "replay_positions",
    "replay_age",
    "replay_uses",
    "games_per_second",
    "positions_per_second",
    "evaluations_per_second",
    "simulations_per_second",
    "evaluator_share",
    "evaluations_per_position",
    "selfplay_share",
    "cache_hit_rate",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "told"
    assert main(train_arguments(folder, 2)) == 0
    return folder


def test_every_number_is_written_down(folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["generation"] for line in lines] == [1, 2]
    for line in lines:
        assert line.keys() >= NAMES
        assert 0 < line["evaluator_share"] < 1 and 0 < line["selfplay_share"] < 1
        assert 0 < line["cache_hit_rate"] < 1 and 0 <= line["search_agreement"] <= 1
        assert line["policy_kl"] >= -1e-6 and line["positions_per_second"] > 0
    assert lines[1]["total_games"] == len(games_of(folder)) == sum(line["games"] for line in lines)
    assert lines[1]["replay_age"] == pytest.approx(0.5, abs=0.1)
    assert read_metrics(folder / "metrics.jsonl") == lines


def test_tensorboard_shows_them(folder):
    loading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = loading.EventAccumulator(str(folder / "events"))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {tag.split("/")[1] for tag in tags} >= NAMES
    assert {"learning/loss", "games/draw_rate", "speed/positions_per_second"} <= set(tags)
    assert [event.value for event in events.Scalars("run/generation")] == [1, 2]


def test_the_weights_of_a_run_are_files_of_weights(folder):
    run = open_run(folder)
    assert run.steps[0] == 0 and len(run.steps) == 3
    network = make_network(run.game, run.config.network, 0)
    weights, metadata = load_weights(run.folder.weights_file(run.steps[-1]))
    put_weights(network, weights, "here")
    assert metadata == {}


def test_a_log_forgets_what_was_never_committed(tmp_path):
    log = MetricsLog(tmp_path / "metrics.jsonl", tmp_path / "events", 0)
    size = log.write({"step": 1, "loss": 1.23456789})
    log.write({"step": 2, "loss": 2.0})
    log.close()
    again = MetricsLog(tmp_path / "metrics.jsonl", tmp_path / "events", size)
    again.write({"step": 2, "loss": 3.0})
    again.close()
    assert read_metrics(tmp_path / "metrics.jsonl") == [
        {"step": 1, "loss": 1.23457},
        {"step": 2, "loss": 3.0},
    ]


def test_a_line_cut_short_is_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    assert read_metrics(path) == []
    path.write_text('{"step": 1}\n{"step": 2')
    assert read_metrics(path) == [{"step": 1}]
