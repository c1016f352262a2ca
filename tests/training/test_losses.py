"""(z − v)² − Σ π log p, by hand and by differentiating the formula."""

import math

import pytest
import torch

from plainzero.networks.architectures import Output
from plainzero.targets.target import Batch
from plainzero.targets.value import outcome_chances
from plainzero.training.losses import add_losses, compute_losses, measure
from plainzero.training.settings import TrainingConfig

LOGITS = torch.tensor([[math.log(0.5), math.log(0.3), math.log(0.2)], [0.0, 0.0, 0.0]])
POLICIES = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]])


def batch_of(policies, values=None, legal=None):
    legal = torch.ones_like(policies, dtype=torch.bool) if legal is None else legal
    return Batch(None, legal, values, {"policies": policies}, None, None, None)


def losses_of(output, policies, values, legal=None):
    return compute_losses(output, batch_of(policies, values, legal), TrainingConfig())


def test_losses_are_those_computed_by_hand():
    output = Output(LOGITS, torch.tensor([0.5, -0.25]), None)
    losses = losses_of(output, POLICIES, torch.tensor([[1.0, -1.0], [0.5, -0.5]]))
    assert losses["policy"].tolist() == pytest.approx([-math.log(0.5), math.log(3)])
    assert losses["value"].tolist() == pytest.approx([0.25, 0.5625])


def test_each_players_value_counts_alike():
    values = torch.tensor([[0.5, 0.0, -0.5]])
    output = Output(LOGITS[:1], values, None)
    losses = losses_of(output, POLICIES[:1], torch.tensor([[1.0, -0.5, -0.5]]))
    assert losses["value"].tolist() == pytest.approx([(0.25 + 0.25 + 0.0) / 3])


def test_win_draw_loss_is_a_cross_entropy():
    z = torch.tensor([1.0, 0.0, -1.0, 0.5, -0.25])
    chances = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 0.75, 0.25]]
    torch.testing.assert_close(outcome_chances(z), torch.tensor(chances, dtype=torch.float32))
    logits = torch.log(torch.tensor([[0.7, 0.2, 0.1]]))
    output = Output(LOGITS[:1], torch.tensor([0.6]), logits)
    losses = losses_of(output, POLICIES[:1], torch.tensor([[0.5, -0.5]]))
    assert losses["value"].tolist() == pytest.approx([-0.5 * math.log(0.7) - 0.5 * math.log(0.2)])


def test_gradients_are_those_of_the_formula():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(6, 4, generator=generator, dtype=torch.float32, requires_grad=True)
    raw = torch.randn(6, generator=generator, requires_grad=True)
    policies = torch.rand(6, 4, generator=generator)
    policies /= policies.sum(1, keepdim=True)
    z = torch.rand(6, 2, generator=generator) * 2 - 1
    losses = losses_of(Output(logits, torch.tanh(raw), None), policies, z)
    found = torch.autograd.grad(
        add_losses(losses, {"policy": 1.0, "value": 1.0}).sum(), [logits, raw]
    )
    direct = (z[:, 0] - torch.tanh(raw)) ** 2 - (
        policies * torch.log(torch.softmax(logits, 1))
    ).sum(1)
    expected = torch.autograd.grad(direct.sum(), [logits, raw])
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    by_hand = torch.softmax(logits, 1) - policies
    torch.testing.assert_close(found[0], by_hand)


def test_measures_of_each_position():
    output = Output(LOGITS, torch.tensor([0.5, -0.25]), None)
    found = measure(output, batch_of(POLICIES))
    entropies = [-sum(p * math.log(p) for p in (0.5, 0.3, 0.2)), math.log(3)]
    assert sorted(found.policy_entropy.tolist()) == pytest.approx(sorted(entropies))
    target = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert float(found.target_entropy.sum()) == pytest.approx(target)
    assert found.agreement.tolist() == [1, 0]  # equal logits name action 0, the search action 1
    assert found.value.tolist() == [0.5, -0.25]


def test_illegal_actions_are_left_out_of_the_policy():
    legal = torch.tensor([[True, False, True], [True, True, False]])
    logits = LOGITS.clone().requires_grad_()
    output = Output(logits, torch.zeros(2), None)
    policies = torch.tensor([[0.25, 0.0, 0.75], [1.0, 0.0, 0.0]])
    losses = losses_of(output, policies, torch.zeros(2, 2), legal)
    of_five, of_two = (-math.log(share / 0.7) for share in (0.5, 0.2))
    expected = [0.25 * of_five + 0.75 * of_two, math.log(2)]
    assert losses["policy"].tolist() == pytest.approx(expected)
    (gradient,) = torch.autograd.grad(losses["policy"].sum(), [logits])
    by_hand = [[5 / 7 - 0.25, 0, 2 / 7 - 0.75], [-0.5, 0.5, 0]]
    torch.testing.assert_close(gradient, torch.tensor(by_hand))
    found = measure(output, batch_of(policies, legal=legal))
    entropies = [-sum(p * math.log(p) for p in (5 / 7, 2 / 7)), math.log(2)]
    assert found.policy_entropy.tolist() == pytest.approx(entropies)
    assert found.agreement.tolist() == [0, 1]


def test_an_illegal_action_is_never_the_preferred_one():
    output = Output(torch.tensor([[9.0, 1.0, 0.0]]), torch.zeros(1), None)
    legal = torch.tensor([[False, True, True]])
    found = measure(output, batch_of(torch.tensor([[0.0, 1.0, 0.0]]), legal=legal))
    assert found.agreement.tolist() == [1]


def test_what_a_policy_gives_to_illegal_actions_counts_nothing():
    legal = torch.tensor([[True, True, False]])
    output = Output(torch.zeros(1, 3), torch.zeros(1), None)
    losses = losses_of(output, torch.tensor([[0.5, 0.25, 0.25]]), torch.zeros(1, 2), legal)
    assert losses["policy"].tolist() == pytest.approx([0.75 * math.log(2)])
