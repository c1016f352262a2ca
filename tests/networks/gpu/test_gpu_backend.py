"""Networks on a device: every form says what PyTorch says in float32, within its tolerance.

The forms that only a GPU can run are tested where there is one; the others here too.
"""

import numpy as np
import pytest
import torch
from drawn_networks import GAMES, drawn_network, observations

from plainzero import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu import backend as cuda_engine
from plainzero.networks.gpu.backend import CudaBatch, CudaEvaluator
from plainzero.networks.gpu.cudnn_network import EagerForm
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
}
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch):
    """Where it is remembered which form is fastest."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "plainzero" / "gpu_forms.json"


def expected_of(network, game, planes):
    return make_evaluator(network, game, "torch")(planes)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("is_bf16", [False, True], ids=["float32", "bf16"])
@pytest.mark.parametrize("name", GAMES)
def test_answers_agree_with_float32_within_the_stated_tolerance(name, is_bf16, device):
    game = make_game(name)
    network, planes = drawn_network(game, GAMES[name]), observations(game, 40)
    evaluator = CudaEvaluator(network, game, device, is_bf16, rows=40)
    answers, expected = evaluator(planes), expected_of(network, game, planes)
    assert [answer.shape for answer in answers] == [answer.shape for answer in expected]
    assert disagreement(answers, expected) <= TOLERANCES[evaluator.engine]
    assert min(np.abs(answer).max() for answer in expected) > 0.1


@needs_gpu
@pytest.mark.parametrize("case", FUSED)
def test_every_form_on_a_gpu_is_within_the_tolerance_also_after_new_weights(case):
    game, config = FUSED[case]
    planes, device = observations(game, 300), torch.device("cuda")
    first, second = (drawn_network(game, config, seed) for seed in (0, 1))
    makers = cuda_engine._makers(first, device, torch.bfloat16, len(planes))
    assert len(makers) > 1
    for name, make in makers.items():
        form = make(first)
        for network in (first, second):
            with torch.no_grad():
                form.load(network)
                logits, values = form(torch.from_numpy(planes).to(device))
            answers = logits.cpu().numpy(), values.cpu().numpy().squeeze(1)
            error = disagreement(answers, expected_of(network, game, planes))
            assert error <= TOLERANCES["cuda-bf16"], name


@needs_gpu
def test_the_fastest_form_is_measured_once_and_remembered(memory):
    network = drawn_network(CONNECT_FOUR, SMALL)
    form = CudaEvaluator(network, CONNECT_FOUR, "cuda", rows=64).form
    ((key, name),) = cuda_engine._remembered().items()
    assert name == form.name
    cuda_engine._remember(key, "eager")
    assert CudaEvaluator(network, CONNECT_FOUR, "cuda", rows=64).form.name == "eager"


def test_a_form_is_chosen_whatever_the_weights_are(memory, monkeypatch):
    network, seen = drawn_network(CONNECT_FOUR, SMALL), []

    def make(network):
        seen.append(network)
        return EagerForm(network, torch.device("cpu"), torch.float32)

    monkeypatch.setattr(cuda_engine, "_makers", lambda *_: {"one": make, "eager": make})
    monkeypatch.setattr(cuda_engine, "_time", lambda *_: 1.0)
    monkeypatch.setattr(cuda_engine, "_key", lambda *_: "this")
    CudaEvaluator(network, CONNECT_FOUR, "cpu", rows=4)
    tried, used = seen
    assert used is network
    with torch.no_grad():
        for weight in network.parameters():
            weight.mul_(10.0)
    monkeypatch.setattr(cuda_engine, "_remembered", dict)
    CudaEvaluator(network, CONNECT_FOUR, "cpu", rows=4)
    for one, other in zip(tried.parameters(), seen[2].parameters(), strict=True):
        assert torch.equal(one, other)
        assert one.ndim == 1 or one.any()


@pytest.mark.parametrize("device", DEVICES)
def test_what_was_recorded_uses_new_weights_where_they_are(device):
    first, second = (drawn_network(CONNECT_FOUR, SMALL, seed) for seed in (0, 1))
    evaluator = CudaEvaluator(first, CONNECT_FOUR, device, is_bf16=False)
    planes = observations(CONNECT_FOUR, 12)
    batch = evaluator.device_batch(12)
    again = batch.record(batch.run)
    batch.planes.copy_(torch.from_numpy(planes))
    found = []
    for network in (first, second):
        evaluator.load(network)
        again()
        found.append((batch.logits.cpu().numpy().copy(), batch.values.cpu().numpy()[:, 0].copy()))
        expected = expected_of(network, CONNECT_FOUR, planes)
        assert disagreement(found[-1], expected) <= TOLERANCES["cuda-float32"]
    assert disagreement(*found) > 0.1


class TwoSteps:
    """The first step doubles the observations, the second sums them."""

    name, at_once = "two steps", 0

    def load(self, network):
        raise AssertionError("it has no weights")

    def make_room(self, rows):
        return torch.zeros((rows, *CONNECT_FOUR.observation_shape))

    def read(self, planes, room):
        room.copy_(2 * planes)

    def answer(self, room, logits, values):
        logits.copy_(room.sum((1, 2)))
        values.copy_(room.sum((1, 2, 3))[:, None])

    def __call__(self, planes):
        return (2 * planes).sum((1, 2)), (2 * planes).sum((1, 2, 3))[:, None]


def test_batches_of_a_form_of_two_steps_keep_what_they_read_until_they_answer():
    one, other = (CudaBatch(TwoSteps(), CONNECT_FOUR, 3, torch.device("cpu")) for _ in range(2))
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
    batch = CudaEvaluator(network, CONNECT_FOUR, device, is_bf16=False).device_batch(4)
    doubled = torch.zeros((), device=device)
    batch.run()
    batch.apart(lambda: doubled.copy_(2.0 * batch.logits.sum()))
    batch.join()
    assert doubled == 2.0 * batch.logits.sum() and doubled != 0


def test_more_positions_than_one_call_takes_are_evaluated_in_parts(monkeypatch):
    network, planes = drawn_network(CONNECT_FOUR, SMALL), observations(CONNECT_FOUR, 11)
    evaluator = CudaEvaluator(network, CONNECT_FOUR, "cpu", is_bf16=False)
    whole = evaluator(planes)
    monkeypatch.setattr(cuda_engine, "_MOST_AT_ONCE", 4)
    assert disagreement(evaluator(planes), whole) < 1e-6


def test_what_is_remembered_is_kept_beside_what_is_new_and_damage_is_forgotten(memory):
    assert cuda_engine._remembered() == {}
    cuda_engine._remember("one", "eager")
    cuda_engine._remember("other", "cudnn")
    assert cuda_engine._remembered() == {"one": "eager", "other": "cudnn"}
    for damaged in ("{", "[1]"):
        memory.write_text(damaged)
        assert cuda_engine._remembered() == {}


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    cuda_engine._remember("one", "eager")
    assert cuda_engine._remembered() == {}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
@pytest.mark.parametrize("engine", ["cuda-bf16", "cuda-float32"])
def test_engines_of_a_gpu_are_refused_without_one(engine):
    network = drawn_network(CONNECT_FOUR, SMALL)
    with pytest.raises(ValueError, match=f"engine {engine} needs an NVIDIA GPU and a PyTorch with"):
        make_evaluator(network, CONNECT_FOUR, engine)
