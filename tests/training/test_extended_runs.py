"""A run that is resumed with a later end: its rate rises again, and rises slowly."""

import types

import numpy as np
import pytest
from tiny_runs import SETTINGS

from plainzero import make_game
from plainzero.networks.architectures import make_network
from plainzero.networks.config import NetworkConfig
from plainzero.selfplay.observations import Positions
from plainzero.training import loop
from plainzero.training.gpu.learner import GpuLearner
from plainzero.training.learner import CpuLearner
from plainzero.training.metrics import read_metrics
from plainzero.training.replay import ReplayWindow
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import TrainingConfig, change, default_config, resolve_run

GAME = make_game("tic-tac-toe")
FAST = TrainingConfig(batch_size=32, precision="float32", learning_rate=0.04, warmup_steps=50)
"""So fast that a rate which jumps makes the loss explode within a few steps."""


def easy_positions(count):
    """Positions of random play, in which the first legal action is right."""
    generator, state = np.random.default_rng(0), GAME.new_state()
    states, policies = np.zeros(count, GAME.dtype), np.zeros((count, 9), np.float32)
    for row in range(count):
        if state.is_over:
            state = GAME.new_state()
        states[row] = state
        policies[row, GAME.legal(state)[0]] = 1.0
        GAME.apply(state, int(generator.choice(GAME.legal(state))))
    outcomes, values = generator.uniform(-1, 1, (2, count, 2)).astype(np.float32)
    targets = {"policies": policies, "outcomes": outcomes, "values": values}
    return Positions(states, targets)


def make_learner(kind):
    network = make_network(GAME, NetworkConfig(blocks=8, channels=32), 1)
    return kind(network, FAST, 1 if kind is CpuLearner else "cpu")


@pytest.mark.parametrize("kind", [CpuLearner, GpuLearner])
def test_a_rate_that_rises_again_does_not_make_the_loss_explode(kind):
    replay = ReplayWindow(GAME, FAST)
    replay.add(easy_positions(400), 1)
    random = np.random.default_rng(0)
    learner, resumed = make_learner(kind), make_learner(kind)
    replay.plan_steps(50, random)
    before = learner.learn(replay, 1.0)
    assert before["learning_rate"] == pytest.approx(0.02 * 0.04)
    resumed.restore({name: tensor.clone() for name, tensor in learner.state().items()})
    replay.plan_steps(15, random)
    after = resumed.learn(replay, 0.0)
    assert after["learning_rate"] == pytest.approx((0.02 + 15 / 50) * 0.04)
    assert after["loss"] < 1.5 * before["loss"]
    assert after["gradient_norm"] < 5 * before["gradient_norm"]


class Clock:
    """Stands still until the run learns, and then is at the time that it was given."""

    def __init__(self, monkeypatch):
        self.now, self.when_learning = 1.0, 0.0
        monkeypatch.setattr(loop, "time", types.SimpleNamespace(monotonic=lambda: self.now))

    def on_selfplay(self, *_):
        pass

    def on_learning(self, *_):
        self.now = self.when_learning

    def on_generation(self, *_):
        pass


def test_the_only_generation_of_a_run_is_learned_at_the_full_rate(tmp_path, monkeypatch):
    folder, clock = RunFolder(tmp_path / "run"), Clock(monkeypatch)
    folder.make()
    settings = SETTINGS | {"run.threads": 1, "training.warmup_steps": 4, "training.reuse": 4.0}
    changes = [f"{name}={value}" for name, value in settings.items()]
    config = resolve_run(change(default_config(GAME), changes), GAME)
    folder.write_config(config, GAME, "tic-tac-toe")
    for minutes in (3, 8):  # the clock is at the end when each generation is learned
        clock.when_learning = clock.now + minutes * 60
        loop.Run(folder, config, GAME).go(loop.Limits(seconds=minutes * 60), clock)
    rates = [line["learning_rate"] for line in read_metrics(folder.metrics_file)]
    assert rates == pytest.approx([0.002, 0.002 * (0.02 + 0.98 * (1 + np.cos(np.pi * 3 / 8)) / 2)])
