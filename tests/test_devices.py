"""The choice of a device, and the message if it is unavailable."""

import logging
import shutil
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import torch

from plainzero import SearchConfig, Searcher, devices, make_game
from plainzero.devices import (
    DeviceError,
    Gpus,
    choose_device,
    find_gpus,
    torch_device,
    use_device,
)
from plainzero.search.evaluators import device_of

GAME = make_game("tic-tac-toe")
SMALL = SearchConfig(simulations=2)
DRIVER = (13, 0)
USABLE = Gpus(has_package=True, error="", driver=DRIVER, gpu_count=2)
OBSTACLES = {
    "no package": (
        Gpus(False, "", (0, 0), 0),
        "device cuda needs the package numba-cuda: pip install 'plainzero[cuda]'",
    ),
    "no driver": (
        Gpus(True, "\nNo driver.\nInstall one.\n", (0, 0), 0),
        "device cuda needs an NVIDIA GPU and its driver; none was found (No driver): choose cpu",
    ),
    "no gpu": (
        Gpus(True, "", DRIVER, 0),
        "device cuda needs an NVIDIA GPU and its driver; none was found: choose cpu",
    ),
    "an old driver": (
        Gpus(True, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", (11, 8), 1),
        "device cuda has a driver for CUDA 11.8, but needs 12.0 or newer: update the driver",
    ),
    "a driver older than the compiler": (
        Gpus(True, "", (12, 9), 1, toolkit=13),
        "device cuda has a driver for CUDA 12.9, but the compiler is for CUDA 13: "
        "update the driver, or pip install 'plainzero[cuda12]'",
    ),
    "a broken gpu": (
        Gpus(True, "CUDA_ERROR_ECC_UNCORRECTABLE.", DRIVER, 1),
        "device cuda cannot be used (CUDA_ERROR_ECC_UNCORRECTABLE): choose cpu",
    ),
}


def has_gpus(count):
    return torch.cuda.device_count() >= count and find_gpus().gpu_count >= count


@pytest.fixture
def machine(monkeypatch):
    """A function that gives this machine other GPUs than it has."""

    def become(found):
        monkeypatch.setattr(devices, "find_gpus", lambda: found)

    return become


@pytest.fixture
def used(monkeypatch):
    """The numbers of the GPUs that Numba and PyTorch were told to use."""
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    told = {"numba": [], "torch": []}
    monkeypatch.setattr("numba.cuda.select_device", told["numba"].append)
    monkeypatch.setattr("torch.cuda.set_device", told["torch"].append)
    monkeypatch.setattr(devices, "_is_current", lambda number: False)
    return told


@pytest.mark.parametrize(("found", "sentence"), OBSTACLES.values(), ids=OBSTACLES)
def test_each_obstacle_has_its_sentence(found, sentence, machine):
    machine(found)
    with pytest.raises(DeviceError) as raised:
        choose_device("cuda")
    assert str(raised.value) == sentence


@pytest.mark.parametrize("found", [found for found, _ in OBSTACLES.values()], ids=OBSTACLES)
def test_auto_then_takes_the_cpu_and_says_why(found, machine, caplog):
    machine(found)
    with caplog.at_level(logging.INFO, "plainzero"):
        assert choose_device("auto") == "cpu"
    (record,) = caplog.records
    assert record.message.startswith("using the CPU: a GPU ")
    assert record.levelno == logging.INFO


def test_a_gpu_beyond_the_last_is_refused(machine):
    machine(USABLE)
    with pytest.raises(DeviceError) as raised:
        choose_device("cuda:7")
    assert str(raised.value) == (
        "device cuda:7 does not exist; this machine has 2 GPU(s), numbered from 0"
    )


@pytest.mark.parametrize("asked", ["tpu", "", "CUDA", "cuda:", "cuda:-1", "cuda:1.5", "gpu", "0"])
def test_names_that_are_no_device_are_refused(asked):
    with pytest.raises(DeviceError, match="choose auto, cpu, cuda or cuda:1") as raised:
        choose_device(asked)
    assert repr(asked) in str(raised.value)


def test_the_cpu_is_there_whatever_else_is(machine):
    machine(OBSTACLES["no package"][0])
    assert choose_device("cpu", needs_torch=True) == "cpu"


@pytest.mark.parametrize(
    ("asked", "number"), [("auto", 0), ("cuda", 0), ("cuda:0", 0), ("cuda:1", 1)]
)
def test_the_gpu_that_is_meant_is_used_by_numba(asked, number, machine, used):
    machine(USABLE)
    assert choose_device(asked) == f"cuda:{number}"
    assert used == {"numba": [number], "torch": []}


def test_the_gpu_that_is_meant_is_used_by_pytorch_too(machine, used, monkeypatch):
    machine(USABLE)
    monkeypatch.setattr(devices, "_torch_obstacle", lambda number: "")
    assert choose_device("cuda:1", needs_torch=True) == "cuda:1"
    assert used == {"numba": [1], "torch": [1]}


def test_a_driver_newer_than_the_compiler_is_fine(machine, used):
    machine(Gpus(True, "", (13, 1), 1, toolkit=12))
    assert choose_device("cuda") == "cuda:0"


def test_a_device_is_used_by_numba_and_by_pytorch_once_that_is_on_a_gpu(used, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_initialized", lambda: False)
    for device in ("cpu", "cuda:1"):
        use_device(device)
    assert used == {"numba": [1], "torch": []}
    monkeypatch.setattr("torch.cuda.is_initialized", lambda: True)
    use_device("cuda:2")
    assert used == {"numba": [1, 2], "torch": [2]}


def test_pytorch_without_cuda_is_refused_where_it_is_needed(machine, used, monkeypatch):
    machine(USABLE)
    monkeypatch.setattr("torch.version.cuda", None)
    with pytest.raises(DeviceError) as raised:
        choose_device("cuda", needs_torch=True)
    assert str(raised.value) == ("device cuda needs a PyTorch built for CUDA: see pytorch.org")
    assert used == {"numba": [], "torch": []}
    assert choose_device("auto", needs_torch=True) == "cpu"
    assert choose_device("cuda") == "cuda:0"


@pytest.mark.parametrize("count", [0, 1])
def test_a_gpu_that_pytorch_cannot_use_is_refused(count, machine, monkeypatch):
    machine(USABLE)
    monkeypatch.setattr("torch.version.cuda", "13.0")
    monkeypatch.setattr("torch.cuda.is_available", lambda: count > 0)
    monkeypatch.setattr("torch.cuda.device_count", lambda: count)
    with pytest.raises(DeviceError) as raised:
        choose_device("cuda:1", needs_torch=True)
    assert str(raised.value) == (
        "device cuda:1 cannot be used by PyTorch: its CUDA does not match the driver; "
        "update the driver"
    )


def test_a_machine_without_the_package_is_looked_at_without_it():
    program = (
        "import sys; sys.modules['numba_cuda'] = None; import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name: None if name == 'numba_cuda' else find(name)\n"
        "from plainzero.devices import find_gpus; print(tuple(find_gpus()))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (told.stdout, told.stderr) == ("(False, '', (0, 0), 0, 0)\n", "")


def test_this_machine_is_looked_at():
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    found = find_gpus()
    assert found.has_package
    assert bool(found.gpu_count) == (not found.error)
    if not found.gpu_count:
        with pytest.raises(DeviceError, match=r"none was found \(\w.*\w\): choose cpu"):
            choose_device("cuda")


class OnDevice:
    """An evaluator as a GPU's find_gpus from outside."""

    def __init__(self, device):
        self.device = torch.device(device)

    def __call__(self, planes):
        raise AssertionError("nobody asks it")

    rows_at_once = 0

    def leaf_batch(self, rows):
        raise AssertionError("nobody asks it")


def test_a_search_is_where_its_evaluator_is(machine, used, monkeypatch):
    machine(USABLE)
    monkeypatch.setattr(devices, "_torch_obstacle", lambda number: "")
    monkeypatch.setattr(
        sys.modules["plainzero.search.resolve_options"], "free_bytes", lambda: 1 << 30
    )
    for asked, on, expected in (
        ("cuda", "cuda:1", "cuda:1"),
        ("auto", "cuda:1", "cuda:1"),
        ("cuda:1", "cuda:1", "cuda:1"),
        ("cuda:1", "cuda", "cuda:1"),
        ("cpu", "cuda:1", "cpu"),
    ):
        assert Searcher(GAME, OnDevice(on), SMALL, device=asked).device == expected
    assert used["torch"] == used["numba"] == [1, 1, 1, 1]


def test_a_search_and_its_evaluator_on_different_gpus_are_refused(machine):
    machine(USABLE)
    with pytest.raises(ValueError) as raised:
        Searcher(GAME, OnDevice("cuda:1"), SMALL, device="cuda:0")
    assert str(raised.value) == (
        "the evaluator is on cuda:1 and the search on cuda:0; choose one GPU for both"
    )


def test_an_evaluator_says_where_a_search_finds_it():
    places = {"cuda:1": "cuda:1", "cuda": "cuda", "cpu": "cuda"}  # the last in the simulator
    assert {on: device_of(OnDevice(on)) for on in places} == places
    assert device_of("rollout") == device_of(lambda planes: planes) == "cpu"


def test_pytorch_knows_a_gpu_by_the_same_name():
    assert torch_device("cuda:1") == "cuda:1"


def test_a_launch_of_few_games_warns_nobody_whatever_other_threads_filter():
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    from numba import config, cuda

    from plainzero.compiler.gpu_kernels import configure

    @cuda.jit
    def nothing(first, last):
        pass

    before = config.CUDA_LOW_OCCUPANCY_WARNINGS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert configure(nothing, 5).griddim == (1, 1, 1)
    assert config.CUDA_LOW_OCCUPANCY_WARNINGS == before


@pytest.mark.skipif(not has_gpus(1), reason="needs an NVIDIA GPU")
def test_positions_are_observed_on_a_gpu_without_warnings():
    from plainzero.selfplay.gpu.worker import observe_rows

    choose_device("cuda", needs_torch=True)
    states = np.zeros(2, GAME.dtype)
    states[:] = GAME.new_state()
    raw = torch.from_numpy(states.view(np.uint8).reshape(2, -1)).cuda()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        planes, legal = observe_rows(GAME, raw, torch.tensor([1, 0], device="cuda"))
    assert torch.equal(planes[0].cpu(), torch.from_numpy(GAME.observation(GAME.new_state())))
    assert legal.all()


def test_a_kernel_that_cannot_be_kept_on_disk_is_compiled_after_a_warning(monkeypatch):
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    from plainzero.compiler.gpu_kernels import GpuKernel

    monkeypatch.setattr("plainzero.compiler.warn_once._given", set())
    names = {}
    exec("def nothing(first, last):\n    pass", names)  # of no file, so that none is beside it
    kernel = GpuKernel(names["nothing"])
    with pytest.warns(RuntimeWarning, match="Point NUMBA_CACHE_DIR at a folder you can write to"):
        assert not kernel.is_cached("tag")


@pytest.mark.skipif(not has_gpus(1), reason="needs an NVIDIA GPU")
def test_a_cache_folder_that_went_away_gives_a_warning_and_the_result(tmp_path, monkeypatch):
    from plainzero.compiler.gpu_kernels import GpuKernel
    from plainzero.compiler.gpu_memory import download, upload

    def write(numbers, first, last):
        numbers[0] = 7

    monkeypatch.setattr("plainzero.compiler.warn_once._given", set())
    for config in ("numba.config", "numba.cuda.core.config"):
        monkeypatch.setattr(f"{config}.CACHE_DIR", str(tmp_path / "cache"))
    kernel, numbers = GpuKernel(write), upload(np.zeros(1))
    folder = kernel._dispatcher("tag", None).stats.cache_path
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert folder.startswith(str(tmp_path))
    with pytest.warns(RuntimeWarning, match="Point NUMBA_CACHE_DIR at a folder you can write to"):
        kernel("tag", numbers, 0, 1)
    assert download(numbers)[0] == 7


@pytest.mark.skipif(not has_gpus(1), reason="needs an NVIDIA GPU")
def test_another_thread_works_with_the_gpu_it_is_told_to_without_piling_up_contexts():
    from numba import cuda

    choose_device("cuda", needs_torch=True)
    found = []

    def work():
        use_device("cuda:0")
        use_device("cuda:0")
        found.append(cuda.get_current_device().id)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [0]


@pytest.mark.skipif(not has_gpus(2), reason="needs two NVIDIA GPUs")
def test_both_libraries_work_on_the_second_gpu():
    from numba import cuda

    try:
        choose_device("cuda:1", needs_torch=True)
        assert cuda.get_current_device().id == torch.cuda.current_device() == 1
    finally:
        choose_device("cuda:0", needs_torch=True)
