"""The same command and the same run folder on a device: here in Numba's simulator."""

import json
from pathlib import Path

import pytest
from gpu_simulator import simulate
from tiny_runs import CLOCKED, check_whole, games_of, weights_of

from plainzero.training.replay import window_size
from plainzero.training.run_folder import RunFolder

pytestmark = pytest.mark.slow

PROGRAM = str(Path(__file__).parents[1] / "gpu_run_program.py")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of all runs, and what their commands said."""
    path = tmp_path_factory.mktemp("runs")
    return path, json.loads(simulate(PROGRAM, str(path)))


def metrics_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def shards_of(folder):
    return sorted(path.name for path in (folder / "games").glob("*.parquet"))


def test_a_run_begins_goes_on_and_ends_without_a_word_of_warning(runs):
    _, told = runs
    for name in ("begun", "gone on", "killed"):
        assert (told[name]["code"], told[name]["err"]) == (0, "")
    assert "gpu-float32 on cuda:0\n" in told["begun"]["out"].replace("\ncuda", " cuda")
    assert "generation 2" in told["gone on"]["out"]
    assert "generation 1" not in told["gone on"]["out"]


def test_no_generation_is_begun_beyond_the_last(runs):
    assert set(runs[1]["generations begun"]) == {1}


def test_a_fault_in_the_last_harvest_ends_the_generation_that_it_is_of(runs):
    assert "tic-tac-toe" in runs[1]["late fault"]


def test_the_folder_has_what_a_run_on_the_cpu_has(runs):
    path, _ = runs
    folder = RunFolder(path / "killed")
    check_whole(folder.path)
    assert sorted(item.name for item in folder.path.glob("[!.]*")) == [
        *("config.toml", "events", "games", "metrics.jsonl", "state.safetensors", "weights")
    ]
    assert len(shards_of(folder.path)) == 2
    steps = [0, *(line["step"] for line in metrics_of(folder.path))]
    assert list(weights_of(folder.path)) == [f"{step:08d}.safetensors" for step in steps]
    assert steps == sorted(set(steps)) and len(steps) == 3
    config, _ = folder.read_config()
    assert (config.run.device, config.run.backend) == ("cuda", "gpu-float32")


def test_metrics_count_the_games_and_positions_on_disk(runs):
    path, _ = runs
    lines, games = metrics_of(path / "cuda"), games_of(path / "cuda")
    assert lines[-1]["total_games"] == len(games)
    assert sum(line["games"] for line in lines) == len(games)
    assert [line["generation"] for line in lines] == [1, 2, 3]
    assert len(set(games)) > len(games) // 2  # a resumed run does not repeat its games


def test_the_window_holds_the_positions_again_when_a_run_goes_on(runs):
    config, _ = RunFolder(runs[0] / "cuda").read_config()
    lines = metrics_of(runs[0] / "cuda")
    for line in lines:
        assert line["replay_positions"] == window_size(line["total_positions"], config.training)
    assert 0 < lines[1]["replay_age"] < 1


def test_a_killed_run_learns_from_the_games_on_disk_as_it_would_have(runs):
    path, _ = runs
    assert shards_of(path / "killed") == shards_of(path / "cuda")[:2]
    ours, theirs = weights_of(path / "killed"), weights_of(path / "cuda")
    assert len(ours) == 3 and all(theirs[name] == weights for name, weights in ours.items())
    again, once = (metrics_of(path / name)[1] for name in ("killed", "cuda"))
    clocked = CLOCKED & once.keys()
    assert again == {name: value for name, value in once.items() if name not in clocked} | {
        name: again[name] for name in clocked & again.keys()
    }


def test_a_run_goes_on_on_the_cpu(runs):
    path, told = runs
    assert told["on the cpu"]["code"] == 0
    assert "dropping the games in progress" in told["on the cpu"]["err"]
    config, _ = RunFolder(path / "cuda").read_config()
    assert (config.run.device, config.run.backend) == ("cpu", "torch")
    assert len(shards_of(path / "cuda")) == 3
    check_whole(path / "cuda")


def test_a_disk_that_is_full_when_games_are_written_ends_the_run_before_it_counts_them(runs):
    path, told = runs
    assert told["full disk"]["code"] == 2
    assert ": No space left on device; what was saved" in told["full disk"]["err"]
    assert (told["room again"]["code"], told["room again"]["err"]) == (0, "")
    (line,) = metrics_of(path / "full")
    assert line["total_games"] == len(games_of(path / "full"))


def test_a_generation_ends_where_its_games_find_no_more_room(runs):
    positions, refused = runs[1]["little room"]
    assert 0 < positions < 24
    assert refused == "0 games of 0 moves had no position to learn from; set a larger full_share"


def test_a_gpu_that_is_not_there_is_refused_before_a_folder_is_made(runs):
    path, told = runs
    assert told["not there"] == {
        "code": 2,
        "out": "",
        "err": "plainzero: device cuda:3 does not exist; this machine has 1 GPU(s), "
        "numbered from 0\n",
    }
    assert not (path / "other").exists()
