"""The fused tower's layout reproduces the network, in NumPy; on a Hopper GPU the kernel itself."""

import itertools

import numpy as np
import pytest
import torch
from drawn_networks import drawn_network
from torch.nn import functional

from plainzero import make_game
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.tower import Tower
from plainzero.networks.gpu.tower_layout import (
    SHARED_BYTES,
    STAGE_BYTES,
    TowerLayout,
    TowerShape,
    choose_layout,
)
from plainzero.networks.gpu.tower_weights import pack_biases, pack_weights

CONNECT_FOUR = make_game("connect-four")
SMALL = NetworkConfig(blocks=1, channels=24)
has_hopper = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)


class ManyPlanes(TicTacToe):
    """Seen through 18 planes, more than one step of the stem takes."""

    observation_shape = property(lambda self: (18, 3, 3))


def shape_of(game, config):
    planes, height, width = game.observation_shape
    return TowerShape(height, width, planes, config.blocks, config.channels)


def rounded(array):
    """To bf16 and back."""
    return torch.from_numpy(np.ascontiguousarray(array)).bfloat16().float().numpy()


class Multiprocessor:
    """Shared memory as numbers of two bytes, and what the kernel does with it, index by index."""

    def __init__(self, layout):
        self.layout = layout
        self.memory = np.zeros(layout.shared_bytes // 2, np.float32)
        self.rows_at = layout.stages * STAGE_BYTES
        self.nowhere = self.rows_at + layout.rows * 2 * layout.shape.filled_channels

    def chunk_at(self, row, chunk):
        return self.rows_at + (chunk * self.layout.rows + row) * 16

    def store(self, address, channels):
        assert address % 16 == 0 and self.rows_at <= address <= self.nowhere + 112
        self.memory[address // 2 : address // 2 + 8] = channels

    def read(self, start, leading, stride, count):
        """[count, 16] of what a descriptor says."""
        i, k = np.arange(count)[:, None], np.arange(16)[None, :]
        address = start + i // 8 * stride + i % 8 * 16 + k // 8 * leading + k % 8 * 2
        return self.memory[address // 2]

    def read_cells(self, row, step):
        layout = self.layout
        start = self.rows_at + (2 * step * layout.rows + row) * 16
        return self.read(start, layout.rows * 16, 128, layout.padded)

    def multiply(self, weights_of, row, steps_a_tap, taps, tiles):
        """[tiles, 64, columns]: the weights go through the ring."""
        layout, sums = self.layout, np.zeros((tiles, 64, self.layout.padded), np.float32)
        for product in range(tiles * steps_a_tap * taps):
            slot = product // 4 % layout.stages * STAGE_BYTES + product % 4 * 2048
            self.memory[slot // 2 : slot // 2 + 1024] = weights_of[product].ravel()
            tile, step = product % tiles, product // tiles
            tap = step // steps_a_tap
            nine = (tap // 3 - 1) * layout.below + tap % 3 - 1
            shift = {1: 0, 3: (tap - 1) * layout.below, 9: nine}[taps]
            weights = self.read(slot, 1024, 128, 64)
            sums[tile] += weights @ self.read_cells(row + shift, step % steps_a_tap).T
        return sums

    def finish(self, sums, tile, row, bias, adds):
        """Fragments through stmatrix: lane l of warp w addresses row l % 8 of matrix l // 8."""
        groups = self.layout.padded // 8
        for warp, lane, j in itertools.product(range(4), range(32), range(0, groups, 2)):
            group, half = j + lane // 16, lane // 8 % 2
            cell = 8 * group + lane % 8
            chunk = 8 * tile + 2 * warp + half
            target = self.chunk_at(row + 8 * (lane // 16) + lane % 8, chunk)
            address = target + j * 128
            if cell % self.layout.pitch == self.layout.shape.width or cell >= self.layout.columns:
                address = self.nowhere
            first = 16 * warp + 8 * half
            values = sums[first : first + 8, cell] if cell < self.layout.padded else np.zeros(8)
            values = values + bias[64 * tile + first : 64 * tile + first + 8]
            if adds:
                values = values + self.memory[address // 2 : address // 2 + 8]
            self.store(address, rounded(np.maximum(values, 0).astype(np.float32)))

    def cell_rows(self):
        shape, layout = self.layout.shape, self.layout
        cells = np.arange(layout.boards * shape.height * shape.width)
        board, rest = np.divmod(cells, shape.height * shape.width)
        return (rest // shape.width * layout.boards + board) * layout.pitch + rest % shape.width

    def run(self, warpgroup, weights, biases, planes):
        """[boards, cells, 64] of the heads, for one warpgroup's planes."""
        layout, shape = self.layout, self.layout.shape
        x = layout.border + 2 * warpgroup * (layout.padded + layout.border)
        inner = x + layout.padded + layout.border
        wide = np.pad(planes, ((0, 0), (0, 0), (0, 0), (1, 1)))
        features = np.concatenate([wide[..., dc : dc + shape.width] for dc in range(3)], 1)
        missing = 16 * layout.stem_steps - features.shape[1]
        features = np.pad(features, ((0, 0), (0, missing), (0, 0), (0, 0)))
        cells = rounded(features.transpose(0, 2, 3, 1)).reshape(-1, features.shape[1])
        for channels, row in zip(cells, self.cell_rows(), strict=True):
            for chunk in range(2 * layout.stem_steps):
                address = self.chunk_at(inner + row, chunk)
                self.store(address, channels[8 * chunk : 8 * chunk + 8])
        products, bias, tiles = iter(weights), iter(biases), shape.tiles

        def layer(source, target, steps_a_tap, taps, tiles=tiles, adds=False):
            mine = [next(products) for _ in range(-(-tiles * steps_a_tap * taps // 4) * 4)]
            sums = self.multiply(mine, source, steps_a_tap, taps, tiles)
            mine = next(bias)
            for tile in range(tiles):
                self.finish(sums[tile], tile, target, mine, adds)

        layer(inner, x, layout.stem_steps, 3)
        for _ in range(shape.blocks):
            layer(x, inner, 4 * tiles, 9)
            layer(inner, x, 4 * tiles, 9, adds=True)
        layer(x, inner, 4 * tiles, 1, tiles=1)
        assert next(products, None) is None and next(bias, None) is None
        chunks = [self.chunk_at(inner + r, c) // 2 for r in self.cell_rows() for c in range(8)]
        return np.stack([self.memory[at : at + 8] for at in chunks]).reshape(len(planes), -1, 64)


def in_torch(network, planes):
    """The heads' channels [B, H·W, 64] in float32 from weights and activations in bf16."""
    with torch.inference_mode():
        x = torch.from_numpy(planes).bfloat16().float()

        def convolve(layer, x):
            weight = layer.weight.bfloat16().float()
            return functional.conv2d(x, weight, layer.bias, padding=weight.shape[2] // 2)

        def activate(x):
            return functional.relu(x).bfloat16().float()

        stem, _, *blocks = network.body
        x = activate(convolve(stem, x))
        for block in blocks:
            x = activate(x + convolve(block.second, activate(convolve(block.first, x))))
        heads = torch.zeros(len(x), 64, x.shape[2] * x.shape[3])
        for head, at in ((network.policy, 0), (network.value, 32)):
            channels = activate(convolve(head.reader, x)).flatten(2)
            heads[:, at : at + channels.shape[1]] = channels
        return heads.transpose(1, 2).numpy()


def random_planes(game, count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, *game.observation_shape)).astype("f4")


@pytest.mark.parametrize(
    ("game", "config", "boards"),
    [
        (CONNECT_FOUR, NetworkConfig(blocks=2, channels=64), 5),
        (CONNECT_FOUR, SMALL, 2),
        (CONNECT_FOUR, NetworkConfig(blocks=1, channels=128), 2),
        (make_game("2048"), NetworkConfig(blocks=1, channels=72), 2),
        (make_game("2048"), SMALL, 3),  # 60 columns, filled up to 64
        (ManyPlanes(), NetworkConfig(blocks=1, channels=18), 3),  # as many channels as planes
    ],
)
def test_the_layout_reproduces_the_network_for_every_warpgroup(game, config, boards):
    network = drawn_network(game, config)
    layout = TowerLayout(shape_of(game, network.config), 2, boards)
    weights = pack_weights(network).float().numpy()
    biases = pack_biases(network).numpy()
    assert len(weights) == 4 * layout.weight_stages
    assert biases.shape == (2 + 2 * config.blocks, layout.shape.filled_channels)
    multiprocessor = Multiprocessor(layout)
    planes = random_planes(game, layout.tile_boards)
    expected = in_torch(network, planes)
    for warpgroup in range(2):
        mine = slice(warpgroup * boards, (warpgroup + 1) * boards)
        heads = multiprocessor.run(warpgroup, weights, biases, planes[mine])
        error = np.abs(heads - expected[mine]).max()
        assert error < 0.02 * np.abs(expected).max()
    assert np.abs(expected).max() > 0.1


def test_plans_fit_into_shared_memory_and_use_every_multiprocessor():
    for height, width in itertools.product(range(1, 17), range(1, 17)):
        if height * (width + 1) <= 256:
            shape = TowerShape(height, width, 20, 8, 64)
            for batch in (1, 500, 2048, 16_384):
                layout = choose_layout(shape, batch, multiprocessors=132)
                assert layout.shared_bytes <= SHARED_BYTES and layout.padded <= 256
    connect_four = TowerShape(6, 7, 2, 4, 64)
    assert choose_layout(connect_four, 2048, 132).tile_boards * 132 * 2 >= 2048
    assert choose_layout(connect_four, 264, 132).boards == 1
    wide = choose_layout(TowerShape(6, 7, 2, 6, 128), 16_384, 132)
    assert (wide.warpgroups, wide.boards) == (3, 2) and wide.shared_bytes <= SHARED_BYTES


def test_a_plan_leaves_registers_and_shared_memory_to_other_kernels():
    shape = TowerShape(6, 7, 2, 4, 64)
    for warpgroups, boards in ((2, 5), (3, 4)):
        layout = TowerLayout(shape, warpgroups, boards)
        assert layout.block_registers == 65_536 - 4 * 32 * 128
        assert layout.shared_bytes <= SHARED_BYTES - 4 * 1024
    assert TowerLayout(shape, 2, 5, registers=168).block_registers == 256 * 168
    for registers in (144, 264):  # fewer than 120 sums and addresses take; more than there are
        with pytest.raises(ValueError, match=f"{registers} registers for each of 256 threads"):
            TowerLayout(shape, 2, 5, registers=registers)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((6, 7, 2, 4, 160), "channels is 160; the fused tower holds at most 128"),
        ((19, 19, 4, 4, 64), "19×19; with 64 channels the fused tower holds boards of at most 256"),
        ((15, 15, 4, 4, 96), "15×15; with 96 channels the fused tower holds boards of at most 128"),
        ((6, 7, 22, 4, 64), "22 planes; the fused tower reads at most 21"),
    ],
)
def test_what_the_kernel_cannot_hold_is_refused(shape, message):
    with pytest.raises(ValueError, match=message):
        TowerShape(*shape)


def test_a_network_with_pooling_is_refused():
    network = make_network(CONNECT_FOUR, NetworkConfig(pooling=True), 0)
    with pytest.raises(ValueError, match="computes kind=residual without pooling"):
        pack_weights(network)


@pytest.mark.skipif(not has_hopper, reason="needs a GPU of compute capability 9.0")
@pytest.mark.parametrize(("channels", "warpgroups", "boards"), [(24, 2, 5), (128, 3, 2)])
def test_the_kernel_gives_the_heads_channels_also_after_new_weights(channels, warpgroups, boards):
    config = NetworkConfig(blocks=1, channels=channels)
    tower = Tower(TowerLayout(shape_of(CONNECT_FOUR, config), warpgroups, boards))
    planes = random_planes(CONNECT_FOUR, 1003)
    out = torch.empty((1003, 42, 64), dtype=torch.bfloat16, device="cuda")
    for seed in (0, 1):
        network = drawn_network(CONNECT_FOUR, config, seed)
        tower.load(network)
        tower(torch.from_numpy(planes).cuda(), out)
        expected = in_torch(network, planes)
        error = np.abs(out.float().cpu().numpy() - expected).max()
        assert error < 0.02 * np.abs(expected).max()
