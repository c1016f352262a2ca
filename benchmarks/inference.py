"""Positions per second of each backend, by network size, batch size and number of callers.

    python benchmarks/inference.py [--game connect-four] [--repeats 8] [--cpu] [--json]

Each call uses one thread; with two callers, two Python threads each call their own evaluator, as in
self-play. The backends take turns and the best repeat counts, because other programs slow some
repeats down. On a machine that is always busy, `--cpu` measures processor time, not wall time.
"""

import argparse
import json
import threading
import time

import numpy as np
import torch

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import available_backends, make_evaluator

SIZES = ((4, 64), (3, 32), (6, 128))
BATCHES = (1, 64, 256)  # 1: a single search
SECONDS = 0.2  # per measurement


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect-four")
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    game, found = make_game(options.game), []
    for blocks, channels in SIZES:
        network = make_network(game, NetworkConfig(blocks=blocks, channels=channels), seed=0)
        backends = available_backends(network)
        pairs = {name: [make_evaluator(network, game, name) for _ in range(2)] for name in backends}
        for batch_size in BATCHES:
            row = {"network": f"{blocks}x{channels}", "batch": batch_size}
            found.append(row | measure(pairs, game, batch_size, options))
            if not options.json:
                print_row(found, backends)
    if options.json:
        print(json.dumps({"threads": torch.get_num_threads(), "evaluations_per_second": found}))


def measure(pairs: dict, game, batch_size: int, options) -> dict[str, dict[str, float]]:
    planes = np.random.default_rng(0).integers(0, 2, (batch_size, *game.observation_shape))
    planes = planes.astype(np.float32)
    best = {name: {"one": 0.0, "two": 0.0} for name in pairs}
    for _ in range(options.repeats):
        for name, pair in pairs.items():
            for callers, evaluators in (("one", pair[:1]), ("two", pair)):
                found = speed(evaluators, planes, options.cpu)
                best[name][callers] = max(best[name][callers], found)
    return best


def speed(evaluators: list, planes: np.ndarray, is_cpu_time: bool) -> float:
    """Evaluations per second of evaluators that are called concurrently."""
    clock = time.process_time if is_cpu_time else time.perf_counter
    calls = [0] * len(evaluators)

    def work(index: int) -> None:
        evaluators[index](planes)
        barrier.wait()
        end = time.perf_counter() + SECONDS
        while time.perf_counter() < end:
            evaluators[index](planes)
            calls[index] += 1

    barrier = threading.Barrier(len(evaluators) + 1)
    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(evaluators))]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = clock()
    for thread in threads:
        thread.join()
    seconds = (clock() - start) / (len(evaluators) if is_cpu_time else 1)
    return sum(calls) * len(planes) / seconds


def print_row(found: list[dict], backends: list[str]) -> None:
    row = found[-1]
    if len(found) == 1:
        print("evaluations/s" + " " * 5 + "".join(f"{name + ' 1 / 2':>20}" for name in backends))
    speeds = "".join(f"{row[name]['one']:>11,.0f} /{row[name]['two']:>7,.0f}" for name in backends)
    print(f"{row['network']:<8} batch {row['batch']:<3}{speeds}", flush=True)


if __name__ == "__main__":
    main()
