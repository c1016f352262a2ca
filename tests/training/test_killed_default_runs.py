"""kill -9 with the kind of search, backend and arithmetic that a run has by default.

A backend of few bits must round a position alike whenever it is asked, and measuring strength,
which plays with the same evaluator between two generations, must leave no trace.
"""

import itertools

import pytest
from tiny_runs import check_whole, games_of, train_arguments, unclocked_metrics, weights_of

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import available_backends

pytestmark = pytest.mark.slow

GENERATIONS = 3
HERE = available_backends(make_network(make_game("tic-tac-toe"), NetworkConfig(blocks=1), 1))


def default_arguments(folder, backend, assess_seconds):
    return train_arguments(
        folder,
        GENERATIONS,
        network__channels=16,
        search__selection="gumbel",
        search__visits=0,
        training__precision="auto",
        run__backend=backend,
        run__assess_seconds=assess_seconds,
    )


def unrated(folder):
    """Metrics without ratings: whom a new process plays first depends on what it knows already."""
    ratings = {"rating", "rating_error"}
    return [
        {name: number for name, number in line.items() if name not in ratings}
        for line in unclocked_metrics(folder)
    ]


@pytest.mark.parametrize(
    ("backend", "assess_seconds"), [("torch-bf16", 0.001), ("torch-int8", 0.0)]
)
def test_default_search_and_fast_backends_become_the_same_run(
    server, tmp_path, backend, assess_seconds
):
    if backend not in HERE:
        pytest.skip(f"this processor, or installation, has no {backend}")
    whole, folder = tmp_path / "whole", tmp_path / "run"
    assert server.run(default_arguments(whole, backend, assess_seconds)) == 0
    assert ("rating" in unclocked_metrics(whole)[-1]) == bool(assess_seconds)
    kills = 0
    for last_file in itertools.cycle([3, 5, 2]):  # amid the first generation, after it, amid one
        code = server.run(default_arguments(folder, backend, assess_seconds), last_file=last_file)
        check_whole(folder)
        if code != -9:
            break
        kills += 1
    assert code == 0 or "reached its limit" in server.output.read_text()
    assert kills >= 3
    assert weights_of(folder) == weights_of(whole)
    assert games_of(folder) == games_of(whole)
    assert unrated(folder) == unrated(whole)
