"""Rounds of searches and of self-play on a GPU, by parts and by threads per game.

    python benchmarks/gpu_rounds.py [--trace FILE]

Networks are 4x64; `share` is the time of the network alone divided by that of a round, `runs` the
share of time in which a network kernel runs. `--trace` writes the start and end of each kernel of
some rounds as JSON.
"""

import argparse
import contextlib
import json
from unittest import mock

import torch

from plainzero import SearchConfig, make_game
from plainzero.bench.gpu_rates import (
    gpu_seconds,
    network_running,
    random_roots,
    require_gpu,
    time_network,
    trace_kernels,
)
from plainzero.devices import choose_device
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.gpu.backend import GpuNetworkEvaluator
from plainzero.search.gpu.pipeline import make_parts
from plainzero.search.gpu.repeated_search import RepeatedSearch
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.gpu.harvest import SEARCHES
from plainzero.selfplay.gpu.worker import GpuWorker

SEARCH = "plainzero.search.gpu.runner"
SELFPLAY = "plainzero.selfplay.gpu.worker"
WORKS = (  # game, games, simulations, selection, threads per game, parts
    ("connect-four", 4096, 64, "puct", (4, 8), (2, 3, 4)),
    ("connect-four", 8192, 256, "puct", (2, 4), (2, 3, 4)),
    ("connect-four", 16_384, 64, "puct", (2,), (2, 3, 4)),
    ("connect-four", 16_384, 64, "gumbel", (1, 2), (2, 3, 4)),
    ("gomoku", 4096, 64, "puct", (8, 16), (1, 2, 3)),
)
TRACED = 400  # kernels
SELFPLAY_WORKS = ((8192, (4, 8)), (16_384, (4,)))  # games, threads per game


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace")
    options = parser.parse_args()
    print(require_gpu(), "PyTorch", torch.__version__)
    choose_device("cuda", needs_torch=True)
    traces = {}
    for name, games, simulations, selection, all_lanes, all_parts in WORKS:
        evaluator = new_evaluator(name, games)
        config = SearchConfig(simulations=simulations, selection=selection)
        for parts in all_parts:
            for lanes in all_lanes:
                spans = time_search(evaluator, games, config, parts, lanes)
                traces[f"{name} {games} {selection} {parts} {lanes}"] = spans[:TRACED]
                torch.cuda.empty_cache()
    for games, all_lanes in SELFPLAY_WORKS:
        evaluator = new_evaluator("connect-four", games)
        for parts in (1, 2, 3):
            for lanes in all_lanes:
                time_selfplay(evaluator, games, parts, lanes)
                torch.cuda.empty_cache()
    if options.trace:
        with open(options.trace, "w") as file:
            json.dump(traces, file)


def new_evaluator(name, games):
    game = make_game(name)
    network = make_network(game, NetworkConfig(blocks=4, channels=64), 0)
    return GpuNetworkEvaluator(draw_zeros(network), game, rows=games)


@contextlib.contextmanager
def forced(module, parts, lanes):
    """Sets the number of parts and of threads per game within the context."""

    def make(evaluator, games, leaves=1, **_):
        return make_parts(evaluator, games, leaves, parts)

    with (
        mock.patch(f"{module}.make_parts", make),
        mock.patch(f"{module}.lanes_for", lambda *_, **__: lanes),
    ):
        yield


def time_search(evaluator, games, config, parts, lanes):
    game = evaluator.game
    with forced(SEARCH, parts, lanes):
        search = RepeatedSearch(game, evaluator, config, random_roots(game, games))
    search.run()
    seconds = min(gpu_seconds(search.run) for _ in range(3))
    alone = time_network(evaluator, search.observations(), 3)
    spans, rounds = trace_kernels(search.run), config.simulations + 1
    rate, share = games * config.simulations / seconds, rounds * alone / seconds
    print(
        f"{game.name} {games} {config.selection}, {parts} parts, {lanes} threads: "
        f"{rate / 1e6:.2f} M simulations/s, share {share:.3f}, runs {network_running(spans):.3f}, "
        f"round {seconds / rounds * 1e6:.0f} us, network {alone * 1e6:.0f} us",
        flush=True,
    )
    return spans


def time_selfplay(evaluator, games, parts, lanes):
    search = SearchConfig(simulations=32, selection="puct", noise_weight=0.25, proven_values=True)
    config = SelfPlayConfig(games=games, temperature=0.4)
    with forced(SELFPLAY, parts, lanes):
        worker = GpuWorker(evaluator.game, evaluator, search, config, 0)
    store = worker.make_store(64 * games)

    def play(harvests):
        for _ in range(harvests):
            worker.play(16)
            worker.harvest(store)

    play(40)
    store.taken.zero_()
    seconds = gpu_seconds(lambda: play(20))
    searches = int(store.taken[SEARCHES])
    print(
        f"self-play of {games}, {parts} parts, {lanes} threads: {searches / seconds / 1e3:.0f} k "
        f"positions/s, round {seconds / 320 * 1e6:.0f} us",
        flush=True,
    )


if __name__ == "__main__":
    main()
