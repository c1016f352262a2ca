"""A run: generations of self-play and learning, each committed to the folder once complete."""

import dataclasses
import logging
import time
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from plainzero.devices import use_device
from plainzero.games.contract import Game
from plainzero.networks.architectures import make_network
from plainzero.networks.network_evaluators import make_evaluator
from plainzero.networks.weights import save_weights
from plainzero.operating_system import available_cores
from plainzero.selfplay.observations import targets_of
from plainzero.selfplay.shards import read_latest
from plainzero.training.choose_device import make_generator, make_learner, make_replay
from plainzero.training.interfaces import Assessor, Compilers, Gate, Listener, Played
from plainzero.training.metrics import MetricsLog
from plainzero.training.reanalysis import Reanalyser
from plainzero.training.replay import window_size
from plainzero.training.run_folder import RunError, RunFolder
from plainzero.training.saved_run import STRENGTH_SIMULATIONS, playing_search, start_from
from plainzero.training.settings import RunConfig, choice_of

_log = logging.getLogger("plainzero")


class Limits(NamedTuple):
    """A run ends at the first of these limits; 0 means no limit."""

    seconds: float = 0.0  # of running time, without the time while it was stopped
    generations: int = 0

    def progress(self, seconds: float, generations: int) -> float:
        """The share of a run that is done at this point; 0 without limits."""
        by_clock = seconds / self.seconds if self.seconds else 0.0
        by_count = generations / self.generations if self.generations else 0.0
        return max(by_clock, by_count)


@dataclasses.dataclass
class Counters:
    """The state that the next generation depends on, except for tensors."""

    generation: int = 0  # complete ones
    seconds: float = 0.0
    games: int = 0
    positions: int = 0
    playing_step: int = 0  # of the weights that play
    metrics_size: int = 0  # bytes of metrics.jsonl that are committed
    assessed_at: float = 0.0  # the clock when strength was last measured


class Run:
    """A run in a folder that this process has locked.

    Args:
        folder: made, with a config.
        config: resolved.
        game: the game.
        assessor: measures strength from time to time; None for not at all.
        gate: decides whether new weights play; used if the config says so.
        device: cpu or a GPU, for self-play and learning.
        compilers: processes that compile for a GPU concurrently, if any.
    """

    def __init__(  # noqa: D107
        self,
        folder: RunFolder,
        config: RunConfig,
        game: Game,
        assessor: Assessor | None = None,
        gate: Gate | None = None,
        device: str = "cpu",
        compilers: Compilers | None = None,
    ) -> None:
        self.folder, self.config, self.game = folder, config, game
        self._assessor, self._gate, self._compilers = assessor, gate, compilers
        self.threads = config.run.threads or available_cores()
        network = make_network(game, config.network, config.run.seed)
        if config.run.init and not folder.state_file.exists():
            start_from(network, config.run.init)
        self.device = device
        self.learner = make_learner(game, network, config, device, self.threads)
        self.replay = make_replay(game, config.training, device)
        self.counters = Counters()
        self._random = np.random.default_rng(config.run.seed)
        self._is_stopped = False
        self._started = 0.0  # see clock
        self._is_prepared = False
        self._reanalyser = Reanalyser(game, config, self.threads)
        self._restore()
        self._player = self._load_player()
        self._generator = make_generator(
            folder, config, game, self._player, device, self.threads, compilers
        )
        self._log = MetricsLog(folder.metrics_file, folder.events, self.counters.metrics_size)

    def stop(self) -> None:
        """Stops the run as soon as its progress can be saved; from any thread."""
        self._is_stopped = True
        self._generator.stop()

    def progress(self, limits: Limits) -> float:
        """The share of the run that is done; 1 or more ends it."""
        return limits.progress(self.clock(), self.counters.generation)

    def clock(self) -> float:
        """The running time in seconds, with the time that somebody has waited for it to start."""
        since = time.monotonic() - self._started if self._started else 0.0
        return self.counters.seconds + since

    def is_over(self, limits: Limits) -> bool:
        """Whether a limit is reached; no limit of time ends a run before its first generation."""
        return self.progress(limits) >= 1.0 and self.counters.generation > 0

    def prepare(self) -> None:
        """Compiles and loads what the first generation needs; `go` does it unless it was done."""
        if not self._is_prepared:
            use_device(self.device)
            self.learner.prepare(self.game)
            self._generator.prepare()
            self._is_prepared = True

    def go(self, limits: Limits, listener: Listener, since: float | None = None) -> None:
        """Runs generations until a limit is reached or it is stopped.

        Its clock starts once it is prepared, or at `since` (of `time.monotonic()`), when somebody
        began to wait.
        """
        self.prepare()
        use_device(self.device)
        self._started = time.monotonic() if since is None else since
        try:
            while not self._is_stopped and not self.is_over(limits):
                if not self._run_generation(limits, listener):
                    break
        finally:
            self._log.close()

    def _run_generation(self, limits: Limits, listener: Listener) -> bool:
        """Runs one generation; returns False if it was stopped before its games were played."""
        generation = self.counters.generation + 1
        start = time.monotonic()
        patience = self._seconds_left(limits) if self.counters.generation else float("inf")
        played = self._generator.play(
            generation, self.counters.playing_step, listener.on_selfplay, patience
        )
        if played is None:
            return False
        selfplay_seconds = time.monotonic() - start
        metrics = self._learn(generation, played, limits, listener)
        seconds = time.monotonic() - start
        metrics |= played.metrics | {"selfplay_share": selfplay_seconds / max(seconds, 1e-9)}
        state = self._read_state()
        is_late = self._seconds_left(limits) < seconds  # too late for another one
        is_last = is_late or self._is_stopped or generation == limits.generations
        if not is_last:
            self._generator.begin(generation + 1, self.counters.playing_step)
        self._save_weights(state)
        metrics |= self._measure_strength(is_last)
        self._commit(generation, metrics, state)
        listener.on_generation(metrics, self.progress(limits))
        return True

    def _seconds_left(self, limits: Limits) -> float:
        return limits.seconds - self.clock() if limits.seconds else float("inf")

    def _learn(
        self, generation: int, played: Played, limits: Limits, listener: Listener
    ) -> dict[str, Any]:
        """Learns from the replay with the new games; the new weights play from now on."""
        count = len(played.positions.states)
        self.replay.add(played.positions, generation)
        config = self.config.training
        steps = round(count * config.reuse / config.batch_size)
        listener.on_learning(generation, steps)
        # As of the generation's start: by the clock, the first generation may end with the run, and
        # would be learned at the last and lowest rate.
        progress = limits.progress(self.counters.seconds, self.counters.generation)
        renewed = {}
        if config.reanalyse:
            wanted = round(count * config.reanalyse)
            found = self._reanalyser.renew(self.replay, self._player, wanted, self._random)
            renewed = {"reanalysed_positions": found}
        self.replay.plan_steps(max(1, steps), self._random)
        learned = self.learner.learn(self.replay, progress)
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
            **renewed,
            **({"gate_passed": float(has_new_player)} if self.config.run.gate else {}),
        }

    def _take_weights(self) -> bool:
        """Uses the new weights for self-play unless the gate refuses them."""
        is_averaged = self.config.training.average_decay > 0
        network = self.learner.average if is_averaged else self.learner.network
        if self.config.run.gate and self._gate is not None:
            self._wait_for_search()
            backend = self.config.run.backend
            new = make_evaluator(network, self.game, backend)
            old = make_evaluator(self._player, self.game, backend)
            search = playing_search(self.game, self.config.search, STRENGTH_SIMULATIONS)
            if not self._gate(new, old, search, self.learner.step):
                return False
        self._player.load_state_dict(network.state_dict())
        self._generator.use_weights(network)
        self.counters.playing_step = self.learner.step
        return True

    def _load_player(self) -> nn.Module:
        """The network that plays; from the run's state if its file was lost."""
        player, step = make_network(self.game, self.config.network, 0), self.counters.playing_step
        try:
            self.folder.load_weights(player, step)
        except RunError as error:
            if step != self.learner.step:
                raise RunError(f"{error}; restore a copy of that file") from error
            _log.warning("%s: restored from %s", error, self.folder.state_file)
            self._save_weights(self.learner.state())
            self.folder.load_weights(player, step)
        return player

    def _save_weights(self, state: dict[str, Tensor]) -> None:
        """Saves the weights that play, or would play without a gate."""
        prefix = "average." if self.config.training.average_decay > 0 else "network."
        weights = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
        save_weights(weights, self.folder.weights_file(self.learner.step), {})

    def _measure_strength(self, is_last: bool) -> dict[str, float]:
        """The strength found since the last generation; asks for it when due, and at the end."""
        assessor, pause, clock = self._assessor, self.config.run.assess_seconds, self.clock()
        if assessor is None or not pause:
            return {}
        is_due = clock - self.counters.assessed_at >= pause or not self.counters.assessed_at
        if is_last or (is_due and not assessor.is_busy):
            self.counters.assessed_at = clock
            assessor.ask(self.counters.playing_step)
        return assessor.found(waits=is_last)

    def _wait_for_search(self) -> None:
        if self._compilers is not None:
            self._compilers.wait_for_search()

    def _commit(self, generation: int, metrics: dict[str, Any], state: dict[str, Tensor]) -> None:
        """Commits the generation: a run killed from now on resumes after it."""
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

        Copied from a GPU before that generation starts there: the copies would wait for its games.
        """
        arrays = self.replay.saved().items()
        window = {f"replay.{name}": torch.from_numpy(array) for name, array in arrays}
        return self.learner.state() | window

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
        """Resumes after the last complete generation, or starts a new run."""
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
            raise RunError(f"{self.folder.path} cannot be resumed: {error}") from error
        self._refill(total)
        self.replay.restore(window)

    def _refill(self, total: int) -> None:
        """Reads the latest games that fit into the replay's window."""
        config = self.config.training
        wanted, choice = window_size(total, config), choice_of(config)
        latest = read_latest(self.game, self.folder.games, self.counters.generation, wanted)
        added = [
            (targets_of(self.game, records, choice), generation) for generation, records in latest
        ]
        self.replay.total = total - sum(len(positions.states) for positions, _ in added)
        for positions, generation in added:
            self.replay.add(positions, generation)
