"""Self-play on a GPU gives the CPU's games; in Numba's simulator, and on a GPU if available."""

import json
from pathlib import Path

import pytest
import torch
from gpu_selfplay_program import CASES, SEARCHES, STEP, find_all
from gpu_simulator import simulate

from plainzero.devices import choose_device, find_gpus

pytestmark = pytest.mark.slow

PROGRAM = str(Path(__file__).parents[1] / "gpu_selfplay_program.py")
has_gpu = torch.cuda.is_available() and find_gpus().gpu_count > 0


@pytest.fixture(
    scope="module",
    params=[
        "simulator",
        pytest.param("gpu", marks=pytest.mark.skipif(not has_gpu, reason="needs an NVIDIA GPU")),
    ],
)
def found(request):
    """All that the program finds, once."""
    if request.param == "gpu":
        choose_device("cuda", needs_torch=True)
        return find_all("cuda", is_exact=False)  # the last digits of a logarithm may differ
    return json.loads(simulate(PROGRAM))


@pytest.mark.parametrize("case", CASES)
def test_every_game_is_one_that_the_cpu_plays_too(case, found):
    games = found["games"][case]
    assert games["games"] >= 3
    assert games["unknown"] == 0


@pytest.mark.parametrize("case", CASES)
def test_positions_to_learn_from_are_those_of_the_games(case, found):
    assert found["games"][case]["differing"] == []


def test_games_end_by_rules_by_proof_and_by_resignation(found):
    endings = [ending for games in found["games"].values() for ending in games["endings"]]
    assert set(endings) == {"rules", "proof", "resignation"}


def test_games_say_which_weights_played_them(found):
    for games in found["games"].values():
        assert [list(steps) for steps in games["steps"]] == [[STEP, STEP]]


def test_games_that_a_full_store_has_no_room_for_come_into_the_next(found):
    first, again, second, last = found["stores"]["taken"]
    games, moves, targets = found["stores"]["limits"]
    for taken in (first, second):
        assert 0 < taken[0] <= games and taken[1] <= moves and taken[2] <= targets
    assert first[0] < 4  # of the games that had ended
    assert again == first and first[0] + second[0] <= 4
    assert last == second
    assert found["stores"]["waiting"] == [4 - first[0], 4 - first[0], 0, 0]


def test_a_store_is_kept_as_long_as_its_harvest_can_be_taken(found):
    assert found["stores"]["is_kept"]


def test_a_store_has_room_for_the_moves_that_are_no_targets(found):
    assert found["rare targets"]["is_enough"], found["rare targets"]["taken"]


@pytest.mark.parametrize("case", SEARCHES)
def test_searches_in_one_part_and_in_two_visit_as_the_cpu_does(case, found):
    visits = found["searches"][case]
    assert visits["one"] == visits["three"] == visits["cpu"]
    assert all(sum(row) >= 8 for row in visits["cpu"])


def test_positions_are_observed_as_on_the_host(found):
    assert found["is_observed"] is True


def test_every_kernel_can_be_compiled_ahead(found):
    assert found["compiled"] == ["select", "finish", "others", "search"]


def test_a_gpu_without_room_for_the_tree_is_told_in_one_sentence(found):
    assert found["too much"] == (
        "ValueError: the GPU cannot allocate 70,368,744,177,664 bytes for the tree; search fewer "
        "games side by side, or set a smaller max_bytes"
    )


def test_an_evaluator_that_gives_no_numbers_is_named_after_the_harvest(found):
    assert found["no numbers"].startswith("EvaluatorError: ")
