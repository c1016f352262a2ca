"""The phases of a search round on a GPU, each timed as a separate kernel.

    python benchmarks/round_phases.py [GAME] [GAMES] [SIMULATIONS] [THREADS]

Prints the microseconds of each phase and of the kernel that does them all: the mean over all rounds
of one search, with nothing else on the GPU. The network is 4x64 with random weights.
"""

import collections
import sys

import torch
from numba import cuda

from plainzero import SearchConfig, make_game
from plainzero.bench.gpu_rates import random_roots, require_gpu, trace_kernels
from plainzero.compiler.gpu_kernels import GpuKernel, specialised
from plainzero.devices import choose_device
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.backend import GpuNetworkEvaluator
from plainzero.search.gpu.kernels import clear_games, play_round
from plainzero.search.gpu.repeated_search import RepeatedSearch
from plainzero.search.kernels.expansion import start_edges
from plainzero.search.kernels.lanes import join_lanes, leads
from plainzero.search.kernels.root import begin
from plainzero.search.kernels.simulation import (
    clear_rows,
    finish_leaf,
    observe_leaves,
    select_leaves,
    stop_waiting,
    take_values,
)


@GpuKernel
def values_step(tree, scratch, options, states, leaves, first, last):
    b = first + cuda.grid(2)[1]
    if b < last and scratch.work[b].num_leaves > 0 and leads():
        stop_waiting(tree, b, scratch.leaves[b, 0])
        take_values(tree, scratch, b, scratch.leaves[b, 0], leaves.values, b - first)


@GpuKernel
def priors_step(tree, scratch, options, states, leaves, first, last):
    b = first + cuda.grid(2)[1]
    if b < last and scratch.work[b].num_leaves > 0:
        start_edges(tree, scratch, b, 0, leaves.logits, b - first)


@GpuKernel
def backup_step(tree, scratch, options, states, leaves, first, last):
    options = specialised(options)
    b = first + cuda.grid(2)[1]
    if b < last and scratch.work[b].num_leaves > 0:
        if leads():
            finish_leaf(tree, scratch, options, b, scratch.leaves[b, 0])
        join_lanes()
        if leads():
            scratch.work[b].num_leaves = 0


@GpuKernel
def clear_step(tree, scratch, options, states, leaves, first, last):
    b = first + cuda.grid(2)[1]
    if b < last:
        clear_rows(leaves.cells, b - first, 1)


@GpuKernel
def select_step(tree, scratch, options, states, leaves, first, last):
    options = specialised(options)
    b = first + cuda.grid(2)[1]
    if b < last:
        begin(tree, scratch, options, b, states[b])
        select_leaves(tree, scratch, options, b)


@GpuKernel
def observe_step(tree, scratch, options, states, leaves, first, last):
    b = first + cuda.grid(2)[1]
    if b < last:
        observe_leaves(tree, scratch, b, leaves.planes, b - first)


FINISHING = (values_step, priors_step, backup_step)
SELECTING = (clear_step, select_step, observe_step)
NAMES = [step.__name__ for step in (*FINISHING, *SELECTING, play_round, clear_games)]


def main() -> None:
    name, games, simulations, lanes = (
        *sys.argv[1:],
        *("connect-four", 4096, 64, 8)[len(sys.argv) - 1 :],
    )
    games, simulations, lanes = int(games), int(simulations), int(lanes)
    print(require_gpu(), "PyTorch", torch.__version__, name, games, simulations, lanes)
    choose_device("cuda", needs_torch=True)
    game = make_game(name)
    network = draw_zeros(make_network(game, NetworkConfig(blocks=4, channels=64), 0))
    evaluator = GpuNetworkEvaluator(network, game, rows=games)
    config = SearchConfig(simulations=simulations, selection="puct")
    search = RepeatedSearch(game, evaluator, config, random_roots(game, games))
    search.run()
    run, states = search._runner, cuda.to_device(search._states)
    batch = evaluator.leaf_batch(games)
    part = run._parts[0]._replace(batch=batch, first=0, last=games)
    arguments = (run._tag, run.tree, run._scratch, run._options, states, part.leaves())

    def in_steps():
        clear(search)
        for step in SELECTING:
            step(*arguments, 0, games, lanes=lanes, stream=batch.stream())
        for _ in range(simulations):
            batch.run()
            batch.answer()
            for step in (*FINISHING, *SELECTING):
                step(*arguments, 0, games, lanes=lanes, stream=batch.stream())

    def in_one():
        clear(search)
        how = {"lanes": lanes, "stream": batch.stream()}
        play_round(*arguments, False, True, 0, games, **how)
        for _ in range(simulations):
            batch.run()
            batch.answer()
            play_round(*arguments, True, True, 0, games, **how)

    for work in (in_steps, in_one):
        work()
        print_means(trace_kernels(work))


def clear(search):
    run = search._runner
    clear_games(run._tag, run.tree, run._scratch, 0, run.games)


def print_means(spans):
    spent = collections.defaultdict(list)
    for span in spans:
        spent[next((k for k in NAMES if k in span.name), "network")].append(span.end - span.start)
    for name, times in spent.items():
        print(f"  {name:14s} {sum(times) / len(times):7.1f} us, {len(times)} times")
    own = sum(sum(times) for name, times in spent.items() if name != "network")
    print(f"  total without the network: {own:.0f} us")


if __name__ == "__main__":
    main()
