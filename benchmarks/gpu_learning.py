"""Learning steps per second on one device: Connect Four, 4x64, with and without graph capture.

    python benchmarks/gpu_learning.py [--positions 2000000] [--batch 8192] [--device cuda]

Positions are random boards, so only speed is meaningful. `first` is the duration of the first step
in seconds, including compiling, tuning and capture. The last lines compare a step on the device
with one on the CPU in float32, from the same weights on the same batch.
"""

import argparse
import dataclasses
import time

import numpy as np
import torch

from plainzero import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.selfplay.observations import Positions
from plainzero.training.choose_device import make_replay
from plainzero.training.gpu.learner import GpuLearner
from plainzero.training.interfaces import Replay
from plainzero.training.learner import CpuLearner
from plainzero.training.settings import TrainingConfig

GAME = make_game("connect-four")
NETWORK = NetworkConfig(blocks=4, channels=64)
SECONDS = 2.0  # per measurement
COMPARED = 512  # positions in the batch computed on both devices


def main() -> None:
    has_cuda = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if has_cuda else "cpu")
    parser.add_argument("--positions", type=int, default=2_000_000)
    parser.add_argument("--batch", type=int, default=8192 if has_cuda else 256)
    options = parser.parse_args()
    name = torch.cuda.get_device_name() if options.device != "cpu" else "CPU"
    print(f"{name}, PyTorch {torch.__version__}, batches of {options.batch}")
    start = time.perf_counter()
    positions = random_positions(options.positions)
    made = time.perf_counter()
    config = config_of(batch_size=options.batch, precision="auto")
    replay = filled(config, positions, options.device)
    wait(options.device)
    print(
        f"{len(replay):,} positions generated in {made - start:.1f} s, "
        f"stored in the replay buffer in {time.perf_counter() - made:.2f} s"
    )
    print_speeds(config, replay, options.device)
    print_differences(options.device)


def config_of(**options) -> TrainingConfig:
    return TrainingConfig(**{"window_start": 10**9, "max_uses": 10**6, "warmup_steps": 0} | options)


def random_positions(count: int) -> Positions:
    """Stones of random colours in columns of random heights; random targets."""
    generator = np.random.default_rng(0)
    states = np.zeros(count, GAME.dtype)
    for col in range(GAME.cols):
        heights = generator.integers(0, GAME.rows + 1, count)
        colours = generator.integers(0, 1 << GAME.rows, count)
        for row in range(GAME.rows):
            bit = np.uint64(1 << (col * (GAME.rows + 1) + row))
            owner = (colours >> row) & 1
            for player in range(2):
                states["stones"][(row < heights) & (owner == player), player] |= bit
        states["turn"] += heights
    states["to_play"] = states["turn"] % 2
    policies = generator.exponential(1.0, (count, GAME.num_actions)).astype(np.float32)
    z = generator.uniform(-1, 1, (count, 1)).astype(np.float32)
    values = np.concatenate([z, -z], 1)
    policies /= policies.sum(1, keepdims=True)
    return Positions(states, {"policies": policies, "outcomes": values, "values": values})


def filled(config: TrainingConfig, positions: Positions, device: str) -> Replay:
    replay = make_replay(GAME, config, device)
    replay.add(positions, 1)
    return replay


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def new_network():
    return draw_zeros(make_network(GAME, NETWORK, seed=0))


def print_speeds(config: TrainingConfig, replay: Replay, device: str) -> None:
    ways = [("eager", False, False)]
    if device != "cpu":
        ways = [("captured", True, False), ("captured, tuned", True, True), *ways]
    print(f"{'steps':<16} {'first':>8} {'steps/s':>9} {'positions/s':>12} {'loss':>7}")
    taken = 0
    for name, is_captured, is_tuned in ways:
        torch.backends.cudnn.benchmark = is_tuned
        learner = GpuLearner(new_network(), config, device, is_captured)
        first, rate, found = measure(learner, replay, device)
        positions, taken = rate * config.batch_size, taken + learner.step
        print(f"{name:<16} {first:7.2f}s {rate:9.1f} {positions:12,.0f} {found['loss']:7.4f}")
    torch.backends.cudnn.benchmark = False
    used = round(replay.mean_uses() * len(replay))
    verdict = "correct" if used == taken * config.batch_size else "WRONG"
    print(f"positions used {used:,} times in {taken:,} steps: {verdict}")


def measure(learner: GpuLearner, replay: Replay, device: str):
    """Seconds of the first step, steps per second afterwards, and the metrics of the last steps."""
    generator = np.random.default_rng(1)

    def learn(steps: int):
        start = time.perf_counter()
        replay.plan_steps(steps, generator)
        found = learner.learn(replay, 0.0)
        wait(device)
        return time.perf_counter() - start, found

    first, _ = learn(1)
    learn(1)
    seconds, _ = learn(3)
    steps = int(max(3, min(SECONDS / seconds * 3, 3000)))
    learn(steps)  # the buffer of planned steps now has its final length, with which it is captured
    seconds, found = learn(steps)
    return first, steps / seconds, found


def print_differences(device: str) -> None:
    """Prints how far weights on the device differ from those on the CPU in float32."""
    positions = random_positions(COMPARED)
    for options in (
        {"optimizer": "sgd", "precision": "float32"},
        {"optimizer": "sgd", "precision": "float32", "priority": 0.5},
        {"optimizer": "adamw", "precision": "float32"},
        {"optimizer": "sgd", "precision": "bfloat16"},
    ):
        rate = 0.1 if options["optimizer"] == "sgd" else 2e-3
        config = config_of(batch_size=COMPARED, augment=False, learning_rate=rate, **options)
        learner, ring = (
            GpuLearner(new_network(), config, device),
            filled(config, positions, device),
        )
        exact = dataclasses.replace(config, precision="float32")
        host, replay = CpuLearner(new_network(), exact, 2), filled(exact, positions, "cpu")
        gaps = []
        for steps in (1, 4):
            for one, source in ((host, replay), (learner, ring)):
                source.plan_steps(steps, np.random.default_rng(0))
                one.learn(source, 0.0)
            gaps.append(distance(learner.network, host.network))
        averaged = distance(learner.average, host.average)
        print(
            f"{', '.join(map(str, options.values()))}: weights differ by at most {gaps[0]:.1e} "
            f"after 1 step, {gaps[1]:.1e} after 5 (averaged {averaged:.1e})"
        )


def distance(one, other) -> float:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return max(float((a.detach().cpu() - b.detach()).abs().max()) for a, b in pairs)


if __name__ == "__main__":
    main()
