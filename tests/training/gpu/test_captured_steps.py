"""A learner's step captured on a GPU takes the steps that PyTorch takes one by one, and the CPU."""

import dataclasses

import numpy as np
import pytest
import torch
from test_gpu_learning import PLAIN, learn_from, some_positions

from plainzero import make_game
from plainzero.devices import choose_device, find_gpus
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.training.choose_device import make_replay
from plainzero.training.gpu.learner import GpuLearner

GAME = make_game("tic-tac-toe")
pytestmark = pytest.mark.skipif(
    not (torch.cuda.is_available() and find_gpus().gpu_count), reason="needs an NVIDIA GPU"
)


@pytest.fixture(autouse=True, scope="module")
def gpu():
    choose_device("cuda", needs_torch=True)


def make_pair(device, is_captured=True, count=40, **options):
    """A learner, and a replay with a few positions."""
    config = dataclasses.replace(PLAIN, **({"augment": False} | options))
    network = draw_zeros(make_network(GAME, NetworkConfig(blocks=1, channels=8), seed=1))
    replay = make_replay(GAME, config, device)
    replay.add(some_positions(count), 1)
    return GpuLearner(network, config, device, is_captured), replay


def learn_twice(learner, replay, more):
    """What was measured; between the two times the window grows, and may move."""
    first = learn_from(learner, replay, 4)
    replay.add(some_positions(more, 1), 2)
    return first, learn_from(learner, replay, 4, seed=1, progress=0.5)


def assert_same_state(one, other):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(tensor.cpu(), other[name].cpu(), atol=1e-4, rtol=1e-3, msg=name)


@pytest.mark.parametrize("more", [8, 4000], ids=["where it is", "moved"])
@pytest.mark.parametrize("options", [{}, {"optimizer": "sgd"}, {"priority": 1.0, "max_uses": 99}])
def test_captured_steps_are_those_that_are_not_captured(options, more):
    options = options | {"window_start": 64}
    captured, plain = make_pair("cuda", **options), make_pair("cuda", False, **options)
    found, expected = (learn_twice(*pair, more) for pair in (captured, plain))
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-4)
    assert_same_state(captured[0].state(), plain[0].state())
    np.testing.assert_array_equal(captured[1].uses, plain[1].uses)


def test_steps_on_a_gpu_are_those_of_the_cpu():
    """With as many positions as a batch has: devices draw different numbers."""
    pairs, measured = (
        [make_pair(device, count=16, optimizer="sgd") for device in ("cuda", "cpu")],
        [],
    )
    for learner, replay in pairs:
        measured.append(learn_from(learner, replay, 3))
        assert replay.uses.tolist() == [3] * 16
    assert measured[0] == pytest.approx(measured[1], rel=1e-3, abs=1e-4)
    assert_same_state(pairs[0][0].state(), pairs[1][0].state())


def test_captured_steps_go_on_from_what_was_saved():
    learner, replay = make_pair("cuda")
    learn_from(learner, replay, 3)
    other, _ = make_pair("cuda")
    learn_from(other, replay, 1, seed=5)  # captured before it is restored
    other.restore({name: tensor.clone() for name, tensor in learner.state().items()})
    for one in (learner, other):
        learn_from(one, replay, 3, seed=2, progress=0.5)
    assert_same_state(learner.state(), other.state())


def test_bf16_losses_fall_in_captured_steps():
    learner, replay = make_pair("cuda", precision="bfloat16", max_uses=1000, clip_norm=10.0)
    first = learn_from(learner, replay, 1)
    learn_from(learner, replay, 80)
    last = learn_from(learner, replay, 1)
    assert last["policy_loss"] < first["policy_loss"]
    assert last["value_loss"] < first["value_loss"]
