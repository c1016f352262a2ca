"""Packed weights of heads that follow the board, read as board_heads.cu reads them, in NumPy."""

import importlib.util

import numpy as np
import pytest
import torch
from drawn_networks import drawn_network
from missing_programs import do_without

from plainzero import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.board_heads import (
    BoardHeads,
    board_heads_shape,
    compile_board_heads,
    pack_actions,
    pack_numbers,
)

CASES = {
    "one kind": ("gomoku(size=7)", NetworkConfig(blocks=1, channels=64)),
    "a pass; win, draw, loss": ("go(size=5)", NetworkConfig(blocks=1, channels=64, values="wdl")),
    "six kinds, few channels": (
        "breakthrough(rows=6,cols=5)",
        NetworkConfig(blocks=1, channels=24),
    ),
    "cells without an action": ("dots-and-boxes", NetworkConfig(blocks=1, channels=64)),
    "three players": ("trio", NetworkConfig(blocks=1, channels=64)),
}
has_hopper = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


def network_of(case):
    name, config = CASES[case]
    network = drawn_network(make_game(name), config)
    with torch.no_grad():
        for number in network.value.last.parameters():
            number.mul_(0.1)  # values that are not all 1
    return network


def drawn_features(network, batch):
    """[batch, cells, 64] in bf16 as the tower leaves them: zeros for channels that do not exist."""
    shape, own = board_heads_shape(network), network.policy.reader.out_channels
    features = torch.randn(batch, shape.cells, 2, 32, generator=torch.Generator().manual_seed(0))
    features[:, :, :, own:] = 0.0
    return features.relu().flatten(2).to(torch.bfloat16)


def in_torch(network, features):
    own, (_, rows, cols) = network.policy.reader.out_channels, network.shape
    read = features.float().unflatten(2, (2, 32))[..., :own].permute(2, 0, 3, 1)
    read = read.unflatten(3, (rows, cols))
    with torch.no_grad():
        output = network.finish(network.policy.answer(read[0]), network.value.answer(read[1]))
    return output.logits.numpy(), output.values.numpy().reshape(len(features), -1)


def as_the_kernel_reads(network, features):
    shape, x = board_heads_shape(network), features.float().numpy()
    numbers, at = pack_numbers(network).numpy(), 0

    def take(*size):
        nonlocal at
        at += int(np.prod(size))
        return numbers[at - int(np.prod(size)) : at].reshape(size)

    kinds, kinds_bias = take(shape.kinds, 32), take(shape.kinds)
    others, others_bias = take(shape.others, 64), take(shape.others)
    hidden, hidden_bias = take(64, 64), take(64)
    last, last_bias = take(shape.outputs, 64), take(shape.outputs)
    assert at == len(numbers)
    pooled = np.stack([x.mean(1), x.max(1)], 1).reshape(len(x), 2, 2, 32)  # part, head
    found = np.concatenate(
        [
            (x[:, :, :32] @ kinds.T + kinds_bias).reshape(len(x), -1),
            pooled[:, :, 0].reshape(len(x), 64) @ others.T + others_bias,
        ],
        1,
    )
    logits, actions = np.full((len(x), shape.actions), np.nan), pack_actions(network).numpy()
    logits[:, actions[actions >= 0]] = found[:, actions >= 0]
    units = np.maximum(pooled[:, :, 1].reshape(len(x), 64) @ hidden + hidden_bias, 0)
    outputs = units @ last.T + last_bias
    if not shape.is_wdl:
        return logits, np.tanh(outputs)
    odds = np.exp(outputs)
    return logits, ((odds[:, 0] - odds[:, 2]) / odds.sum(1))[:, None]


@pytest.mark.parametrize("case", CASES)
def test_packed_weights_give_what_the_network_says(case):
    network = network_of(case)
    features = drawn_features(network, 5)
    expected = in_torch(network, features)
    for mine, theirs in zip(as_the_kernel_reads(network, features), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)
        assert np.ptp(theirs) > 0.001


@pytest.mark.parametrize("case", CASES)
def test_the_kernel_compiles(case, pytestconfig):
    if importlib.util.find_spec("cuda") is None:
        do_without(pytestconfig, "NVIDIA's compiler is not installed")
    assert len(compile_board_heads(board_heads_shape(network_of(case)))) > 1000


@pytest.mark.skipif(not has_hopper, reason="needs a GPU of compute capability 9.0")
@pytest.mark.parametrize("batch", [1, 1003])
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_says_what_the_network_says(case, batch):
    network = network_of(case)
    heads, features = BoardHeads(network), drawn_features(network, batch)
    logits = torch.full((batch, heads.shape.actions), torch.nan, device="cuda")
    values = torch.full((batch, heads.shape.values), torch.nan, device="cuda")
    heads(features.cuda(), logits, values, heads.make_buffers(batch))
    for mine, theirs in zip((logits, values), in_torch(network, features), strict=True):
        np.testing.assert_allclose(mine.cpu(), theirs, atol=1e-3 * np.abs(theirs).max())
