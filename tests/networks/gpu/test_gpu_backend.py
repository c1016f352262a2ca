"""Networks on a GPU: every implementation says what PyTorch says in float32, within its tolerance.

Those that only a GPU can run are tested where there is one; the others here too.
"""

import numpy as np
import pytest
import torch
from drawn_networks import GAMES, drawn_network, observations

from plainzero import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu import backend, choose_network, cudnn_network
from plainzero.networks.gpu.backend import GpuBatch, GpuNetworkEvaluator
from plainzero.networks.gpu.cudnn_network import tuned_convolutions
from plainzero.networks.gpu.eager_network import EagerNetwork
from plainzero.networks.network_evaluators import TOLERANCES, disagreement, make_evaluator

CONNECT_FOUR = make_game("connect-four")
GOMOKU = make_game("gomoku")
SMALL = NetworkConfig(blocks=1, channels=16)
FUSED = {
    "small": (CONNECT_FOUR, NetworkConfig(blocks=2, channels=32)),
    "default": (CONNECT_FOUR, NetworkConfig(blocks=4, channels=64)),
    "wide": (CONNECT_FOUR, NetworkConfig(blocks=6, channels=128)),
    "win, draw, loss": (CONNECT_FOUR, NetworkConfig(blocks=2, channels=64, values="wdl")),
    "large board": (GOMOKU, NetworkConfig(blocks=2, channels=64)),
    "large board, dense": (
        GOMOKU,
        NetworkConfig(blocks=2, channels=64, policy="dense", value_head="dense"),
    ),
    "pass": (make_game("go"), NetworkConfig(blocks=2, channels=64, values="wdl")),
    "six kinds": (make_game("breakthrough"), NetworkConfig(blocks=2, channels=40)),
    "board and dense": (make_game("othello"), NetworkConfig(blocks=1, value_head="dense")),
}
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch):
    """Where the fastest implementation is remembered."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "plainzero" / "fastest_gpu_networks.json"


def expected_of(network, game, planes):
    return make_evaluator(network, game, "torch")(planes)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("is_bf16", [False, True], ids=["float32", "bf16"])
@pytest.mark.parametrize("name", GAMES)
def test_answers_agree_with_float32_within_the_stated_tolerance(name, is_bf16, device):
    game = make_game(name)
    network, planes = drawn_network(game, GAMES[name]), observations(game, 40)
    evaluator = GpuNetworkEvaluator(network, game, device, is_bf16, rows=40)
    answers, expected = evaluator(planes), expected_of(network, game, planes)
    assert [answer.shape for answer in answers] == [answer.shape for answer in expected]
    assert disagreement(answers, expected) <= TOLERANCES[evaluator.backend]
    assert min(np.abs(answer).max() for answer in expected) > 0.1


@needs_gpu
@pytest.mark.parametrize("case", FUSED)
def test_every_implementation_on_a_gpu_is_within_the_tolerance_also_after_new_weights(case):
    game, config = FUSED[case]
    planes, device = observations(game, 300), torch.device("cuda")
    first, second = (drawn_network(game, config, seed) for seed in (0, 1))
    makers = choose_network._makers(first, device, torch.bfloat16, len(planes))
    assert len(makers) > 1
    for name, make in makers.items():
        candidate = make(first)
        for network in (first, second):
            with torch.no_grad():
                candidate.load(network)
                logits, values = candidate(torch.from_numpy(planes).to(device))
            answers = logits.cpu().numpy(), values.cpu().numpy().squeeze(1)
            error = disagreement(answers, expected_of(network, game, planes))
            assert error <= TOLERANCES["gpu-bf16"], name


@needs_gpu
def test_the_fastest_implementation_is_measured_once_and_read_cache(memory):
    network = drawn_network(CONNECT_FOUR, SMALL)
    chosen = GpuNetworkEvaluator(network, CONNECT_FOUR, "cuda", rows=64).network
    ((key, name),) = choose_network._read_cache().items()
    assert name == chosen.name
    choose_network._write_cache(key, "eager")
    assert GpuNetworkEvaluator(network, CONNECT_FOUR, "cuda", rows=64).network.name == "eager"


def test_an_implementation_is_chosen_whatever_the_weights_are(memory, monkeypatch):
    network, seen = drawn_network(CONNECT_FOUR, SMALL), []

    def make(network):
        seen.append(network)
        return EagerNetwork(network, torch.device("cpu"), torch.float32)

    monkeypatch.setattr(choose_network, "_makers", lambda *_: {"one": make, "eager": make})
    monkeypatch.setattr(choose_network, "_time", lambda *_: 1.0)
    monkeypatch.setattr(choose_network, "_key", lambda *_: "this")
    GpuNetworkEvaluator(network, CONNECT_FOUR, "cpu", rows=4)
    tried, used = seen
    assert used is network
    with torch.no_grad():
        for weight in network.parameters():
            weight.mul_(10.0)
    monkeypatch.setattr(choose_network, "_read_cache", dict)
    GpuNetworkEvaluator(network, CONNECT_FOUR, "cpu", rows=4)
    for one, other in zip(tried.parameters(), seen[2].parameters(), strict=True):
        assert torch.equal(one, other)
        assert one.ndim == 1 or one.any()


@pytest.mark.parametrize("device", DEVICES)
def test_what_was_recorded_uses_new_weights_where_they_are(device):
    first, second = (drawn_network(CONNECT_FOUR, SMALL, seed) for seed in (0, 1))
    evaluator = GpuNetworkEvaluator(first, CONNECT_FOUR, device, is_bf16=False)
    planes = observations(CONNECT_FOUR, 12)
    batch = evaluator.leaf_batch(12)
    again = batch.record(batch.run)
    batch.planes.copy_(torch.from_numpy(planes))
    found = []
    for network in (first, second):
        evaluator.load(network)
        again()
        found.append((batch.logits.cpu().numpy().copy(), batch.values.cpu().numpy()[:, 0].copy()))
        expected = expected_of(network, CONNECT_FOUR, planes)
        assert disagreement(found[-1], expected) <= TOLERANCES["gpu-float32"]
    assert disagreement(*found) > 0.1


class TwoSteps:
    """The first step doubles the observations, the second sums them."""

    name, at_once = "two steps", 0

    def load(self, network):
        raise AssertionError("it has no weights")

    def make_buffers(self, rows):
        return torch.zeros((rows, *CONNECT_FOUR.observation_shape))

    def read(self, planes, buffers):
        buffers.copy_(2 * planes)

    def answer(self, buffers, logits, values):
        logits.copy_(buffers.sum((1, 2)))
        values.copy_(buffers.sum((1, 2, 3))[:, None])

    def __call__(self, planes):
        return (2 * planes).sum((1, 2)), (2 * planes).sum((1, 2, 3))[:, None]


def test_batches_of_a_form_of_two_steps_keep_what_they_read_until_they_answer():
    one, other = (GpuBatch(TwoSteps(), CONNECT_FOUR, 3, torch.device("cpu")) for _ in range(2))
    for batch, seed in ((one, 0), (other, 1)):
        batch.planes.copy_(torch.from_numpy(observations(CONNECT_FOUR, 3, seed)))
        batch.run()
        assert not batch.logits.any()
    expected = [TwoSteps()(batch.planes) for batch in (one, other)]
    for batch, (logits, values) in zip((one, other), expected, strict=True):
        batch.planes.zero_()
        batch.answer()
        assert torch.equal(batch.logits, logits) and torch.equal(batch.values, values)
    assert not torch.equal(one.logits, other.logits)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_done_apart_sees_what_was_before_and_is_seen_by_what_follows(device):
    network = drawn_network(CONNECT_FOUR, SMALL)
    batch = GpuNetworkEvaluator(network, CONNECT_FOUR, device, is_bf16=False).leaf_batch(4)
    doubled = torch.zeros((), device=device)
    batch.run()
    batch.on_side_stream(lambda: doubled.copy_(2.0 * batch.logits.sum()))
    batch.join_side_stream()
    assert doubled == 2.0 * batch.logits.sum() and doubled != 0


def test_more_positions_than_one_call_takes_are_evaluated_in_parts(monkeypatch):
    network, planes = drawn_network(CONNECT_FOUR, SMALL), observations(CONNECT_FOUR, 11)
    evaluator = GpuNetworkEvaluator(network, CONNECT_FOUR, "cpu", is_bf16=False)
    whole = evaluator(planes)
    monkeypatch.setattr(backend, "_MOST_AT_ONCE", 4)
    assert disagreement(evaluator(planes), whole) < 1e-6


def test_what_is_read_cache_is_kept_beside_what_is_new_and_damage_is_forgotten(memory):
    assert choose_network._read_cache() == {}
    choose_network._write_cache("one", "eager")
    choose_network._write_cache("other", "cudnn")
    assert choose_network._read_cache() == {"one": "eager", "other": "cudnn"}
    for damaged in ("{", "[1]"):
        memory.write_text(damaged)
        assert choose_network._read_cache() == {}


def test_where_nothing_can_be_written_nothing_is_read_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    choose_network._write_cache("one", "eager")
    assert choose_network._read_cache() == {}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@pytest.mark.parametrize("backend", ["gpu-bf16", "gpu-float32"])
def test_backends_of_a_gpu_are_refused_without_one(backend):
    network = drawn_network(CONNECT_FOUR, SMALL)
    with pytest.raises(
        ValueError, match=f"backend {backend} needs an NVIDIA GPU and a PyTorch with"
    ):
        make_evaluator(network, CONNECT_FOUR, backend)


def test_tuning_is_switched_off_when_the_last_thread_is_done():
    assert not torch.backends.cudnn.benchmark
    first, second = tuned_convolutions(), tuned_convolutions()
    first.__enter__()
    second.__enter__()
    assert torch.backends.cudnn.benchmark
    first.__exit__(None, None, None)
    assert torch.backends.cudnn.benchmark
    second.__exit__(None, None, None)
    assert not torch.backends.cudnn.benchmark


@pytest.mark.parametrize("name", ["cudnn", "eager"])
def test_choosing_and_calling_a_network_leaves_tuning_off(name, memory, monkeypatch):
    """cuDNN's convolutions are replaced by public ones, so that they run on a CPU."""
    seen = []

    def convolve(x, weight, bias, padding):
        seen.append(torch.backends.cudnn.benchmark)
        result = torch.nn.functional.conv2d(
            x.float(), weight.float(), bias.float(), padding=padding
        )
        return result.relu().to(x.dtype)

    def convolve_add(x, weight, added, bias, padding):
        return convolve(x, weight, bias, padding) + added

    monkeypatch.setattr(cudnn_network, "convolve_relu", convolve)
    monkeypatch.setattr(cudnn_network, "convolve_add_relu", convolve_add)
    device = torch.device("cpu")
    makers = {
        "cudnn": lambda network: cudnn_network.CudnnNetwork(network, device),
        "eager": lambda network: EagerNetwork(network, device, torch.float32),
    }
    monkeypatch.setattr(choose_network, "_makers", lambda *_: makers)
    monkeypatch.setattr(choose_network, "_key", lambda *_: "this")
    monkeypatch.setattr(choose_network, "_read_cache", lambda: {"this": name})
    network = drawn_network(CONNECT_FOUR, SMALL)
    evaluator = GpuNetworkEvaluator(network, CONNECT_FOUR, "cpu", rows=4)
    evaluator(observations(CONNECT_FOUR, 4))
    assert evaluator.network.name == name
    assert set(seen) == ({True} if name == "cudnn" else set())
    assert not torch.backends.cudnn.benchmark
