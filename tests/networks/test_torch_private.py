"""Each private operator of PyTorch gives what its public replacement gives."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_networks import drawn_network, observations

from plainzero import make_game
from plainzero.networks import torch_private
from plainzero.networks.backends.int8_backend import Int8Evaluator
from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import TOLERANCES, disagreement, make_evaluator

ROOT = Path(__file__).parents[2]
CONNECT_FOUR = make_game("connect-four")
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")


@pytest.fixture
def missing(monkeypatch):
    """A function that takes the operators whose names contain a text from PyTorch."""

    def take(text):
        names = [name for name in torch_private.OPERATORS if text in name]
        assert names
        is_there = torch_private.is_available
        monkeypatch.setattr(
            torch_private, "is_available", lambda name: name not in names and is_there(name)
        )
        torch_private.runs_int8.cache_clear()

    yield take
    monkeypatch.undo()
    torch_private.runs_int8.cache_clear()


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def drawn_list(seed, count=3):
    return [drawn(4, 5, seed=seed + i) for i in range(count)]


def copy_all():
    targets = drawn_list(0)
    torch_private.copy_all(targets, [tensor.bfloat16() for tensor in drawn_list(10)])
    return targets


def lerp_all():
    averages = drawn_list(0)
    torch_private.lerp_all(averages, drawn_list(10), 0.3)
    return averages


def lerp_all_on_gpu():
    averages = drawn_list(0)
    torch_private.lerp_all_on_gpu(averages, drawn_list(10), torch.tensor(0.3))
    return averages


def sgd_step():
    parameters, buffers = drawn_list(0), [torch.zeros(4, 5) for _ in range(3)]
    for step in range(3):
        gradients = drawn_list(10 * step)
        torch_private.sgd_step(parameters, gradients, buffers, torch.tensor(0.1), 0.9, 0.01)
    return [*parameters, *buffers]


def adamw_step():
    parameters = drawn_list(0)
    state = torch_private.AdamState(
        [torch.zeros(()) for _ in parameters],
        [torch.zeros(4, 5) for _ in parameters],
        [torch.zeros(4, 5) for _ in parameters],
    )
    for step in range(3):
        torch_private.adamw_step(
            parameters, drawn_list(10 * step), state, torch.tensor(0.1), (0.9, 0.999), 0.01, 1e-8
        )
    return [*parameters, *state.step, *state.exp_avg, *state.exp_avg_sq]


def relu_gradient():
    return [torch_private.relu_gradient(drawn(4, 5), drawn(4, 5, seed=1).relu())]


def convolution_gradients():
    found = []
    for size, wants_x in ((3, True), (1, True), (3, False)):
        weight, padding = drawn(6, 5, size, size), (size // 2, size // 2)
        found += torch_private.convolution_gradients(
            drawn(2, 6, 4, 3, seed=1), drawn(2, 5, 4, 3, seed=2), weight, padding, wants_x
        )
    assert found[4] is None
    return [tensor for tensor in found if tensor is not None]


@pytest.mark.parametrize(
    ("compute", "operators"),
    [
        (copy_all, "_foreach_copy_"),
        (lerp_all, "_foreach_lerp_"),
        (lerp_all_on_gpu, "_foreach_mul_"),
        (sgd_step, "_fused_sgd_"),
        (adamw_step, "_fused_adamw_"),
        (relu_gradient, "threshold_backward"),
        (convolution_gradients, "convolution_backward"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_public_operators_replace_private_ones(compute, operators, missing):
    expected = compute()
    missing(operators)
    for found, wanted in zip(compute(), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_steps_are_those_of_the_public_optimisers():
    for compute, make in (
        (sgd_step, lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.01)),
        (adamw_step, lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.01)),
    ):
        parameters = [torch.nn.Parameter(tensor) for tensor in drawn_list(0)]
        optimizer = make(parameters)
        for step in range(3):
            for parameter, gradient in zip(parameters, drawn_list(10 * step), strict=True):
                parameter.grad = gradient
            optimizer.step()
        for found, wanted in zip(compute(), parameters, strict=False):
            torch.testing.assert_close(found, wanted.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pooling", [False, True], ids=["plain", "pooling"])
def test_8_bit_integers_are_computed_by_public_operators_too(pooling, missing):
    network = drawn_network(CONNECT_FOUR, NetworkConfig(blocks=2, channels=16, pooling=pooling))
    planes = observations(CONNECT_FOUR, 40)
    expected = make_evaluator(network, CONNECT_FOUR, "torch")(planes)
    private = Int8Evaluator(network, CONNECT_FOUR, 1)(planes) if torch_private.runs_int8() else None
    missing("qconv2d_pointwise.binary")
    assert not torch_private.runs_int8()
    public = Int8Evaluator(network, CONNECT_FOUR, 1)(planes)
    assert 0 < disagreement(public, expected) <= TOLERANCES["torch-int8"]
    if private is not None:
        assert disagreement(public, private) <= 0.1 * TOLERANCES["torch-int8"]


@needs_gpu
def test_convolutions_of_cudnn_are_those_of_public_operators(missing):
    x, weight, bias = drawn(2, 8, 4, 3), drawn(16, 8, 3, 3), drawn(16)
    x, weight, bias = (tensor.bfloat16().cuda() for tensor in (x, weight, bias))
    added = drawn(2, 16, 4, 3).bfloat16().cuda()

    def compute():
        return (
            torch_private.convolve_relu(x, weight, bias, (1, 1)),
            torch_private.convolve_add_relu(x, weight, added, bias, (1, 1)),
        )

    expected = compute()
    missing("cudnn")
    for found, wanted in zip(compute(), expected, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0.05, atol=0.05)


def test_convolutions_without_cudnn_are_right_on_any_processor(missing):
    missing("cudnn")
    x, weight, bias, added = drawn(2, 8, 4, 3), drawn(16, 8, 3, 3), drawn(16), drawn(2, 16, 4, 3)
    plain = torch.nn.functional.conv2d(x, weight, bias, padding=1)
    found = torch_private.convolve_relu(x, weight, bias, (1, 1))
    torch.testing.assert_close(found, plain.relu())
    found = torch_private.convolve_add_relu(x, weight, added, bias, (1, 1))
    torch.testing.assert_close(found, (plain + added).relu())


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_products_of_bf16_matrices_have_sums_in_float32(device, missing):
    first, second = (drawn(4, 5, seed=seed).bfloat16().to(device) for seed in (0, 1))
    found = [torch_private.multiply_to_float32(first, second.T)]
    missing("mm.dtype")
    found.append(torch_private.multiply_to_float32(first, second.T))
    expected = first.double().cpu().numpy() @ second.T.double().cpu().numpy()
    for product in found:
        assert product.dtype == torch.float32
        np.testing.assert_allclose(product.cpu().numpy(), expected, rtol=1e-5, atol=1e-5)


def test_an_operator_that_takes_other_arguments_is_not_used(monkeypatch):
    name = "aten._fused_sgd_.tensor_lr"
    monkeypatch.setitem(torch_private.OPERATORS, name, "self grads rate")
    torch_private.is_available.cache_clear()
    assert not torch_private.is_available(name)
    torch_private.is_available.cache_clear()


def test_no_other_file_calls_private_operators():
    private = re.compile(r"torch\._|torch\.ops|torch\.cudnn_|out_dtype=")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in (ROOT / "src").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if private.search(line.replace("torch.__", ""))
        if path.name != "torch_private.py"
    ]
    assert found == []


@pytest.mark.parametrize("version", ["2.3.1", "2.3.1+cu121", "1.13.0a0+git1234"])
def test_an_old_pytorch_is_refused_with_what_to_do(version):
    with pytest.raises(torch_private.OldTorch) as raised:
        torch_private.check_version(version)
    assert str(raised.value) == (
        f"PyTorch {version} is installed; PlainZero needs 2.4 or newer: pip install --upgrade torch"
    )


def test_the_oldest_pytorch_is_the_one_that_is_declared():
    torch_private.check_version("2.4.0+cpu")
    description = tomllib.loads((ROOT / "pyproject.toml").read_text())
    oldest = ".".join(map(str, torch_private.OLDEST_TORCH))
    assert f"torch>={oldest}" in description["project"]["optional-dependencies"]["learn"]
