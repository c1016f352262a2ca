"""Replay and learner on a device, on PyTorch's "cpu": the same promises as on the host."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from plainzero import make_game
from plainzero.games.symmetries import symmetry_tables
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.selfplay.observations import DevicePositions, Positions
from plainzero.training.device_replay import DeviceReplay
from plainzero.training.gpu.fused_optimizer import FusedOptimizer
from plainzero.training.gpu.learner import DeviceLearner
from plainzero.training.learner import Learner
from plainzero.training.replay import Replay, window_size
from plainzero.training.settings import TrainingConfig

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
    policies = generator.dirichlet(np.ones(9), count).astype(np.float32)
    outcomes, values = generator.uniform(-1, 1, (2, count, 2)).astype(np.float32)
    return Positions(states, policies, outcomes, values)


def on_device(positions):
    states = positions.states.view(np.uint8).reshape(len(positions.states), -1)
    return DevicePositions(*(torch.from_numpy(a) for a in (states, *positions[1:])))


def make_replay(count=40, kind=DeviceReplay, **options):
    config = config_of(**({"augment": False} | options))
    replay = Replay(GAME, config) if kind is Replay else DeviceReplay(GAME, config, "cpu")
    replay.add(some_positions(count), 1)
    return replay


def drawn(plan):
    batches = []
    while plan.rows.prepare():
        batches.append(plan.replay.draw())
    return batches


def used_rows(batch):
    return batch.rows[batch.counts > 0].tolist()


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("is_uploaded", [True, False])
def test_batches_are_those_of_the_hosts_replay(is_uploaded):
    expected, replay = make_replay(kind=Replay), DeviceReplay(GAME, config_of(augment=False), "cpu")
    positions = some_positions(40)
    replay.add(positions if is_uploaded else on_device(positions), 1)
    rows = generator().integers(0, 40, 30)
    batch = replay.batch(torch.from_numpy(rows), torch.zeros(30, dtype=torch.int64))
    for name in ("planes", "policies", "values", "outcomes", "weights", "rows"):
        host = getattr(expected.batch(rows, generator()), name)
        np.testing.assert_allclose(getattr(batch, name).numpy(), host, atol=1e-7)


def test_positions_are_turned_as_the_tables_say_and_by_every_symmetry():
    tables, plain = symmetry_tables(GAME), make_replay(160)
    replay = make_replay(160, augment=True, batch_size=160)
    (batch,), seen = drawn(replay.plan(1, generator())), set()
    still = plain.batch(batch.rows, torch.zeros(160, dtype=torch.int64))
    for row in range(160):
        ways = [
            turn
            for turn in range(8)
            if torch.equal(batch.policies[row], still.policies[row][tables.actions_index[turn]])
        ]
        assert len(ways) == 1  # random policies: no symmetric one
        turned = still.planes[row].flatten()[tables.planes_index[ways[0]]]
        assert torch.equal(batch.planes[row].flatten(), turned)
        seen |= set(ways)
    assert seen == set(range(8))
    assert torch.equal(batch.values, still.values)


def test_the_window_keeps_the_latest_as_the_hosts_does():
    options = {"window_start": 20, "window_exponent": 0.5, "window_share": 0.5}
    host, replay = (make_replay(30, kind, **options) for kind in (Replay, DeviceReplay))
    moves = [replay.ring.moves]
    for seed, count in enumerate([7, 0, 25, 3, 200, 1, 90, 90, 90]):
        for one in (host, replay):
            one.add(some_positions(count, seed), seed + 2)
        assert replay.total == host.total
        assert len(replay) == len(host) == window_size(host.total, host.config)
        assert replay.generations.tolist() == host.generations.tolist()
        assert replay.mean_age(12) == pytest.approx(host.mean_age(12))
        oldest_first = replay.ring.in_order("policies").numpy()
        np.testing.assert_array_equal(oldest_first, host._positions.policies)
        moves.append(replay.ring.moves)
    assert 2 <= moves[-1] <= 4  # it doubles, and does not move for each of ten additions
    assert replay.ring.rows()[0] != 0  # the first is not where it was


def test_states_of_another_game_are_refused():
    states = torch.zeros((4, GAME.dtype.itemsize + 1), dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"tic-tac-toe needs \(N, "):
        make_replay().add(on_device(some_positions(4))._replace(states=states), 1)


def test_uniform_rows_are_passes_without_repeats():
    replay = make_replay(40)
    batches = drawn(replay.plan(5, generator()))  # 80 rows: two passes
    assert (replay.uses == 2).all()
    assert all(len(set(used_rows(batch))) == 16 for batch in batches)
    assert len(set(used_rows(batches[0]) + used_rows(batches[1]))) == 32
    assert used_rows(batches[0]) != sorted(used_rows(batches[0]))
    again = drawn(make_replay(40).plan(5, generator()))
    other = drawn(make_replay(40).plan(5, generator(1)))
    rows = [[used_rows(batch) for batch in found] for found in (batches, again, other)]
    assert rows[0] == rows[1] != rows[2]


@pytest.mark.parametrize("priority", [0.0, 1.0])
def test_no_position_is_used_more_often_than_allowed(priority):
    replay = make_replay(40, max_uses=3, priority=priority)
    batches = drawn(replay.plan(100, generator()))
    assert len(batches) < 100 and (replay.uses == 3).all()
    rows = [row for batch in batches for row in used_rows(batch)]
    assert np.bincount(rows).tolist() == [3] * 40
    assert drawn(replay.plan(1, generator())) == []


@pytest.mark.parametrize("priority", [0.0, 1.0])
def test_a_window_smaller_than_a_batch_leaves_rows_that_weigh_nothing(priority):
    batches = drawn(make_replay(5, priority=priority).plan(3, generator()))
    assert [sorted(used_rows(batch)) for batch in batches] == [[0, 1, 2, 3, 4]] * 3
    for batch in batches:
        assert len(batch.planes) == len(batch.policies) == 16
        assert torch.equal(batch.weights, batch.counts) and batch.counts.sum() == 5


def test_an_empty_window_has_no_steps():
    replay = DeviceReplay(GAME, PLAIN, "cpu")
    assert drawn(replay.plan(3, generator())) == []
    assert replay.mean_age(3) == replay.mean_uses() == 0.0


def test_a_plan_is_refused_once_positions_were_added():
    replay = make_replay()
    plan = replay.plan(3, generator())
    replay.add(some_positions(4), 2)
    with pytest.raises(RuntimeError, match="out of date"):
        plan.rows.prepare()


def test_large_losses_are_drawn_more_often_and_weigh_less():
    replay = make_replay(400, priority=1.0, priority_correction=0.5, max_uses=10**6, batch_size=20)
    losses = torch.linspace(0.1, 4.0, 400)
    still = torch.zeros(400, dtype=torch.int64)
    replay.learned(replay.batch(torch.arange(400), still), losses)
    batches = drawn(replay.plan(600, generator()))
    uses = replay.uses
    assert uses.sum() == 12_000
    for part in (slice(100), slice(300, 400)):
        expected = losses[part].sum() / losses.sum()
        assert uses[part].sum() / uses.sum() == pytest.approx(float(expected), abs=0.02)
    expected = losses[batches[0].rows] ** -0.5
    torch.testing.assert_close(batches[0].weights, expected / expected.max())


def test_new_positions_come_before_those_that_were_learned():
    replay = make_replay(40, priority=1.0)
    losses = torch.linspace(0.5, 3.0, 16)
    (batch,) = drawn(replay.plan(1, generator()))
    replay.learned(batch, losses)
    replay.add(some_positions(20, 1), 2)
    assert (replay.priorities[40:] == 3.0).all()
    np.testing.assert_array_equal(replay.priorities[batch.rows.numpy()], losses.numpy())


def test_what_is_known_of_positions_goes_from_one_replay_to_the_other():
    host, replay = make_replay(kind=Replay, priority=0.5), make_replay(priority=0.5)
    drawn(replay.plan(2, generator()))
    host.restore(replay.saved())
    assert host.uses.sum() == 32 and host.uses.tolist() == replay.uses.tolist()
    assert host.mean_uses() == replay.mean_uses() == pytest.approx(0.8)
    host.priorities[3] = 7.0
    replay.restore(host.saved())
    assert replay.priorities[3] == 7.0
    for one in (make_replay(30), make_replay(30, Replay)):
        one.restore(host.saved())  # of other positions
        assert one.uses.tolist() == [0] * 30


@pytest.mark.parametrize("kind", [Replay, DeviceReplay])
def test_a_window_of_which_nothing_is_known_has_only_new_positions(kind):
    saved = make_replay().saved()
    assert saved == {}  # nothing is saved where no priority draws positions
    for count in (0, 40):
        replay = make_replay(count, kind)
        replay.restore(saved)
        assert replay.uses.tolist() == [0] * count


def make_learner(config, kind=DeviceLearner, network=None):
    options = network or {"blocks": 1, "channels": 8}
    network = draw_zeros(make_network(GAME, NetworkConfig(**options), seed=1))
    return Learner(network, config, 1) if kind is Learner else DeviceLearner(network, config, "cpu")


def learn(learner, count=16, steps=1, seed=0, progress=0.0):
    """Steps from a replay of the learner's own kind; with 16 positions each is the same batch."""
    is_host, config = isinstance(learner, Learner), learner.config
    replay = Replay(GAME, config) if is_host else DeviceReplay(GAME, config, "cpu")
    replay.add(some_positions(count, seed), 1)
    return learner.learn(replay.plan(steps, generator(seed)), progress)


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
    host, learner = make_learner(config, Learner), make_learner(config)
    expected, found = (learn(one, count, steps=3, progress=0.5) for one in (host, learner))
    assert found.keys() == expected.keys() and found["steps"] == 3
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert learner.step == 3
    assert_same_state(learner.state(), host.state())


@pytest.mark.parametrize(
    "network",
    [{"blocks": 1, "channels": 8, "values": "wdl", "pooling": True}, {"kind": "mlp"}],
    ids=["wdl", "mlp"],
)
def test_other_networks_learn_as_on_the_host(network):
    config = config_of(augment=False)
    states = []
    for kind in (Learner, DeviceLearner):
        learner = make_learner(config, kind, network)
        learn(learner)
        states.append(learner.state())
    assert_same_state(*states)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_run_goes_on_on_the_other_learner_and_back(optimizer):
    config = config_of(optimizer=optimizer, augment=False)
    host, learner = make_learner(config, Learner), make_learner(config)
    stayed = make_learner(config, Learner)
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
    replay = DeviceReplay(GAME, config, "cpu")
    replay.add(some_positions(24), 1)
    first = learner.learn(replay.plan(1, generator()), 0.0)
    learner.learn(replay.plan(60, generator()), 0.0)
    last = learner.learn(replay.plan(1, generator()), 0.0)
    assert last["policy_loss"] < first["policy_loss"]
    assert last["value_loss"] < first["value_loss"]


def test_losses_become_the_priorities_of_positions():
    config = config_of(priority=1.0, augment=False)
    host, learner = make_learner(config, Learner), make_learner(config)
    found = []
    for one, replay in ((host, Replay(GAME, config)), (learner, DeviceReplay(GAME, config, "cpu"))):
        replay.add(some_positions(11), 1)
        one.learn(replay.plan(1, generator()), 0.0)
        found.append(replay.priorities)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
    assert len(set(found[1].tolist())) == 11


def test_the_first_gradient_that_is_no_number_is_named():
    config = config_of(batch_size=4, augment=False)
    learner, replay = make_learner(config), DeviceReplay(GAME, config, "cpu")
    positions = some_positions(4)
    replay.add(positions, 1)
    learner.learn(replay.plan(2, generator()), 0.0)
    positions.outcomes[3, 0] = np.nan
    replay.add(positions, 2)
    plan = replay.plan(6, generator())
    bad = [7 in step for step in plan.replay.steps._rows[:6].tolist()].index(True)
    with pytest.raises(
        FloatingPointError,
        match=rf"the gradient became nan at step {2 + bad}; set a smaller training.learning_rate",
    ):
        learner.learn(plan, 0.0)


def test_without_steps_nothing_changes():
    learner = make_learner(PLAIN)
    before = learner.state()
    found = learner.learn(DeviceReplay(GAME, PLAIN, "cpu").plan(3, generator()), 0.0)
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
    program = "import sys; from test_device_learning import *; " + (
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
            replay = DeviceReplay(GAME, config, "cpu")
            replay.add(some_positions(16, seed), 1)
            plan = replay.plan(1, generator())
            if learner is warmed:
                learner._rate.fill_(0.1)
                undo = learner._remember(replay)
                plan.rows.prepare()
                learner._take_step(replay)
                assert replay.uses.sum() == 16
                undo()
                assert replay.uses.sum() == 0
                plan = replay.plan(1, generator())
            found.append(learner.learn(plan, 0.0))
        assert found[0] == found[1]
        assert_same_state(warmed.state(), other.state())
