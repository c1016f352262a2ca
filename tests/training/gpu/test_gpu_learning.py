"""The GPU's learner on PyTorch's "cpu": the same steps as the CPU's learner."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from plainzero import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.selfplay.observations import Positions
from plainzero.targets.all_targets import wanted_columns
from plainzero.training.gpu.fused_optimizer import FusedOptimizer
from plainzero.training.gpu.learner import GpuLearner
from plainzero.training.learner import CpuLearner
from plainzero.training.losses import new_extra_heads
from plainzero.training.replay import ReplayWindow
from plainzero.training.settings import TrainingConfig, choice_of

pytestmark = pytest.mark.slow

GAME = make_game("tic-tac-toe")
PLAIN = TrainingConfig(
    batch_size=16,
    precision="float32",
    warmup_steps=0,
    schedule="constant",
    learning_rate=1e-2,
    clip_norm=0.5,
    value_mix=0.25,
)


def config_of(**options):
    return dataclasses.replace(PLAIN, **options)


def some_positions(count, seed=0):
    """Positions of random play, with numbers to recognise each by."""
    generator, states, state = np.random.default_rng(seed), np.zeros(count, GAME.dtype), None
    for row in range(count):
        if state is None or state.is_over:
            state = GAME.new_state()
        states[row] = state
        GAME.apply(state, int(generator.choice(GAME.legal(state))))
    policies = np.zeros((count, 9), np.float32)
    for row, state in enumerate(states):
        legal = GAME.legal(state)
        policies[row, legal] = generator.dirichlet(np.ones(len(legal)))
    outcomes, values = generator.uniform(-1, 1, (2, count, 2)).astype(np.float32)
    targets = {"policies": policies, "outcomes": outcomes, "values": values}
    return Positions(states, targets)


def make_replay(config, count=16, seed=0):
    replay = ReplayWindow(GAME, config)
    replay.add(some_positions(count, seed), 1)
    return replay


def learn_from(learner, replay, steps, seed=0, progress=0.0):
    replay.plan_steps(steps, np.random.default_rng(seed))
    return learner.learn(replay, progress)


def make_learner(config, kind=GpuLearner, network=None):
    options = network or {"blocks": 1, "channels": 8}
    network = draw_zeros(make_network(GAME, NetworkConfig(**options), seed=1))
    return (
        CpuLearner(network, config, 1) if kind is CpuLearner else GpuLearner(network, config, "cpu")
    )


def learn(learner, count=16, steps=1, seed=0, progress=0.0):
    """Steps from a separate replay; with 16 positions, every batch is the same."""
    return learn_from(learner, make_replay(learner.config, count, seed), steps, seed, progress)


def assert_same_state(one, other):
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        torch.testing.assert_close(tensor, other[name], atol=1e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize("count", [16, 11])
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_steps_are_those_of_the_hosts_learner(optimizer, count):
    config = config_of(
        optimizer=optimizer, augment=False, weight_decay=0.1, value_weight=0.5, warmup_steps=5
    )
    # AdamW enlarges rounding in a board policy's bias, which moves all logits: its gradient is 0.
    heads = "dense" if optimizer == "adamw" else "auto"
    options = {"blocks": 1, "channels": 8, "policy": heads}
    host, learner = (make_learner(config, kind, options) for kind in (CpuLearner, GpuLearner))
    expected, found = (learn(one, count, steps=3, progress=0.5) for one in (host, learner))
    assert found.keys() == expected.keys() and found["steps"] == 3
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert learner.step == 3
    assert_same_state(learner.state(), host.state())


def test_heads_of_further_targets_learn_as_on_the_host():
    config = config_of(
        augment=False, optimizer="sgd", soft_policy=2.0, reply=1.0, short_values=1.0, surprise=0.5
    )
    choice, generator = choice_of(config), np.random.default_rng(1)
    positions = some_positions(16)
    for column in wanted_columns(choice):
        numbers = generator.random((16, *column.shape(GAME, choice))).astype(np.float32)
        positions.targets.setdefault(column.name, numbers)
    states, metrics = [], []
    for kind in (CpuLearner, GpuLearner):
        network = draw_zeros(make_network(GAME, NetworkConfig(blocks=1, channels=8), 1))
        heads = new_extra_heads(GAME, network, config, 2)
        place = 1 if kind is CpuLearner else "cpu"
        learner, replay = kind(network, config, place, heads=heads), ReplayWindow(GAME, config)
        learner.prepare(GAME)
        replay.add(positions, 1)
        metrics.append(learn_from(learner, replay, 3))
        states.append(learner.state())
    assert metrics[0] == pytest.approx(metrics[1], rel=1e-4, abs=1e-5)
    assert any(name.startswith("optimizer.heads.") for name in states[0])
    assert_same_state(*states)


@pytest.mark.parametrize(
    "network",
    [{"blocks": 1, "channels": 8, "values": "wdl", "pooling": True}, {"kind": "mlp"}],
    ids=["wdl", "mlp"],
)
def test_other_networks_learn_as_on_the_host(network):
    config = config_of(augment=False)
    states = []
    for kind in (CpuLearner, GpuLearner):
        learner = make_learner(config, kind, network)
        learn(learner)
        states.append(learner.state())
    assert_same_state(*states)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_run_goes_on_on_the_other_learner_and_back(optimizer):
    config = config_of(optimizer=optimizer, augment=False)
    host, learner = make_learner(config, CpuLearner), make_learner(config)
    stayed = make_learner(config, CpuLearner)
    address = [weight.data_ptr() for weight in learner.average.parameters()]
    for seed in range(3):
        learn(stayed, seed=seed)
    learn(host, seed=0)
    learner.restore({name: tensor.clone() for name, tensor in host.state().items()})
    learn(learner, seed=1)
    host.restore({name: tensor.clone() for name, tensor in learner.state().items()})
    learn(host, seed=2)
    assert host.step == 3
    assert_same_state(host.state(), stayed.state())
    assert address == [weight.data_ptr() for weight in learner.average.parameters()]


@pytest.mark.parametrize("options", [{}, {"priority": 1.0}, {"precision": "bfloat16"}])
def test_losses_fall(options):
    config = config_of(max_uses=1000, clip_norm=10.0, **options)
    learner = make_learner(config)
    replay = make_replay(config, 24)
    first, _, last = (learn_from(learner, replay, steps) for steps in (1, 200, 1))
    assert last["policy_kl"] < first["policy_kl"]  # losses of drawn positions differ by entropy
    assert last["value_loss"] < first["value_loss"]


def test_losses_become_the_priorities_of_positions():
    config = config_of(priority=1.0, augment=False)
    host, learner = make_learner(config, CpuLearner), make_learner(config)
    found = []
    for one in (host, learner):
        replay = make_replay(config, 11)
        learn_from(one, replay, 1)
        found.append(replay.priorities)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
    assert len(set(found[1].tolist())) == 11


def test_the_first_gradient_that_is_no_number_is_named():
    config = config_of(batch_size=4, augment=False)
    learner, replay = make_learner(config), make_replay(config, 4)
    learn_from(learner, replay, 2)
    positions = some_positions(4)
    positions.targets["outcomes"][3, 0] = np.nan
    replay.add(positions, 2)
    replay.plan_steps(6, np.random.default_rng(0))
    bad = [7 in step for step in replay.buffer._rows[:6].tolist()].index(True)
    with pytest.raises(
        FloatingPointError,
        match=rf"the gradient became nan at step {2 + bad}; set a smaller training.learning_rate",
    ):
        learner.learn(replay, 0.0)


def test_without_steps_nothing_changes():
    learner = make_learner(PLAIN)
    before = learner.state()
    found = learn(learner, count=0, steps=3)
    assert found == {"steps": 0.0, "learning_rate": 0.0}
    assert_same_state(learner.state(), before)


@pytest.mark.parametrize("options", [{}, {"optimizer": "sgd"}, {"precision": "bfloat16"}])
def test_getting_ready_changes_nothing_that_is_learned(options):
    config = config_of(augment=False, **options)
    ready, other = make_learner(config), make_learner(config)
    ready.prepare(GAME)
    assert all(parameter.grad is None for parameter in ready.network.parameters())
    assert_same_state(ready.state(), other.state())
    assert learn(ready, steps=2) == learn(other, steps=2)
    assert_same_state(ready.state(), other.state())


def test_parameters_without_a_gradient_stay_as_they_are():
    config = config_of(weight_decay=0.5)
    one, other = (torch.nn.Parameter(torch.ones(3)) for _ in range(2))
    optimizer = FusedOptimizer([one, other], config, torch.tensor(0.1))
    optimizer.step()
    assert torch.equal(one, torch.ones(3))
    one.grad = torch.ones(3)
    optimizer.step()
    assert (one < 1.0).all() and torch.equal(other, torch.ones(3))
    assert list(optimizer.state_dict()["state"]) == [0]


def test_a_learner_does_without_pytorchs_compiler():
    """It takes seconds to import, in a thread or not."""
    program = "import sys; from test_gpu_learning import *; " + (
        "learn(make_learner(config_of())); sys.exit('torch._dynamo' in sys.modules)"
    )
    folder = Path(__file__).parent
    subprocess.run([sys.executable, "-c", program], check=True, cwd=folder)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_steps_that_warm_up_for_a_capture_leave_nothing_behind(optimizer):
    config = config_of(optimizer=optimizer, augment=False, priority=1.0)
    warmed, other = make_learner(config), make_learner(config)
    for seed in range(2):  # before anything was gathered, and after
        found = []
        for learner in (warmed, other):
            replay = make_replay(config, 16, seed)
            if learner is warmed:
                learner._rate.fill_(0.1)
                undo = learner._snapshot(replay)
                replay.plan_steps(1, np.random.default_rng(0))
                replay.prepare_step()
                learner._take_step(replay)
                assert replay.uses.sum() == 16
                undo()
                assert replay.uses.sum() == 0
            found.append(learn_from(learner, replay, 1))
        assert found[0] == found[1]
        assert_same_state(warmed.state(), other.state())
