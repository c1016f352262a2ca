"""Targets with heads of their own: their losses by hand, and what they leave as it is."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from test_learner import GAME, PLAIN, Batches, drawn_batch, numbers_of

from plainzero import make_game
from plainzero.networks.architectures import Output, draw_zeros, make_network
from plainzero.networks.backends.torch_backend import torch_threads
from plainzero.networks.config import NetworkConfig
from plainzero.networks.extra_heads import make_extra_heads
from plainzero.networks.head_kinds import HeadKind
from plainzero.selfplay.observations import Positions
from plainzero.targets.all_targets import TARGETS
from plainzero.targets.target import Batch
from plainzero.training.learner import CpuLearner
from plainzero.training.losses import (
    add_losses,
    compute_losses,
    loss_weights,
    new_extra_heads,
    scale_weights,
)
from plainzero.training.replay import ReplayWindow
from plainzero.training.settings import TrainingConfig, choice_of

EXTRA = {"soft_policy": 2.0, "reply": 0.5, "short_values": 0.25, "surprise": 0.5}


def config_of(**options):
    return dataclasses.replace(PLAIN, **options)


def losses_with(extras, targets, legal=None, **options):
    """The losses of one position of three actions, with those answers and columns."""
    policies = torch.tensor([[0.81, 0.01, 0.0]])
    legal = torch.ones(1, 3, dtype=torch.bool) if legal is None else legal
    columns = {"policies": policies} | targets
    batch = Batch(None, legal, torch.zeros(1, 2), columns, None, None, None)
    output = Output(torch.zeros(1, 3), torch.zeros(1), None, extras)
    return compute_losses(output, batch, TrainingConfig(**options))


def test_the_soft_policy_is_the_fourth_root():
    logits = torch.tensor([[math.log(0.5), math.log(0.25), math.log(0.25)]])
    losses = losses_with({"soft_policy": logits}, {}, soft_policy=8.0)
    roots = 0.81**0.25, 0.01**0.25
    expected = (roots[0] * math.log(2) + roots[1] * math.log(4)) / sum(roots)
    assert float(losses["soft_policy"]) == pytest.approx(expected)
    legal = torch.tensor([[True, True, False]])
    losses = losses_with({"soft_policy": logits}, {}, legal, soft_policy=8.0)
    expected = (roots[0] * math.log(3 / 2) + roots[1] * math.log(3)) / sum(roots)
    assert float(losses["soft_policy"]) == pytest.approx(expected)


def test_a_reply_is_a_cross_entropy_and_no_reply_costs_nothing():
    logits = torch.tensor([[math.log(0.5), math.log(0.3), math.log(0.2)]])
    reply = torch.tensor([[0.0, 0.75, 0.25]])
    losses = losses_with({"reply": logits}, {"replies": reply}, reply=1.0)
    expected = -0.75 * math.log(0.3) - 0.25 * math.log(0.2)
    assert float(losses["reply"]) == pytest.approx(expected)
    losses = losses_with({"reply": logits}, {"replies": 0 * reply}, reply=1.0)
    assert float(losses["reply"]) == 0


def test_short_values_are_squared_errors():
    answers, targets = torch.tensor([[0.5, -0.5]]), torch.tensor([[1.0, 0.0]])
    given = {"short_values": answers}, {"short_values": targets}
    losses = losses_with(*given, short_values=1.0)
    assert float(losses["short_values"]) == pytest.approx(0.25)


def test_losses_are_added_with_their_weights():
    config = TrainingConfig(value_weight=0.5, soft_policy=8.0, surprise=0.5)
    weights = loss_weights(config)
    assert weights == {"policy": 1.0, "value": 0.5, "soft_policy": 8.0}
    losses = {
        name: torch.tensor([number]) for name, number in zip(weights, (1.0, 2.0, 3.0), strict=True)
    }
    assert add_losses(losses, weights).tolist() == [26.0]


def test_the_value_weighs_more_where_a_single_players_scores_hardly_differ():
    weights = {"policy": 1.0, "value": 2.0}
    for z, scale in (
        ([[1.0], [-1.0]], 1),
        ([[0.6], [0.4]], 25),
        ([[0.5], [0.5]], 100),
        ([[0.1, -0.1], [-0.3, 0.3]], 1),
    ):
        values = torch.tensor([*z, [-9.0] * len(z[0])])  # the last row is padding
        batch = Batch(None, None, values, {}, None, torch.tensor([1.0, 1.0, 0.0]), None)
        scaled = scale_weights(weights, batch)
        assert scaled["policy"] == 1.0
        assert float(scaled["value"]) == pytest.approx(2 * scale)


# ---- heads ---------------------------------------------------------------------------------------

KINDS = {"moves": HeadKind("policy"), "some": HeadKind("numbers", 3), "board": HeadKind("cells")}


@pytest.mark.parametrize("name", ["tic-tac-toe", "go(size=5)", "connect-four"])
@pytest.mark.parametrize("kind", ["mlp", "dense", "board"])
def test_heads_answer_for_actions_numbers_and_cells(name, kind):
    game = make_game(name)
    if kind == "board" and name == "connect-four":
        pytest.skip("its actions are columns")
    heads = {} if kind == "mlp" else {"policy": kind}
    options = {"kind": "mlp"} if kind == "mlp" else {"blocks": 1, "channels": 8, **heads}
    network = make_network(game, NetworkConfig(**options), 0)
    extra = make_extra_heads(game, network, KINDS, 0)
    found = extra(network.body(torch.rand(4, *game.observation_shape)))
    cells = math.prod(game.observation_shape[1:])
    sizes = {name: tuple(answer.shape) for name, answer in found.items()}
    assert sizes == {"moves": (4, game.num_actions), "some": (4, 3), "board": (4, cells)}
    assert not any(answer.any() for answer in found.values())  # as the network's own heads


def test_a_cells_answer_follows_the_features_there():
    network = make_network(GAME, NetworkConfig(blocks=1, channels=8), 0)
    extra = make_extra_heads(GAME, network, KINDS, 0)
    with torch.no_grad():
        extra["board"].last.weight.normal_(generator=torch.Generator().manual_seed(0))
    features = torch.zeros(1, 8, 3, 3)
    before = extra(features)["board"]
    features[0, :, 1, 2] = 1.0
    changed = (extra(features)["board"] != before).nonzero()
    assert changed.tolist() == [[0, 5]]


# ---- learning ------------------------------------------------------------------------------------


def new_network(**options):
    return draw_zeros(make_network(GAME, NetworkConfig(blocks=1, channels=8, **options), 1))


def new_learner(config, threads=1, **options):
    network = new_network(**options)
    return CpuLearner(network, config, threads, new_extra_heads(GAME, network, config, 5))


def batch_with_extras(config, count=24, seed=0):
    """A batch with all columns of that config, drawn at random."""
    batch, choice = drawn_batch(count, seed), choice_of(config)
    generator = torch.Generator().manual_seed(seed)
    columns = [c for t in TARGETS if t.name in choice.names for c in t.columns]
    more = {
        column.name: torch.rand((count, *column.shape(GAME, choice)), generator=generator)
        for column in columns
        if column.name not in batch.targets
    }
    return batch._replace(targets={**batch.targets, **more})


def test_a_step_moves_the_body_and_all_heads_along_the_gradient():
    config = config_of(optimizer="sgd", momentum=0.0, weight_decay=0.0, **EXTRA)
    learner, batch = new_learner(config), batch_with_extras(config)
    network, heads = learner.network, learner._learned.heads
    features = network.body(batch.planes)
    output = network.answer(features)._replace(extras=heads(features))
    weights = scale_weights(loss_weights(config), batch)
    each = add_losses(compute_losses(output, batch, config), weights)
    parameters = [*network.parameters(), *heads.parameters()]
    gradients = torch.autograd.grad((each * batch.weights).mean(), parameters)
    expected = [p.detach() - 1e-2 * g for p, g in zip(parameters, gradients, strict=True)]
    found = learner.learn(Batches(batch), 0.0)
    for moved, wanted in zip(parameters, expected, strict=True):
        torch.testing.assert_close(moved.detach(), wanted, atol=1e-6, rtol=1e-5)
    names = ("policy", "value", "soft_policy", "reply", "short_values")
    parts = loss_weights(config)
    total = sum(parts[name] * found[f"{name}_loss"] for name in names)
    assert found["loss"] == pytest.approx(total) and set(parts) == set(names)


def test_two_threads_take_the_same_step():
    config = config_of(optimizer="sgd", **EXTRA)
    states = []
    for threads in (1, 2):
        learner = new_learner(config, threads)
        learner.learn(Batches(batch_with_extras(config)), 0.0)
        states.append(learner.state())
    for name, tensor in states[0].items():
        torch.testing.assert_close(tensor, states[1][name], atol=1e-6, rtol=1e-4, msg=name)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_restored_learner_goes_on_to_the_last_bit(optimizer):
    config = config_of(optimizer=optimizer, **EXTRA)
    learner, other = new_learner(config), new_learner(config)
    learner.learn(Batches(*(batch_with_extras(config, seed=s) for s in range(3))), 0.0)
    other.restore({name: tensor.clone() for name, tensor in learner.state().items()})
    for one in (learner, other):
        one.learn(Batches(*(batch_with_extras(config, seed=s) for s in range(3, 5))), 0.5)
    state = other.state()
    assert any(name.startswith("optimizer.heads.reply.") for name in state)
    for name, tensor in learner.state().items():
        assert torch.equal(tensor, state[name]), name


def test_targets_can_be_added_and_dropped_later(caplog):
    plain, more = new_learner(config_of()), new_learner(config_of(reply=1.0))
    plain.learn(Batches(drawn_batch()), 0.0)
    assert not any(name.startswith(("heads.", "optimizer.heads")) for name in plain.state())
    more.restore({name: tensor.clone() for name, tensor in plain.state().items()})
    assert "the head of reply starts anew" in caplog.text
    assert torch.equal(numbers_of(more.network), numbers_of(plain.network))
    more.learn(Batches(batch_with_extras(more.config)), 0.0)
    plain.restore({name: tensor.clone() for name, tensor in more.state().items()})
    plain.learn(Batches(drawn_batch(seed=2)), 0.0)
    assert plain.step == 3


def test_the_network_that_plays_does_not_know_of_them():
    plain, more = new_learner(config_of()), new_learner(config_of(**EXTRA))
    assert torch.equal(numbers_of(plain.network), numbers_of(more.network))
    assert plain.network.state_dict().keys() == more.network.state_dict().keys()
    assert plain.average.state_dict().keys() == more.average.state_dict().keys()


def test_without_further_targets_steps_are_those_of_before_to_the_last_bit():
    config = config_of(weight_decay=0.1, value_weight=0.5, clip_norm=0.5, average_decay=0.0)
    learner, before = new_learner(config), new_network().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(before.parameters(), 1e-2, weight_decay=0.1, fused=True)
    batches = [drawn_batch(seed=seed) for seed in range(4)]
    batches = [batch._replace(legal=torch.ones_like(batch.legal)) for batch in batches]
    with torch_threads(1):
        for batch in batches:
            output = before(batch.planes.contiguous(memory_format=torch.channels_last))
            logs = torch.nn.functional.log_softmax(output.logits.float(), 1)
            policy = -(batch.targets["policies"] * logs).sum(1)
            value = (batch.values[:, 0] - output.values.float()) ** 2
            loss = ((policy + 0.5 * value) * batch.weights).sum() / len(batch.rows)
            optimizer.zero_grad()
            gradients = torch.autograd.grad(loss, list(before.parameters()))
            for parameter, gradient in zip(before.parameters(), gradients, strict=True):
                parameter.grad = gradient
            torch.nn.utils.clip_grad_norm_(before.parameters(), 0.5)
            optimizer.step()
    learner.learn(Batches(*batches), 0.0)
    assert torch.equal(numbers_of(learner.network), numbers_of(before))


# ---- the replay ----------------------------------------------------------------------------------


def some_positions(config, count):
    generator, choice = np.random.default_rng(0), choice_of(config)
    states = np.full(count, GAME.new_state(), GAME.dtype)
    columns = [c for t in TARGETS if t.name in choice.names for c in t.columns]
    targets = {
        c.name: generator.random((count, *c.shape(GAME, choice))).astype(np.float32)
        for c in columns
    }
    return Positions(states, targets)


def test_columns_turn_with_the_board_as_each_of_them_says():
    config = TrainingConfig(batch_size=64, **EXTRA)
    replay, positions = ReplayWindow(GAME, config), some_positions(config, 64)
    replay.add(positions, 1)
    rows, turned = torch.arange(64), torch.full((64,), 3)
    still, batch = (replay.batch(rows, way) for way in (0 * turned, turned))
    symmetry = GAME.symmetries()[2]
    for name in ("policies", "replies"):
        moved = np.zeros((64, 9), np.float32)
        moved[:, list(symmetry.actions)] = still.targets[name]
        np.testing.assert_array_equal(batch.targets[name], moved)
        np.testing.assert_array_equal(still.targets[name], positions.targets[name])
    for name in ("outcomes", "values", "short_values", "surprise"):
        np.testing.assert_array_equal(batch.targets[name], positions.targets[name])


def test_surprising_positions_weigh_more():
    config = TrainingConfig(batch_size=8, surprise=0.25)
    replay, positions = ReplayWindow(GAME, config), some_positions(config, 5)
    replay.add(positions, 1)
    replay.plan_steps(1, np.random.default_rng(0))
    assert replay.prepare_step()
    batch = replay.draw()
    expected = 0.75 + 0.25 * positions.targets["surprise"][batch.rows]
    np.testing.assert_allclose(batch.weights, expected * batch.counts.numpy(), rtol=1e-6)
    assert batch.weights[5:].tolist() == [0, 0, 0]


def test_the_replay_stores_only_what_is_learned():
    names = [*ReplayWindow(GAME, TrainingConfig()).ring.columns]
    assert names[:4] == ["states", "policies", "outcomes", "values"]
    assert not {"replies", "short_values", "surprise"} & set(names)


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"short_values": 1.0, "short_horizons": "4,x"}, "short_horizons is '4,x'"),
        ({"short_values": 1.0, "short_horizons": "0"}, "short_horizons is '0'"),
        ({"short_horizons": "3"}, "has an effect only with short_values > 0"),
        ({"surprise": 1.5}, "surprise is 1.5; it must be from 0 to 1"),
        ({"soft_policy": -1.0}, "soft_policy is -1.0; it cannot be negative"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TrainingConfig(**options)


def test_a_game_without_opponents_has_no_replies():
    from plainzero.training.settings import change, default_config, resolve_run

    game = make_game("2048(size=2,target=16)")
    config = change(default_config(game), ["training.reply=1"])
    with pytest.raises(ValueError, match=r"training.reply does not work for 2048.*one player"):
        resolve_run(config, game)
