"""Whole runs that learn further targets: killed, resumed, and what of them plays."""

import itertools
import json
from pathlib import Path

import pytest
from tiny_runs import train_arguments, unclocked_metrics, weights_of

from plainzero.networks.weights import load_weights

pytestmark = pytest.mark.slow

CASES = {
    "policies": (
        "tic-tac-toe",
        {
            "training__soft_policy": 8.0,
            "training__reply": 0.15,
            "training__short_values": 0.5,
            "training__short_horizons": "2,5",
            "training__surprise": 0.5,
            "selfplay__full_share": 0.5,
        },
    ),
    "boards": (
        "dots-and-boxes",
        {"training__score": 1.0, "training__ownership": 1.5, "selfplay__end_proven": False},
    ),
    "reanalysis": ("tic-tac-toe", {"training__reanalyse": 0.5, "search__proven_values": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_killed_run_becomes_the_same_run(server, tmp_path, case):
    game, options = CASES[case]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    arguments = {"game": game, **options}
    assert server.run(train_arguments(whole, 3, **arguments)) == 0, server.output.read_text()
    for last_file in itertools.cycle([3, 5, 6]):
        code = server.run(train_arguments(killed, 3, **arguments), last_file=last_file)
        if code != -9:
            break
    assert code == 0 or "reached its limit" in server.output.read_text()
    assert weights_of(killed) == weights_of(whole)
    assert unclocked_metrics(killed) == unclocked_metrics(whole)
    (*_, last) = unclocked_metrics(whole)
    names = {name.partition("__")[2] for name, value in options.items() if "training" in name}
    learned = names & {"soft_policy", "reply", "short_values", "score", "ownership"}
    assert all(0 < last[f"{name}_loss"] < 10 for name in learned)
    if case == "reanalysis":
        assert last["reanalysed_positions"] > 50


def test_weights_that_play_are_those_of_a_run_without(server, tmp_path):
    names = []
    for number, options in enumerate(({}, CASES["policies"][1])):
        folder = tmp_path / str(number)
        arguments = train_arguments(folder, 1, **options)
        assert server.run(arguments) == 0, server.output.read_text()
        files = sorted(Path(folder, "weights").iterdir())
        names.append([load_weights(path)[0].keys() for path in files])
    assert names[0] == names[1]


def test_a_run_from_before_these_settings_goes_on(server, tmp_path):
    whole, old = tmp_path / "whole", tmp_path / "old"
    for folder in (whole, old):
        arguments = train_arguments(folder, 2)
        assert server.run(arguments, **({"last_file": 7} if folder is old else {})) in (0, -9)
    config = old / "config.toml"
    new = ("soft_policy", "reply", "short_", "score", "ownership", "surprise", "reanalyse")
    lines = config.read_text().splitlines(keepends=True)
    config.write_text("".join(line for line in lines if not line.startswith(new)))
    assert len(config.read_text().splitlines()) == len(lines) - 8
    assert server.run(["train", str(old)]) in (0, 2), server.output.read_text()
    assert weights_of(old) == weights_of(whole)
    (*_, last) = [json.loads(line) for line in Path(old, "metrics.jsonl").read_text().splitlines()]
    assert last["generation"] == 2 and "reply_loss" not in last
