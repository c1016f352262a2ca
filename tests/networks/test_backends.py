"""Every backend agrees with PyTorch in float32, also with new weights and in threads."""

import importlib.util
import threading
import time

import numpy as np
import pytest
import torch
from drawn_networks import GAMES, drawn_network, observations

from plainzero import SearchConfig, make_game, search
from plainzero.networks import network_evaluators as evaluators
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import (
    CPU_BACKENDS,
    TOLERANCES,
    available_backends,
    choose_backend,
    disagreement,
    make_evaluator,
)

pytestmark = pytest.mark.slow

CONNECT_FOUR = make_game("connect-four")
SMALL = NetworkConfig(blocks=2, channels=32)


def in_float32(network, planes):
    with torch.inference_mode():
        output = network.eval()(torch.from_numpy(planes))
    return output.logits.numpy(), output.values.numpy()


def assert_agrees(backend, answers, expected):
    (logits, values), (true_logits, true_values) = answers, expected
    assert logits.dtype == values.dtype == np.float32
    assert logits.shape == true_logits.shape and values.shape == true_values.shape
    assert disagreement(answers, expected) <= TOLERANCES[backend]


def made(network, game, backend, **options):
    if backend not in available_backends(network):
        pytest.skip(f"{backend} cannot run this network here")
    return make_evaluator(network, game, backend, **options)


@pytest.mark.parametrize("backend", CPU_BACKENDS)
@pytest.mark.parametrize("name", GAMES)
def test_a_backend_agrees_with_float32(name, backend):
    game = make_game(name)
    network, planes = drawn_network(game, GAMES[name]), observations(game, 100, seed=1)
    expected = in_float32(network, planes)
    assert np.abs(expected[0]).max() > 1 and np.abs(expected[1]).max() > 0.3
    assert_agrees(backend, made(network, game, backend)(planes), expected)


@pytest.mark.parametrize("backend", CPU_BACKENDS)
def test_a_backend_agrees_with_float32_in_a_deep_network(backend):
    network = drawn_network(CONNECT_FOUR, NetworkConfig(blocks=10, channels=64), seed=3)
    planes = observations(CONNECT_FOUR, 50, seed=2)
    answers = made(network, CONNECT_FOUR, backend)(planes)
    assert_agrees(backend, answers, in_float32(network, planes))


@pytest.mark.parametrize("backend", CPU_BACKENDS)
def test_new_weights_reach_a_running_evaluator(backend):
    old, new = (drawn_network(CONNECT_FOUR, SMALL, seed) for seed in (0, 1))
    planes = observations(CONNECT_FOUR, 20)
    evaluator = made(old, CONNECT_FOUR, backend)
    before = evaluator(planes)
    kept = before[0].copy()
    evaluator.load(new)
    assert_agrees(backend, evaluator(planes), in_float32(new, planes))
    assert np.array_equal(before[0], kept)  # what was given out stays as it was
    evaluator.load(old)
    assert np.array_equal(evaluator(planes)[0], kept)


@pytest.mark.parametrize("backend", CPU_BACKENDS)
def test_training_a_network_does_not_change_its_evaluator(backend):
    network, planes = drawn_network(CONNECT_FOUR, SMALL), observations(CONNECT_FOUR, 20)
    evaluator = made(network, CONNECT_FOUR, backend)
    before = evaluator(planes)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2.0)
    after = evaluator(planes)
    assert np.array_equal(before[0], after[0]) and np.array_equal(before[1], after[1])


@pytest.mark.parametrize("backend", CPU_BACKENDS)
def test_any_batch_size_works(backend):
    network, planes = drawn_network(CONNECT_FOUR, SMALL), observations(CONNECT_FOUR, 300)
    evaluator = made(network, CONNECT_FOUR, backend)
    for size in (1, 2, 3, 17, 64, 300, 5):
        assert_agrees(backend, evaluator(planes[:size]), in_float32(network, planes[:size]))


@pytest.mark.parametrize("backend", CPU_BACKENDS)
def test_two_threads_get_the_answers_of_one(backend):
    network = drawn_network(CONNECT_FOUR, SMALL)
    batches = [observations(CONNECT_FOUR, 50, seed) for seed in (0, 1)]
    evaluators = [made(network, CONNECT_FOUR, backend) for _ in batches]
    alone = [evaluator(planes) for evaluator, planes in zip(evaluators, batches, strict=True)]
    wrong = []

    def work(index):
        for _ in range(30):
            logits, values = evaluators[index](batches[index])
            if not np.array_equal(logits, alone[index][0]):
                wrong.append(index)
            if not np.array_equal(values, alone[index][1]):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("backend", [name for name in CPU_BACKENDS if name != "onnx"])
def test_an_evaluator_leaves_the_threads_of_pytorch_as_they_were(backend):
    network, before = drawn_network(CONNECT_FOUR, SMALL), torch.get_num_threads()
    seen = []
    evaluator = made(network, CONNECT_FOUR, backend, threads=before + 1)
    hook = torch.nn.modules.module.register_module_forward_hook(
        lambda *_: seen.append(torch.get_num_threads())
    )
    try:
        evaluator(observations(CONNECT_FOUR, 4))
    finally:
        hook.remove()
    assert set(seen) == {before + 1}
    assert torch.get_num_threads() == before


def test_disagreement_is_the_larger_root_mean_square():
    zeros = np.zeros((2, 2), np.float32), np.zeros(2, np.float32)
    logits, values = np.array([[3, 0], [0, 4]], np.float32), np.array([1, -1], np.float32)
    assert disagreement((logits, zeros[1]), zeros) == pytest.approx(2.5)
    assert disagreement((zeros[0], values), zeros) == pytest.approx(1.0)


def test_a_search_takes_an_evaluator():
    game = make_game("trio")
    evaluator = make_evaluator(make_network(game, NetworkConfig(), 0), game, "torch")
    result = search(game, game.new_state(), evaluator, SearchConfig(simulations=20), seed=0)
    assert result.visits.sum() == 20
    assert np.allclose(result.prior, 1 / 16)


def test_auto_takes_the_fastest_backend(monkeypatch):
    network = make_network(CONNECT_FOUR, SMALL, 0)
    real = evaluators.make_evaluator

    class Slowed:
        def __init__(self, evaluator):
            self.backend, self.evaluator = evaluator.backend, evaluator

        def __call__(self, planes):
            if self.backend != "torch":
                time.sleep(0.05)
            return self.evaluator(planes)

    def slowed(*given, **options):
        return Slowed(real(*given, **options))

    monkeypatch.setattr(evaluators, "make_evaluator", slowed)
    assert choose_backend(network, CONNECT_FOUR, batch_size=8) == "torch"


def test_auto_passes_over_a_backend_that_says_something_else(monkeypatch):
    network = drawn_network(CONNECT_FOUR, SMALL)
    monkeypatch.setattr(evaluators, "TOLERANCES", dict.fromkeys(CPU_BACKENDS, 0.0))
    assert choose_backend(network, CONNECT_FOUR, batch_size=8) == "torch"


def test_auto_makes_an_evaluator_of_an_available_backend():
    network = make_network(CONNECT_FOUR, SMALL, 0)
    evaluator = make_evaluator(network, CONNECT_FOUR, "auto", batch_size=16)
    assert evaluator.backend in available_backends(network)


def test_an_unknown_backend_is_refused():
    network = make_network(CONNECT_FOUR, SMALL, 0)
    with pytest.raises(ValueError, match="unknown backend 'tpu'; choose auto, torch"):
        make_evaluator(network, CONNECT_FOUR, "tpu")


def test_a_backend_that_is_not_installed_says_what_to_install(monkeypatch):
    network = make_network(CONNECT_FOUR, SMALL, 0)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name)
    )
    assert "onnx" not in available_backends(network)
    with pytest.raises(ValueError, match=r"not installed: pip install 'plainzero\[onnx\]'"):
        make_evaluator(network, CONNECT_FOUR, "onnx")


def test_backends_a_processor_lacks_are_not_offered(monkeypatch):
    network = make_network(CONNECT_FOUR, SMALL, 0)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", dict)
    assert not {"torch-bf16", "torch-int8"} & set(available_backends(network))
    with pytest.raises(ValueError, match="needs a processor with bf16"):
        make_evaluator(network, CONNECT_FOUR, "torch-bf16")


def test_int8_is_refused_for_an_mlp():
    game = make_game("tic-tac-toe")
    network = make_network(game, NetworkConfig(kind="mlp"), 0)
    with pytest.raises(ValueError, match="torch-int8 needs a residual network"):
        make_evaluator(network, game, "torch-int8")


@pytest.mark.parametrize("options", [{"threads": 0}, {"batch_size": 0}])
def test_counts_below_one_are_refused(options):
    network = make_network(CONNECT_FOUR, SMALL, 0)
    with pytest.raises(ValueError, match="must be 1 or more"):
        make_evaluator(network, CONNECT_FOUR, "auto", **options)
