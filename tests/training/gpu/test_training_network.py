"""The output to learn from in fused operations: what PyTorch computes, and the same gradients."""

import copy
import dataclasses

import pytest
import torch
from test_gpu_learning import PLAIN, make_learner
from torch.nn import functional

from plainzero import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.extra_heads import make_extra_heads
from plainzero.networks.head_kinds import HeadKind
from plainzero.targets.target import Batch
from plainzero.training.gpu.learner import GpuLearner
from plainzero.training.gpu.training_network import _Cast, _Convolve, can_learn_fused, fused_output
from plainzero.training.learned_network import Learned
from plainzero.training.losses import add_losses, compute_losses, loss_weights

GAME = make_game("connect-four")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")


def some_network(seed=1, game=GAME, **options):
    """A network with all its weights drawn, biases too."""
    config = NetworkConfig(**({"blocks": 2, "channels": 16} | options))
    network = draw_zeros(make_network(game, config, seed), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 1:
                weight.normal_(0.0, 0.3, generator=generator)
    return network.to(memory_format=torch.channels_last)


def some_batch(count, device="cpu", seed=0, game=GAME):
    """Observations, policies and values, all at random."""
    generator = torch.Generator().manual_seed(seed)
    planes = torch.rand((count, *game.observation_shape), generator=generator).round()
    policies = torch.rand((count, game.num_actions), generator=generator).softmax(1)
    values = 2 * torch.rand((count, 2), generator=generator) - 1
    return [tensor.to(device) for tensor in (planes, policies, values)]


def loss_of(output, policies, values):
    legal = torch.ones_like(policies, dtype=torch.bool)
    batch = Batch(None, legal, values, {"policies": policies}, None, None, None)
    return add_losses(compute_losses(output, batch, PLAIN), loss_weights(PLAIN)).mean()


def gradients(network):
    return {name: weight.grad for name, weight in network.named_parameters()}


def gap(found, expected):
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("has_input_gradient", [True, False])
@pytest.mark.parametrize("values", ["mover", "wdl", "players"])
def test_outputs_and_gradients_are_those_of_the_network(values, has_input_gradient):
    network = some_network(values=values)
    other = copy.deepcopy(network)
    planes, *targets = some_batch(24)
    mine, theirs = (planes.clone().requires_grad_(has_input_gradient) for _ in range(2))
    found, expected = fused_output(network, mine, torch.float32), other(theirs)
    for one, two in zip(found, expected, strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            torch.testing.assert_close(one, two, atol=1e-5, rtol=1e-5)
    for output in (found, expected):
        loss_of(output, *targets).backward()
    expected = gradients(other)
    for name, gradient in gradients(network).items():
        assert gradient.any(), name
        torch.testing.assert_close(gradient, expected[name], atol=1e-5, rtol=1e-5, msg=name)
    if has_input_gradient:
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["gomoku(size=6)", "go(size=5)", "dots-and-boxes"])
@pytest.mark.parametrize("value_head", ["pooled", "regions", "dense"])
def test_heads_that_follow_the_board_learn_the_same(name, value_head):
    game = make_game(name)
    network = some_network(game=game, policy="board", value_head=value_head)
    other = copy.deepcopy(network)
    planes, *targets = some_batch(24, game=game)
    found, expected = fused_output(network, planes, torch.float32), other(planes)
    torch.testing.assert_close(found.logits, expected.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.values, expected.values, atol=1e-5, rtol=1e-5)
    for output in (found, expected):
        loss_of(output, *targets).backward()
    expected = gradients(other)
    for name, gradient in gradients(network).items():
        assert gradient.any(), name
        torch.testing.assert_close(gradient, expected[name], atol=1e-5, rtol=1e-4, msg=name)
    rounded = fused_output(network, planes, torch.bfloat16)
    assert rounded.logits.dtype == torch.float32
    assert gap(rounded.logits.detach(), found.logits.detach()) < 0.03


@pytest.mark.parametrize("policy", ["dense", "board"])
def test_extra_heads_answer_and_learn_as_beside_a_network_that_is_not_fused(policy):
    game = make_game("gomoku(size=6)")
    kinds = {"moves": HeadKind("policy"), "two": HeadKind("numbers", 2), "map": HeadKind("cells")}
    network = some_network(game=game, policy=policy)
    extra = draw_zeros(make_extra_heads(game, network, kinds, 0))
    others = copy.deepcopy(network), copy.deepcopy(extra)
    planes, *targets = some_batch(24, game=game)
    found = fused_output(network, planes, torch.float32, extra)
    expected = Learned(*others)(planes)
    for output in (found, expected):
        more = sum(answer.square().mean() for answer in output.extras.values())
        (loss_of(output, *targets) + more).backward()
    for name, answer in expected.extras.items():
        assert answer.any(), name
        torch.testing.assert_close(found.extras[name], answer, atol=1e-5, rtol=1e-5, msg=name)
    for module, other in zip((network, extra), others, strict=True):
        wanted = gradients(other)
        for name, gradient in gradients(module).items():
            assert gradient.any(), name
            torch.testing.assert_close(gradient, wanted[name], atol=1e-5, rtol=1e-4, msg=name)
    rounded = fused_output(network, planes, torch.bfloat16, extra)
    for name, answer in rounded.extras.items():
        assert answer.dtype == torch.float32
        assert gap(answer.detach(), found.extras[name].detach()) < 0.05, name


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("has_residual", [True, False])
@pytest.mark.parametrize("has_input_gradient", [True, False])
def test_gradients_of_a_convolution_are_exact(size, has_residual, has_input_gradient):
    torch.manual_seed(0)
    x = torch.randn(5, 4, 3, 6, dtype=torch.float64).to(memory_format=torch.channels_last)
    weight, bias = torch.randn(6, 4, size, size, dtype=torch.float64), torch.randn(6).double()
    residual = torch.randn(5, 6, 3, 6, dtype=torch.float64) if has_residual else None
    ones = torch.ones(1, 5, dtype=torch.float64)
    for tensor in (weight, bias, *([x] if has_input_gradient else []), residual):
        if tensor is not None:
            tensor.requires_grad_()
    out = _Convolve.apply(x, weight, bias, residual, ones)
    plain = functional.conv2d(x, weight, bias, padding=size // 2)
    plain = functional.relu(plain if residual is None else plain + residual)
    torch.testing.assert_close(out, plain)
    inputs = [t for t in (x, weight, bias, residual) if t is not None and t.requires_grad]
    given = torch.randn_like(plain).contiguous()  # the other layout than the output's
    for one, two in zip(
        torch.autograd.grad(out, inputs, given),
        torch.autograd.grad(plain, inputs, given),
        strict=True,
    ):
        torch.testing.assert_close(one, two)


def test_a_cast_goes_back_to_the_type_that_is_learned():
    weights = [torch.randn(3, 4, requires_grad=True), torch.randn(2, requires_grad=True)]
    made = _Cast.apply(torch.bfloat16, *weights)
    assert all(torch.equal(a, b.bfloat16()) for a, b in zip(made, weights, strict=True))
    (made[0].sum() * 0.5 + 2 * made[1].sum()).backward()
    for weight, expected in zip(weights, (0.5, 2.0), strict=True):
        assert torch.equal(weight.grad, torch.full_like(weight, expected))


def test_gradients_in_bf16_are_near_those_in_float32():
    network = some_network(channels=32)
    other = copy.deepcopy(network)
    planes, *targets = some_batch(64)
    loss_of(fused_output(network, planes, torch.bfloat16), *targets).backward()
    loss_of(other(planes), *targets).backward()
    expected = gradients(other)
    for name, gradient in gradients(network).items():
        assert gradient.dtype == torch.float32
        assert gap(gradient, expected[name]) <= 0.05, name


def test_the_cpu_learns_without():
    assert not can_learn_fused(some_network(), torch.device("cpu"))
    assert not make_learner(PLAIN)._is_fused


@needs_gpu
@pytest.mark.parametrize(
    "options, precision, is_fused",
    [
        ({}, "auto", True),
        ({}, "bfloat16", True),
        ({}, "float32", False),
        ({"pooling": True}, "auto", False),
        ({"channels": 12}, "auto", False),
        ({"kind": "mlp", "blocks": 4, "channels": 48}, "auto", False),
    ],
)
def test_a_gpu_learns_so_in_bf16(options, precision, is_fused):
    config = dataclasses.replace(PLAIN, precision=precision)
    assert GpuLearner(some_network(**options), config, "cuda")._is_fused == is_fused


@needs_gpu
@pytest.mark.parametrize("values", ["mover", "wdl"])
def test_gradients_on_a_gpu_are_those_of_autocast(values):
    network = some_network(values=values, blocks=4, channels=64).cuda()
    network = network.to(memory_format=torch.channels_last)
    other = copy.deepcopy(network)
    planes, *targets = some_batch(1024, "cuda")
    loss_of(fused_output(network, planes, torch.bfloat16), *targets).backward()
    with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
        output = other(planes.contiguous(memory_format=torch.channels_last))
    loss_of(output, *targets).backward()
    expected = gradients(other)
    for name, gradient in gradients(network).items():
        assert gap(gradient, expected[name]) <= 0.03, name
