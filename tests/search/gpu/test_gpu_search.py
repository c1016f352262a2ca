"""The search in CUDA kernels: visit counts equal those on the CPU.

Without a GPU the kernels run in Numba's simulator, in a separate process, because environment
variables select it when Numba is loaded.
"""

import json
from pathlib import Path

import pytest
from gpu_search_program import CASES, OTHER_CASES, run_case
from gpu_simulator import simulate

from plainzero.games import bundled_games

pytestmark = pytest.mark.slow

PROGRAM = str(Path(__file__).with_name("gpu_search_program.py"))


@pytest.fixture(scope="module")
def simulated():
    return json.loads(simulate(PROGRAM, "cuda", *CASES))


@pytest.mark.parametrize("case", CASES)
def test_simulated_cuda_kernels_visit_as_the_cpu_does(case, simulated):
    assert simulated[case]["cuda"] == run_case(case, "cpu")


def test_every_bundled_game_is_searched_in_the_simulator_as_on_the_cpu():
    titles = {case.partition(" ")[0].partition("(")[0] for case in (*CASES, *OTHER_CASES)}
    assert titles == set(bundled_games())
    for case, visits in json.loads(simulate(PROGRAM, "cuda,cpu", *OTHER_CASES)).items():
        assert sum(visits["cpu"][0]) > 5, case
        assert visits["cuda"] == visits["cpu"], case


def has_gpu():
    try:
        from numba import cuda
    except ImportError:
        return False
    return cuda.is_available()


@pytest.mark.skipif(not has_gpu(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("case", [*CASES, *OTHER_CASES])
def test_cuda_kernels_on_a_gpu_visit_as_the_cpu_does(case):
    assert run_case(case, "cuda") == run_case(case, "cpu")


def test_cuda_without_a_gpu_is_refused_in_one_sentence():
    if has_gpu():
        pytest.skip("needs a machine without a GPU")
    with pytest.raises(ValueError, match="device cuda needs"):
        run_case("tic-tac-toe uct", "cuda")
