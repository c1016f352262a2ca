"""What the sections of benchmarks/tower.py share: networks, compiling, cuBLAS, graphs, timing."""

import multiprocessing

import torch
from torch.nn import functional

from plainzero import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.heads import compile_heads
from plainzero.networks.gpu.heads_layout import HeadsPlan, heads_shape
from plainzero.networks.gpu.tower import compile_kernel
from plainzero.networks.gpu.tower_layout import TowerShape

MULTIPROCESSORS = 132


def drawn(name, blocks, channels, values="auto"):
    """A game's network with nothing zero, biases too, on the GPU."""
    config = NetworkConfig(blocks=blocks, channels=channels, values=values)
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
    """Before CUDA begins."""
    config = NetworkConfig(blocks=1, channels=64, values=values)
    return heads_shape(make_network(make_game(name), config, 0))


def compile_all(plans):
    """Machine code by plan; in processes, which must be before CUDA begins."""
    plans = list(dict.fromkeys(plans))
    with multiprocessing.get_context("fork").Pool(16) as pool:
        return dict(zip(plans, pool.map(compile_plan, plans, chunksize=1), strict=True))


def compile_plan(plan):
    return compile_heads(plan) if isinstance(plan, HeadsPlan) else compile_kernel(plan)


def cublas_heads(network):
    """The linear layers as a product of cuBLAS and PyTorch's kernels, from the channels.

    A function from [B, cells, 64] to logits and values.
    """
    weight, bias = joined_readers(network)
    missing = (0, -len(bias) % 8)  # columns in multiples of 16 bytes, as fast products want them
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
    """Weight [cells · 64, A + hidden] and bias of the first linear layer of both heads together."""
    readers = [network.policy[-1], network.value[-3]]
    channels = [network.policy[0].out_channels, network.value[0].out_channels]
    weights = []
    for layer, count, before in zip(readers, channels, (0, 32), strict=True):
        weight = layer.weight.reshape(len(layer.weight), count, -1).permute(2, 1, 0)
        weights.append(functional.pad(weight, (0, 0, before, 64 - before - count)))
    return torch.cat(weights, 2).flatten(0, 1), torch.cat([layer.bias for layer in readers])


def captured(run):
    """A graph of the function, what its replays write, and the function.

    A graph keeps addresses, not tensors: weights and buffers live as long as the function does.
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
    """Of one replay of each, interleaved."""
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
