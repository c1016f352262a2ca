"""Gradient steps against formulas written out: loss, decay, clipping, rates, averages."""

import copy
import dataclasses
import math

import numpy as np
import pytest
import torch

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.targets.target import Batch
from plainzero.training.learner import CpuLearner
from plainzero.training.optimizers import rate_factor
from plainzero.training.settings import TrainingConfig

GAME = make_game("tic-tac-toe")
PLAIN = TrainingConfig(
    precision="float32", warmup_steps=0, schedule="constant", clip_norm=1e9, learning_rate=1e-2
)


class Batches:
    """A replay that has planned the given batches; remembers the losses of each."""

    def __init__(self, *batches):
        self.left, self.losses = list(batches), []

    def prepare_step(self):
        return bool(self.left)

    def draw(self):
        return self.left.pop(0)

    def learned(self, batch, losses):
        assert len(losses) == len(batch.rows)
        self.losses.append(losses.numpy())


def drawn_batch(count=24, seed=0, game=GAME):
    generator = np.random.default_rng(seed)
    policies = generator.dirichlet(np.ones(game.num_actions), count).astype(np.float32)
    values = generator.uniform(-1, 1, (count, game.num_players)).astype(np.float32)
    weights = generator.uniform(0.5, 1, count).astype(np.float32)
    planes = generator.integers(0, 2, (count, *game.observation_shape)).astype(np.float32)
    legal = generator.random((count, game.num_actions)) < 0.7
    legal[:, 0] = True
    policies = policies * legal / (policies * legal).sum(1, keepdims=True)
    planes, policies, values, weights = map(torch.from_numpy, (planes, policies, values, weights))
    legal = torch.from_numpy(legal)
    targets = {"policies": policies, "outcomes": values.clone(), "values": values.clone()}
    return Batch(planes, legal, values, targets, weights, torch.ones(count), torch.arange(count))


def make_learner(config=PLAIN, threads=1, seed=1, game=GAME, **network):
    network = make_network(game, NetworkConfig(**(network or {"blocks": 1, "channels": 8})), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0.0, 0.2, generator=generator)
    return CpuLearner(network, config, threads)


def numbers_of(network):
    return torch.cat([parameter.detach().reshape(-1) for parameter in network.parameters()])


def gradient_of(network, batch, value_weight=1.0):
    """Of Σ w ((z − v)² − Σ π log p) / B, written out."""
    output = network(batch.planes)
    z = batch.values[:, 0]
    shares = torch.exp(output.logits) * batch.legal
    log_p = torch.log(torch.where(batch.legal, shares / shares.sum(1, keepdim=True), 1.0))
    each = value_weight * (z - output.values) ** 2 - (batch.targets["policies"] * log_p).sum(1)
    loss = (each * batch.weights).mean()
    gradients = torch.autograd.grad(loss, list(network.parameters()))
    return torch.cat([gradient.reshape(-1) for gradient in gradients]), each.detach().numpy()


def config_of(**options):
    return dataclasses.replace(PLAIN, **options)


def test_a_step_of_sgd_follows_the_formula():
    config = config_of(optimizer="sgd", momentum=0.9, weight_decay=0.1, value_weight=0.5)
    learner, plan = make_learner(config), Batches(drawn_batch(), drawn_batch(seed=1))
    first, second = plan.left
    before = numbers_of(learner.network)
    gradient, losses = gradient_of(learner.network, first, 0.5)
    velocity = gradient + 0.1 * before
    middle = before - 1e-2 * velocity
    other = copy.deepcopy(learner.network)
    torch.nn.utils.vector_to_parameters(middle, other.parameters())
    velocity = 0.9 * velocity + gradient_of(other, second, 0.5)[0] + 0.1 * middle
    learner.learn(plan, 0.0)
    torch.testing.assert_close(numbers_of(learner.network), middle - 1e-2 * velocity)
    np.testing.assert_allclose(plan.losses[0], losses, rtol=1e-4)
    assert learner.step == 2


def test_a_step_of_adamw_follows_the_formula():
    learner, batch = make_learner(config_of(weight_decay=0.1)), drawn_batch()
    before = numbers_of(learner.network)
    gradient, _ = gradient_of(learner.network, batch)
    learner.learn(Batches(batch), 0.0)
    expected = before * (1 - 1e-2 * 0.1) - 1e-2 * gradient / (gradient.abs() + 1e-8)
    is_exact = (gradient == 0) | (gradient.abs() > 1e-6)  # the rest is rounding
    assert is_exact.float().mean() > 0.99
    found = numbers_of(learner.network)
    torch.testing.assert_close(found[is_exact], expected[is_exact], atol=1e-5, rtol=1e-4)


def test_long_gradients_are_shortened():
    config = config_of(optimizer="sgd", momentum=0.0, weight_decay=0.0, clip_norm=0.01)
    learner, batch = make_learner(config), drawn_batch()
    before = numbers_of(learner.network)
    gradient, _ = gradient_of(learner.network, batch)
    found = learner.learn(Batches(batch), 0.0)
    moved = numbers_of(learner.network) - before
    torch.testing.assert_close(
        moved, -1e-2 * 0.01 * gradient / gradient.norm(), atol=1e-6, rtol=1e-2
    )
    assert found["gradient_norm"] == pytest.approx(float(gradient.norm()), rel=1e-4)


def test_schedules():
    cosine = config_of(schedule="cosine", final_rate=0.1)
    assert rate_factor(cosine, 0.0) == 1.0
    assert rate_factor(cosine, 0.5) == pytest.approx(0.55)
    assert rate_factor(cosine, 0.25) == pytest.approx(0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2)
    assert rate_factor(cosine, 1.0) == rate_factor(cosine, 7.0) == pytest.approx(0.1)
    step = config_of(schedule="step")
    assert [rate_factor(step, p) for p in (0, 0.49, 0.5, 0.79, 0.8, 1)] == [
        1,
        1,
        0.1,
        0.1,
        0.01,
        0.01,
    ]
    assert rate_factor(config_of(schedule="constant"), 0.9) == 1.0


def test_the_rate_rises_at_first():
    learner = make_learner(config_of(warmup_steps=4))
    rates = [learner.learn(Batches(drawn_batch()), 0.0)["learning_rate"] for _ in range(6)]
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01])


def test_averaged_weights_follow_the_formula():
    learner = make_learner(config_of(average_decay=0.3))
    average = numbers_of(learner.average)
    for step in range(1, 5):
        learner.learn(Batches(drawn_batch(seed=step)), 0.0)
        decay = min(0.3, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * numbers_of(learner.network)
        torch.testing.assert_close(numbers_of(learner.average), average)
    assert not torch.equal(numbers_of(learner.average), numbers_of(learner.network))


@pytest.mark.parametrize("count", [24, 25, 1])
def test_two_threads_take_the_same_step(count):
    config = config_of(optimizer="sgd")
    steps = []
    for threads in (1, 2):
        learner, plan = make_learner(config, threads), Batches(drawn_batch(count))
        found = learner.learn(plan, 0.0)
        steps.append((numbers_of(learner.network), plan.losses[0], found))
    torch.testing.assert_close(steps[0][0], steps[1][0], atol=1e-6, rtol=1e-4)
    np.testing.assert_allclose(steps[0][1], steps[1][1], rtol=1e-4)
    assert steps[0][2] == pytest.approx(steps[1][2], rel=1e-4, abs=1e-6)


def test_padding_changes_nothing():
    states, found = [], []
    for count in (24, 30):
        batch = drawn_batch().map(
            lambda a, count=count: torch.cat([a, a[:1].expand(count - 24, *a.shape[1:])])
        )
        batch.weights[24:] = batch.counts[24:] = 0.0
        learner, replay = make_learner(config_of(optimizer="sgd"), threads=2), Batches(batch)
        found.append(learner.learn(replay, 0.0))
        assert len(replay.losses[0]) == 24
        states.append(numbers_of(learner.network))
    assert torch.equal(*states) and found[0] == found[1]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("game", "network"),
    [
        (GAME, {}),
        (GAME, {"blocks": 1, "channels": 8, "values": "wdl", "pooling": True}),
        (GAME, {"kind": "mlp"}),
        (make_game("trio"), {}),
    ],
    ids=["board", "wdl", "mlp", "three players"],
)
def test_losses_fall(precision, game, network):
    config = config_of(precision=precision, learning_rate=3e-3)
    learner, batch = make_learner(config, game=game, **network), drawn_batch(16, game=game)
    first = learner.learn(Batches(batch), 0.0)
    last = learner.learn(Batches(*[batch] * 60), 0.0)
    again = learner.learn(Batches(batch), 0.0)
    assert again["loss"] < last["loss"] < first["loss"]
    assert again["policy_loss"] < first["policy_loss"]
    assert again["value_loss"] < first["value_loss"]
    assert all(p.dtype == torch.float32 for p in learner.network.parameters())


def test_measures_fit_each_other():
    learner = make_learner(config_of(learning_rate=1e-9))
    batch = drawn_batch(64)
    found = learner.learn(Batches(batch, batch), 0.0)
    assert found["steps"] == 2
    assert found["loss"] == pytest.approx(found["policy_loss"] + found["value_loss"])
    assert found["policy_kl"] == pytest.approx(found["policy_loss"] - found["target_entropy"])
    assert found["policy_kl"] > 0
    with torch.no_grad():
        output = learner.network(batch.planes)
    v, z = output.values.numpy(), batch.values[:, 0].numpy()
    logits = np.where(batch.legal, output.logits, -np.inf)
    agreement = (logits.argmax(1) == batch.targets["policies"].numpy().argmax(1)).mean()
    assert found["search_agreement"] == pytest.approx(agreement)
    assert found["value_mean"] == pytest.approx(v.mean(), abs=1e-5)
    places = np.clip(((v + 1) * 5).astype(int), 0, 9)
    gaps = sum(abs((v - z)[places == place].sum()) for place in range(10))
    assert found["value_calibration_error"] == pytest.approx(gaps / 64, abs=1e-5)


def test_numbers_beyond_bounds_are_an_error():
    batch = drawn_batch()
    batch.values[3, 0] = np.nan
    with pytest.raises(
        FloatingPointError, match=r"became nan at step 0; .* training.learning_rate"
    ):
        make_learner().learn(Batches(batch), 0.0)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_restored_learner_goes_on_to_the_last_bit(optimizer):
    config = config_of(optimizer=optimizer, warmup_steps=5)
    learner, other = make_learner(config), make_learner(config, seed=2)
    learner.learn(Batches(*(drawn_batch(seed=seed) for seed in range(3))), 0.0)
    other.restore({name: tensor.clone() for name, tensor in learner.state().items()})
    for one in (learner, other):
        one.learn(Batches(*(drawn_batch(seed=seed) for seed in range(3, 6))), 0.5)
    assert learner.step == other.step == 6
    assert torch.equal(numbers_of(learner.network), numbers_of(other.network))
    assert torch.equal(numbers_of(learner.average), numbers_of(other.average))


@pytest.mark.parametrize(("before", "after"), [("sgd", "adamw"), ("adamw", "sgd")])
def test_another_optimiser_goes_on_with_the_weights_alone(before, after, caplog):
    learner, batch = make_learner(config_of(optimizer=before)), drawn_batch(seed=7)
    learner.learn(Batches(*(drawn_batch(seed=seed) for seed in range(3))), 0.0)
    other, fresh = (make_learner(config_of(optimizer=after)) for _ in range(2))
    other.restore({name: tensor.clone() for name, tensor in learner.state().items()})
    assert f"{after} starts from zero" in caplog.text
    assert torch.equal(numbers_of(other.network), numbers_of(learner.network))
    fresh.network.load_state_dict(learner.network.state_dict())
    for one in (other, fresh):
        one.learn(Batches(batch), 0.0)
    assert other.step == 4
    assert torch.equal(numbers_of(other.network), numbers_of(fresh.network))
    assert fresh.state().keys() == other.state().keys()


def test_the_state_of_another_network_is_refused():
    state = make_learner(blocks=1, channels=16).state()
    with pytest.raises(ValueError, match=r"the saved state is of another network: body\.0"):
        make_learner().restore(state)
