"""Helpers for benchmarks/tower.py: networks, compiling, cuBLAS, graphs, timing."""

import multiprocessing

import torch
from torch.nn import functional

from plainzero import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.heads import compile_heads
from plainzero.networks.gpu.heads_layout import HeadsLayout, heads_shape
from plainzero.networks.gpu.tower import compile_kernel
from plainzero.networks.gpu.tower_layout import TowerShape

MULTIPROCESSORS = 132
DENSE = {"policy": "dense", "value_head": "dense"}


def drawn(name, blocks, channels, values="auto", **heads):
    """A game's network on the GPU, with nonzero random weights; heads are dense by default."""
    config = NetworkConfig(blocks=blocks, channels=channels, values=values, **heads or DENSE)
    network = draw_zeros(make_network(make_game(name), config, 0))
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 1:
                weight.normal_(0.0, 0.2, generator=generator)
    return network.cuda().requires_grad_(False)


def shape_of(name, blocks, channels):
    planes, height, width = make_game(name).observation_shape
    return TowerShape(height, width, planes, blocks, channels)


def heads_shape_of(name, values="auto"):
    """The shape of a game's dense heads; must be called before CUDA is initialised."""
    config = NetworkConfig(blocks=1, channels=64, values=values, **DENSE)
    return heads_shape(make_network(make_game(name), config, 0))


def compile_all(layouts):
    """Machine code by layout. Forks processes, so call it before CUDA is initialised."""
    layouts = list(dict.fromkeys(layouts))
    with multiprocessing.get_context("fork").Pool(16) as pool:
        return dict(zip(layouts, pool.map(compile_layout, layouts, chunksize=1), strict=True))


def compile_layout(layout):
    return compile_heads(layout) if isinstance(layout, HeadsLayout) else compile_kernel(layout)


def cublas_heads(network):
    """The heads' linear layers, computed with cuBLAS and PyTorch's kernels.

    A function from [B, cells, 64] to logits and values.
    """
    weight, bias = joined_readers(network)
    missing = (0, -len(bias) % 8)  # pads columns to multiples of 16 bytes, for fast products
    weight, bias = functional.pad(weight, missing).bfloat16(), functional.pad(bias, missing)
    last = network.value[-1]
    actions, end = network.policy[-1].out_features, -missing[1] or None

    def read(features):
        both = torch.mm(features.flatten(1), weight, out_dtype=torch.float32) + bias
        hidden = functional.relu(both[:, actions:end])
        output = network.finish(
            both[:, :actions], functional.linear(hidden, last.weight, last.bias)
        )
        return output.logits, output.values.reshape(len(features), -1)

    return read


def joined_readers(network):
    """Joint weight [cells · 64, A + hidden] and bias of both heads' first linear layers."""
    readers = [network.policy[-1], network.value[-3]]
    channels = [network.policy[0].out_channels, network.value[0].out_channels]
    weights = []
    for layer, count, before in zip(readers, channels, (0, 32), strict=True):
        weight = layer.weight.reshape(len(layer.weight), count, -1).permute(2, 1, 0)
        weights.append(functional.pad(weight, (0, 0, before, 64 - before - count)))
    return torch.cat(weights, 2).flatten(0, 1), torch.cat([layer.bias for layer in readers])


def captured(run):
    """A CUDA graph of the function, the tensors that its replays write, and the function.

    A graph holds addresses, not tensors: the function keeps weights and buffers alive.
    """
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()
    return graph, result, run


def best_seconds(graphs, rounds=6, replays=10):
    """Seconds per replay of each graph, interleaved; the best round counts."""
    best = dict.fromkeys(graphs, float("inf"))
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(rounds):
        for label, (graph, *_) in graphs.items():
            graph.replay()
            start.record()
            for _ in range(replays):
                graph.replay()
            end.record()
            end.synchronize()
            best[label] = min(best[label], start.elapsed_time(end) / 1e3 / replays)
    return best
