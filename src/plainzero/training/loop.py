"""A run: generations of self-play and learning, each committed to the folder when it is whole."""

import dataclasses
import logging
import os
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from plainzero.devices import use
from plainzero.games.contract import Game
from plainzero.networks.architectures import make_network
from plainzero.networks.network_evaluators import make_evaluator
from plainzero.networks.weights import save_weights
from plainzero.selfplay.observations import targets_of
from plainzero.selfplay.shards import read_latest
from plainzero.training.generator import Played
from plainzero.training.metrics import MetricsLog
from plainzero.training.places import make_generator, make_learner, make_replay
from plainzero.training.replay import window_size
from plainzero.training.run_folder import RunError, RunFolder
from plainzero.training.saved_run import STRENGTH_SIMULATIONS, playing_search
from plainzero.training.settings import RunConfig
from plainzero.training.watching import Assess, AssessApart, Gate, Listener

_log = logging.getLogger("plainzero")


class Limits(NamedTuple):
    """When a run ends: at the first that is reached; 0 is none."""

    seconds: float = 0.0  # of the run's own clock, which stands still while it is stopped
    generations: int = 0


@dataclasses.dataclass
class Counters:
    """What the next generation depends on beside tensors."""

    generation: int = 0  # whole ones
    seconds: float = 0.0
    games: int = 0
    positions: int = 0
    playing_step: int = 0  # the weights that play
    metrics_size: int = 0  # bytes of metrics.jsonl that count
    assessed_at: float = 0.0  # the clock when strength was last measured


class Run:
    """A run in a folder that this process has locked.

    Args:
        folder: made, with a config.
        config: resolved.
        game: the game.
        assess: measures strength now and then; or does so apart, while the run goes on.
        gate: decides whether new weights play; used where the config says so.
        device: cpu, or a GPU on which everything is done.
        compilers: the processes that compile for a GPU meanwhile, if any.
    """

    def __init__(  # noqa: D107
        self,
        folder: RunFolder,
        config: RunConfig,
        game: Game,
        assess: Assess | AssessApart | None = None,
        gate: Gate | None = None,
        device: str = "cpu",
        compilers: Any = None,
    ) -> None:
        self.folder, self.config, self.game = folder, config, game
        self._assess, self._gate, self._compilers = assess, gate, compilers
        self.threads = config.run.threads or len(os.sched_getaffinity(0))
        network = make_network(game, config.network, config.run.seed)
        self.device = device
        self.learner: Any = make_learner(network, config.training, device, self.threads)
        self.replay: Any = make_replay(game, config.training, device)
        self.counters = Counters()
        self._random = np.random.default_rng(config.run.seed)
        self._is_stopped = False
        self._restore()
        self._player = self._load_player()
        self._generator = make_generator(
            folder, config, game, self._player, device, self.threads, compilers
        )
        self._log = MetricsLog(folder.metrics_file, folder.events, self.counters.metrics_size)

    def stop(self) -> None:
        """Ends the run as soon as what was done can be saved; from any thread."""
        self._is_stopped = True
        self._generator.stop()

    def progress(self, limits: Limits) -> float:
        """How much of the run is done, 0 to 1; 0 without limits."""
        shares = [0.0]
        if limits.seconds:
            shares.append(self.clock() / limits.seconds)
        if limits.generations:
            shares.append(self.counters.generation / limits.generations)
        return max(shares)

    def clock(self) -> float:
        """The seconds that the run has been running, or that somebody has waited for it."""
        since = time.monotonic() - self._started if self._started else 0.0
        return self.counters.seconds + since

    def go(self, limits: Limits, listener: Listener, since: float | None = None) -> None:
        """Runs generations until a limit is reached or somebody stops it.

        Its clock goes from now on, or from `since` (of `time.monotonic()`), where somebody has been
        waiting since then.
        """
        self._started = time.monotonic() if since is None else since
        use(self.device)
        try:
            if self._compilers is not None:  # which self-play waits for
                self.learner.prepare(self.game)
            while not self._is_stopped and self.progress(limits) < 1.0:
                if not self._run_generation(limits, listener):
                    break
        finally:
            self._log.close()

    def _run_generation(self, limits: Limits, listener: Listener) -> bool:
        """One generation; False where it was stopped before its games were played."""
        generation = self.counters.generation + 1
        start = time.monotonic()
        played = self._generator.play(
            generation, self.counters.playing_step, listener.on_selfplay, self._seconds_left(limits)
        )
        if played is None:
            return False
        selfplay_seconds = time.monotonic() - start
        metrics = self._learn(generation, played, limits, listener)
        seconds = time.monotonic() - start
        metrics |= played.metrics | {"selfplay_share": selfplay_seconds / max(seconds, 1e-9)}
        state = self._read_state()
        is_late = self._seconds_left(limits) < seconds
        if not is_late and not self._is_stopped:
            self._generator.begin(generation + 1, self.counters.playing_step)
        self._save_weights(state)
        metrics |= self._measure_strength(is_late, limits)
        self._commit(generation, metrics, state)
        listener.on_generation(metrics, self.progress(limits))
        return True

    def _seconds_left(self, limits: Limits) -> float:
        return limits.seconds - self.clock() if limits.seconds else float("inf")

    def _learn(
        self, generation: int, played: Played, limits: Limits, listener: Listener
    ) -> dict[str, Any]:
        """Learns from the window with the new games in it; new weights play from now on."""
        count = len(played.positions.states)
        self.replay.add(played.positions, generation)
        config = self.config.training
        steps = round(count * config.reuse / config.batch_size)
        listener.on_learning(generation, steps)
        learned = self.learner.learn(
            self.replay.plan(max(1, steps), self._random), self.progress(limits)
        )
        self.counters.games += played.games
        self.counters.positions += count
        has_new_player = self._take_weights()
        return {
            "generation": generation,
            "step": self.learner.step,
            "total_games": self.counters.games,
            "total_positions": self.counters.positions,
            **learned,
            "replay_positions": len(self.replay),
            "replay_age": self.replay.mean_age(generation),
            "replay_uses": self.replay.mean_uses(),
            **({"gate_passed": float(has_new_player)} if self.config.run.gate else {}),
        }

    def _take_weights(self) -> bool:
        """Has the new weights play unless the gate refuses them."""
        is_averaged = self.config.training.average_decay > 0
        network = self.learner.average if is_averaged else self.learner.network
        if self.config.run.gate and self._gate is not None:
            self._wait_for_search()
            engine = self._generator.engine
            new = make_evaluator(network, self.game, engine)
            old = make_evaluator(self._player, self.game, engine)
            search = playing_search(self.config.search, STRENGTH_SIMULATIONS)
            if not self._gate(new, old, search, self.learner.step):
                return False
        self._player.load_state_dict(network.state_dict())
        self._generator.use_weights(network)
        self.counters.playing_step = self.learner.step
        return True

    def _load_player(self) -> Any:
        """The network that plays; from the run's state where its file was lost."""
        player, step = make_network(self.game, self.config.network, 0), self.counters.playing_step
        try:
            self.folder.load_weights(player, step)
        except RunError as error:
            if step != self.learner.step:
                raise RunError(f"{error}; put a copy of that file back") from error
            _log.warning("%s: written again from %s", error, self.folder.state_file)
            self._save_weights(self.learner.state())
            self.folder.load_weights(player, step)
        return player

    def _save_weights(self, state: dict[str, Tensor]) -> None:
        """Saves those that play, or would if there were no gate."""
        prefix = "average." if self.config.training.average_decay > 0 else "network."
        weights = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
        save_weights(weights, self.folder.weights_file(self.learner.step), {})

    def _measure_strength(self, is_late: bool, limits: Limits) -> dict[str, float]:
        """Strength, where it is time to measure it, or too late for another generation."""
        pause, clock = self.config.run.assess_seconds, self.clock()
        if self._assess is None or not pause:
            return {}
        is_last = is_late or self._is_stopped or self.counters.generation + 1 == limits.generations
        is_due = clock - self.counters.assessed_at >= pause or not self.counters.assessed_at
        if callable(self._assess):
            if not (is_due or is_last):
                return {}
            self.counters.assessed_at = clock
            search = playing_search(self.config.search, STRENGTH_SIMULATIONS)
            return self._assess(self._generator.evaluators[0], search)
        if is_last or (is_due and not self._assess.is_busy):
            self.counters.assessed_at = clock
            self._assess.ask(self.counters.playing_step)
        return self._assess.found(waits=is_last)

    def _wait_for_search(self) -> None:
        if self._compilers is not None:
            self._compilers.wait_for_search()

    def _commit(self, generation: int, metrics: dict[str, Any], state: dict[str, Tensor]) -> None:
        """Makes the generation true: from here on a killed run goes on after it."""
        counters = self.counters
        counters.generation = generation
        counters.seconds, self._started = self.clock(), time.monotonic()
        metrics["seconds"] = counters.seconds
        self._generator.wait_until_saved()
        counters.metrics_size = self._log.write(metrics)
        self._save_state(state)
        self._generator.forget(generation - 1)
        self._prune_weights()

    def _read_state(self) -> dict[str, Tensor]:
        """The tensors that the next generation depends on.

        Taken off a device before that generation begins there, whose games they would wait for.
        """
        arrays = self.replay.saved().items()
        window = {f"replay.{name}": torch.from_numpy(array) for name, array in arrays}
        tensors: dict[str, Tensor] = self.learner.state()
        return tensors | window

    def _save_state(self, tensors: dict[str, Tensor]) -> None:
        saved = dataclasses.asdict(self.counters) | {
            "random": self._random.bit_generator.state,
            "replay_total": self.replay.total,
        }
        self.folder.write_state(tensors, saved)

    def _prune_weights(self) -> None:
        keep = self.config.run.keep_weights
        for step in self.folder.steps()[:-keep] if keep else []:
            if step != self.counters.playing_step:
                self.folder.weights_file(step).unlink(missing_ok=True)

    def _restore(self) -> None:
        """Goes on after the last whole generation, or begins."""
        self._started = 0.0
        saved = self.folder.read_state()
        if saved is None:
            self._save_weights(self.learner.state())
            return
        tensors, counters = saved
        try:
            self._random.bit_generator.state = counters.pop("random")
            total = counters.pop("replay_total")
            self.counters = Counters(**counters)
            window = {
                name.removeprefix("replay."): tensor.numpy()
                for name, tensor in tensors.items()
                if name.startswith("replay.")
            }
            self.learner.restore(tensors)
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f"{self.folder.path} cannot go on: {error}") from error
        self._refill(total)
        self.replay.restore(window)

    def _refill(self, total: int) -> None:
        """Reads as many of the latest games as the window has room for."""
        wanted = window_size(total, self.config.training)
        latest = read_latest(self.game, self.folder.games, self.counters.generation, wanted)
        added = [(targets_of(self.game, records), generation) for generation, records in latest]
        self.replay.total = total - sum(len(positions.states) for positions, _ in added)
        for positions, generation in added:
            self.replay.add(positions, generation)
