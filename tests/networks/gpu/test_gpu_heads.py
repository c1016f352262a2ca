"""The layout of the heads' kernel reproduces the network, in NumPy; on a Hopper GPU the kernel too.

NumPy does what every thread does, index by index, with the fragments of mma.sync.m16n8k16 as the
PTX ISA lays them out.
"""

import itertools

import numpy as np
import pytest
import torch
from drawn_networks import drawn_network
from torch.nn import functional

from plainzero import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.cublas_heads import CublasHeads, join_heads
from plainzero.networks.gpu.heads import Heads
from plainzero.networks.gpu.heads_layout import HeadsLayout, HeadsShape, heads_shape
from plainzero.networks.gpu.heads_weights import pack_head_numbers, pack_head_weights

pytestmark = pytest.mark.slow

DENSE = {"policy": "dense", "value_head": "dense"}
CASES = {
    "connect four": ("connect-four", NetworkConfig(blocks=1, channels=64)),
    "few channels": ("connect-four", NetworkConfig(blocks=1, channels=24)),
    "win, draw, loss": ("connect-four", NetworkConfig(blocks=1, channels=64, values="wdl")),
    "many actions": ("gomoku(size=9)", NetworkConfig(blocks=1, channels=64, **DENSE)),
    "three players": ("trio", NetworkConfig(blocks=1, channels=64, **DENSE)),
}
LANES = np.arange(32)
G, T = LANES // 4, LANES % 4
has_hopper = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


def multiply(a, b):
    """[lanes, 4] of D = A B, from the [lanes, 8] of A and [lanes, 4] of B that threads hold."""
    left, right = np.zeros((16, 16), np.float32), np.zeros((16, 8), np.float32)
    for i in range(8):
        left[G + 8 * (i // 2 % 2), 2 * T + i % 2 + 8 * (i // 4)] = a[:, i]
    for i in range(4):
        right[2 * T + i % 2 + 8 * (i // 2), G] = b[:, i]
    product = left @ right
    return np.stack([product[G + 8 * (i // 2), 2 * T + i % 2] for i in range(4)], 1)


class Grid:
    """All warps of a launch, one after the other; what they write is counted."""

    def __init__(self, layout, weights, numbers, features):
        self.layout, self.shape, self.batch = layout, layout.shape, len(features)
        self.weights = weights.float().numpy().reshape(-1, 8)  # what one load brings
        self.numbers, self.features = numbers.numpy(), features.reshape(-1, 8)
        self.logits = np.zeros((self.batch, self.shape.actions), np.float32)
        self.values = np.zeros((self.batch, self.shape.values), np.float32)
        self.logit_writes = np.zeros(self.logits.shape, int)
        self.value_writes = np.zeros(self.values.shape, int)

    def run(self, slices):
        layout = self.layout
        for tile, group in itertools.product(
            range(layout.count_tiles(self.batch)), range(layout.groups)
        ):
            first = tile * layout.boards
            sums = sum(self.sum_cells(first, group, part, slices) for part in range(slices))
            boards = [first + i // 2 * 8 + 2 * T + i % 2 for i in range(2 * layout.board_tiles)]
            if group == 0:
                self.write_values(sums, boards)
            else:
                self.write_logits(sums, boards, group)

    def sum_cells(self, first, group, part, slices):
        """[tiles, board tiles, lanes, 4] of one slice of the cells."""
        layout, cells = self.layout, self.shape.cells
        tiles = layout.policy_tiles if group else layout.value_tiles
        sums = np.zeros((tiles, layout.board_tiles, 32, 4), np.float32)
        weights_at = 0 if group == 0 else cells * 64 * (layout.value_tiles + (group - 1) * tiles)
        for cell in range(cells * part // slices, cells * (part + 1) // slices):
            boards = []
            for n in range(layout.board_tiles):
                board = np.minimum(first + 8 * n + G, self.batch - 1)
                boards.append(self.features[(board * cells + cell) * 8 + (0 if group else 4) + T])
            for tile, s, n in itertools.product(range(tiles), range(2), range(layout.board_tiles)):
                units = self.weights[weights_at + (cell * tiles + tile) * 64 + 32 * s + LANES]
                sums[tile, n] += multiply(units, boards[n][:, 4 * s : 4 * s + 4])
        return sums

    def write_logits(self, sums, boards, group):
        layout, shape = self.layout, self.shape
        biases_at = (1 + shape.outputs) * 16 * layout.value_tiles
        for half, i in itertools.product(range(2 * layout.policy_tiles), range(len(boards))):
            action = 16 * layout.policy_tiles * (group - 1) + 8 * half + G
            logit = (
                sums[half // 2, i // 2, :, half % 2 * 2 + i % 2] + self.numbers[biases_at + action]
            )
            mine = (boards[i] < self.batch) & (action < shape.actions)
            self.logits[boards[i][mine], action[mine]] = logit[mine]
            np.add.at(self.logit_writes, (boards[i][mine], action[mine]), 1)

    def write_values(self, sums, boards):
        layout, shape = self.layout, self.shape
        units = 16 * layout.value_tiles
        last_at, biases_at = units, (1 + shape.outputs) * units
        biases_at += 16 * layout.policy_groups * layout.policy_tiles
        found = np.zeros((shape.outputs, len(boards), 32), np.float32)
        for half, i in itertools.product(range(2 * layout.value_tiles), range(len(boards))):
            hidden = sums[half // 2, i // 2, :, half % 2 * 2 + i % 2] + self.numbers[8 * half + G]
            for output in range(shape.outputs):
                weight = self.numbers[last_at + output * units + 8 * half + G]
                found[output, i] += weight * np.maximum(hidden, 0)
        for apart in (4, 8, 16):
            found = found + found[:, :, LANES ^ apart]
        found += self.numbers[biases_at : biases_at + shape.outputs, None, None]
        if shape.is_wdl:
            chances = np.exp(found) / np.exp(found).sum(0)
            found = (chances[0] - chances[2])[None]
        else:
            found = np.tanh(found)
        for i, board in enumerate(boards):
            mine = (i == G) & (board < self.batch)
            self.values[board[mine]] = found[:, i, mine].T
            self.value_writes[board[mine]] += 1


def drawn_features(shape, count, seed=0):
    """[count, cells, 64] as after a ReLU, in bf16."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn((count, shape.cells, 64), generator=generator).relu().bfloat16()


def in_torch(network, features):
    """Logits and values [B, 1 or players] with weights in bf16 and sums in float32."""

    def read(layer, channels):
        weight = layer.weight.bfloat16().float()
        count = weight.shape[1] // features.shape[1]
        inputs = channels[:, :, :count].float().mT.flatten(1)
        return functional.linear(inputs, weight, layer.bias)

    with torch.inference_mode():
        hidden = functional.relu(read(network.value[-3], features[:, :, 32:]))
        output = network.finish(
            read(network.policy[-1], features[:, :, :32]), network.value[-1](hidden)
        )
    return output.logits.numpy(), output.values.reshape(len(features), -1).numpy()


@pytest.mark.parametrize(("board_tiles", "slices"), [(4, 1), (2, 3)])
@pytest.mark.parametrize("case", CASES)
def test_the_threads_together_give_what_the_network_says(case, board_tiles, slices):
    name, config = CASES[case]
    network = drawn_network(make_game(name), config)
    layout = HeadsLayout(heads_shape(network), board_tiles)
    features = drawn_features(layout.shape, 35)
    weights, numbers = pack_head_weights(network, layout), pack_head_numbers(network, layout)
    grid = Grid(layout, weights, numbers, features.float().numpy())
    grid.run(slices)
    logits, values = in_torch(network, features)
    np.testing.assert_allclose(grid.logits, logits, atol=1e-4 * np.abs(logits).max())
    np.testing.assert_allclose(grid.values, values, atol=1e-4)
    assert (grid.logit_writes == 1).all() and (grid.value_writes == 1).all()
    assert np.abs(logits).max() > 0.1 and np.abs(values).max() > 0.1


def test_cells_are_sliced_until_all_places_beside_the_tower_are_taken():
    connect_four = HeadsLayout(HeadsShape(42, 7, 64, 1, False))
    gomoku = HeadsLayout(HeadsShape(225, 225, 64, 1, False))
    assert (connect_four.groups, gomoku.groups, gomoku.policy_tiles) == (2, 5, 4)
    assert connect_four.choose_slices(32, 132) == 6  # more would wait for each other's sums
    assert connect_four.choose_slices(100_000, 132) == 1
    assert 1 < gomoku.choose_slices(4096, 132) <= 15
    assert HeadsLayout(HeadsShape(1, 2, 64, 1, False)).choose_slices(5, 132) == 1


def test_more_hidden_units_than_a_warp_holds_are_refused():
    with pytest.raises(ValueError, match="has 65 hidden units; the kernel holds at most 64"):
        HeadsShape(42, 7, 65, 1, False)


@pytest.mark.skipif(not has_hopper, reason="needs a GPU of compute capability 9.0")
@pytest.mark.parametrize("batch", [5, 1003])
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_says_what_the_network_says_also_after_new_weights(case, batch):
    name, config = CASES[case]
    first, second = (drawn_network(make_game(name), config, seed) for seed in (0, 1))
    layout = HeadsLayout(heads_shape(first))
    heads, features = Heads(first, layout), drawn_features(layout.shape, batch)
    for network, slices in ((first, 1), (first, 3), (second, 3)):
        heads.load(network)
        buffers = heads.make_buffers(batch, slices)
        logits = torch.full((batch, layout.shape.actions), torch.nan, device="cuda")
        values = torch.full((batch, layout.shape.values), torch.nan, device="cuda")
        expected = in_torch(network, features)
        before = None
        for _ in range(2):  # the room is as it was after a launch
            heads(features.cuda(), logits, values, buffers)
            found = logits.cpu().numpy(), values.cpu().numpy()
            for mine, theirs in zip(found, expected, strict=True):
                np.testing.assert_allclose(mine, theirs, atol=1e-3 * np.abs(theirs).max())
            assert before is None or all(map(np.array_equal, found, before))
            before = found


@pytest.mark.skipif(not has_hopper, reason="needs a GPU of compute capability 9.0")
def test_features_of_another_size_are_refused():
    network = drawn_network(make_game("connect-four"), NetworkConfig(blocks=1, channels=64))
    heads = Heads(network, HeadsLayout(heads_shape(network)))
    answers = torch.zeros((4, 7), device="cuda"), torch.zeros((4, 1), device="cuda")
    features = torch.zeros((4, 43, 64), dtype=torch.bfloat16, device="cuda")
    with pytest.raises(ValueError, match=r"given torch.bfloat16 \(4, 43, 64\) .* \(4, 42, 64\)"):
        heads(features, *answers, heads.make_buffers(4))


@pytest.mark.parametrize("name", ["many actions", "few channels"])
def test_both_heads_as_one_product_see_their_own_channels_alone(name):
    game, config = CASES[name]
    network = drawn_network(make_game(game), config)
    own, cells = network.policy[0].out_channels, network.shape[1] * network.shape[2]
    features = torch.randn(3, cells, 2, 32)
    features[:, :, :, own:] = 0.0
    found = functional.linear(features.flatten(1), join_heads(network, 32))
    layers = network.policy[-1], network.value[-3]
    for head, (layer, columns) in enumerate(
        zip(layers, found.split([len(layer.weight) for layer in layers], 1), strict=True)
    ):
        read = features[:, :, head, :own].permute(0, 2, 1).flatten(1)
        assert torch.allclose(columns, functional.linear(read, layer.weight), atol=1e-4)


def test_heads_keep_a_copy_of_the_weights_they_were_given():
    network = drawn_network(
        make_game("gomoku(size=9)"), NetworkConfig(blocks=1, channels=64, **DENSE)
    )
    before = [weight.detach().clone() for weight in network.parameters()]
    heads = CublasHeads(network, 32, torch.device("cpu"))
    other = drawn_network(
        make_game("gomoku(size=9)"), NetworkConfig(blocks=1, channels=64, **DENSE), 1
    )
    heads.load(other)
    for weight, old in zip(network.parameters(), before, strict=True):
        assert torch.equal(weight, old)
