"""A run on disk: what is where, the lock, and the order in which things become true.

    config.toml              every setting, resolved; versions and digests
    weights/00001200.safetensors     the weights that play, by step
    games/000012.DIGEST.parquet      the games of a generation
    games/ongoing.000012.safetensors the games in progress after it
    games/unsaved.journal    games that finished since
    state.safetensors        optimiser, averages, replay counts, random numbers, counters
    metrics.jsonl            a line per generation;  events/: the same for TensorBoard
    train.log                what a training process printed that the page's server started

`state.safetensors` is the commit: it names the last whole generation, and whatever was written for
a later one is written again. Each file appears whole or not at all.
"""

import dataclasses
import fcntl
import json
import os
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from plainzero.atomic_files import remove_partial_files, write_whole
from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.networks.weights import WeightsError, load_weights, put_weights, save_weights
from plainzero.search.config import SearchConfig
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.shards import list_shards
from plainzero.training.settings import RunConfig, RunOptions, TrainingConfig

_SECTIONS: dict[str, type] = {
    "network": NetworkConfig,
    "search": SearchConfig,
    "selfplay": SelfPlayConfig,
    "training": TrainingConfig,
    "run": RunOptions,
}
_LOCK_TRIES = 10
_LOCK_PAUSE = 0.02  # seconds; `is_locked` of another process lets go much sooner


class RunError(ValueError):
    """A run folder that cannot be used, and why."""


class RunFolder:
    """The paths of a run, and what is read from and written to them."""

    def __init__(self, path: str | Path) -> None:
        """Names the folder; nothing is read or made yet."""
        self.path = Path(path)
        self.config_file = self.path / "config.toml"
        self.state_file = self.path / "state.safetensors"
        self.metrics_file = self.path / "metrics.jsonl"
        self.weights = self.path / "weights"
        self.games = self.path / "games"
        self.events = self.path / "events"
        self.journal = self.games / "unsaved.journal"
        self.log_file = self.path / "train.log"
        self._lock_file = self.path / ".lock"

    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return self.config_file.is_file()

    def make(self) -> None:
        """Makes the folder and those in it.

        Raises:
            RunError: when that cannot be done.
        """
        try:
            for folder in (self.path, self.weights, self.games):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{self.path} cannot be written: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps every other process from this folder while the block runs.

        What a killed process left half written is removed first.

        Raises:
            RunError: when another one has it.
        """
        try:
            file = open(self._lock_file, "a+")
        except OSError as error:
            raise RunError(f"{self.path} cannot be written: {error.strerror}") from error
        with file:
            if not _take_lock(file.fileno()):
                file.seek(0)
                owner = file.read().strip() or "another process"
                raise RunError(
                    f"{self.path} is in use by {owner}; stop that one, or give another --run folder"
                )
            file.truncate(0)
            file.write(f"process {os.getpid()}")
            file.flush()
            for folder in (self.path, self.weights, self.games):
                remove_partial_files(folder)
            yield

    def is_locked(self) -> bool:
        """Whether a process has this folder to itself; asking changes nothing."""
        try:
            file = open(self._lock_file, "rb")
        except OSError:
            return False
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
            fcntl.flock(file, fcntl.LOCK_UN)
            return False

    def last_process(self) -> int | None:
        """The number of the process that had the folder last, or has it."""
        try:
            text = self._lock_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        number = text.removeprefix("process ").strip()
        return int(number) if number.isdecimal() else None

    def holder(self) -> int | None:
        """The process that has the folder; None where none has, or none of this machine's."""
        number = self.last_process() if self.is_locked() else None
        if number is None:
            return None
        try:
            lock, opened = os.stat(self._lock_file), os.listdir(f"/proc/{number}/fd")
        except OSError:  # gone meanwhile, of another machine, or another user's
            return None
        has_it = any(_is_same(f"/proc/{number}/fd/{name}", lock) for name in opened)
        return number if has_it else None

    def weights_file(self, step: int) -> Path:
        """Where the weights of a step are."""
        return self.weights / f"{step:08d}.safetensors"

    def steps(self) -> list[int]:
        """The steps whose weights are there, in order."""
        return sorted(
            int(path.stem) for path in self.weights.glob("*.safetensors") if path.stem.isdigit()
        )

    def ongoing_file(self, generation: int) -> Path:
        """Where the games are that were in progress after a generation's self-play."""
        return self.games / f"ongoing.{generation:06d}.safetensors"

    def write_config(self, config: RunConfig, game: Game, game_name: str) -> None:
        """Writes every setting, and what they were used with."""
        lines = ["# Every setting of this run; docs/training.md says what they mean.", ""]
        lines += ["[about]", *_toml_lines(_about(game, game_name)), ""]
        for name in _SECTIONS:
            section = dataclasses.asdict(getattr(config, name))
            lines += [f"[{name}]", *_toml_lines(section), ""]
        write_whole(self.config_file, "\n".join(lines).encode())

    def read_config(self) -> tuple[RunConfig, dict[str, Any]]:
        """The settings, and what they were used with.

        Raises:
            RunError: when there is none, or it cannot be read.
        """
        if not self.exists():
            raise RunError(f"{self.path} holds no run: there is no config.toml in it")
        try:
            tables = tomllib.loads(self.config_file.read_text(encoding="utf-8"))
            about = tables.pop("about")
            sections = {name: kind(**tables.pop(name)) for name, kind in _SECTIONS.items()}
            for name in tables:
                raise ValueError(f"has a section {name!r} that there is not")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise RunError(f"{self.config_file} cannot be read: {error}") from error
        except KeyError as error:
            raise RunError(f"{self.config_file} has no section {error}") from error
        except (TypeError, ValueError) as error:
            raise RunError(f"{self.config_file}: {error}") from error
        return RunConfig(**sections), about

    def read_game(self) -> Game:
        """The game that the run is about.

        Raises:
            RunError: when it cannot be made any more.
        """
        _, about = self.read_config()
        try:
            return make_game(about["game"])
        except (KeyError, ValueError, TypeError, OSError) as error:
            raise RunError(
                f"the game of {self.path} cannot be made: {error}; where its file was moved, "
                f"say so in {self.config_file}, under [about]"
            ) from error

    def load_weights(self, network: nn.Module, step: int) -> None:
        """Puts the weights of a step into a network.

        Raises:
            RunError: when they are missing, damaged, or of another network than the config's.
        """
        path = self.weights_file(step)
        try:
            put_weights(network, load_weights(path)[0], path)
        except WeightsError as error:
            raise RunError(str(error)) from error

    def read_state(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The tensors and counters of the last whole generation; None before the first.

        Raises:
            RunError: when the file is damaged, or was there and is not any more.
        """
        if not self.state_file.exists():
            self._check_is_new()
            return None
        try:
            tensors, metadata = load_weights(self.state_file)
            return tensors, json.loads(metadata.get("counters", "{}"))
        except ValueError as error:
            raise RunError(
                f"{error}; put a copy of that file back, or begin a new run in another --run folder"
            ) from error

    def playing_step(self) -> int:
        """The step whose weights played when the last generation was whole."""
        state = self.read_state()
        return int(state[1]["playing_step"]) if state is not None else 0

    def write_state(self, tensors: dict[str, Tensor], counters: dict[str, Any]) -> None:
        """Commits a generation."""
        save_weights(tensors, self.state_file, {"counters": json.dumps(counters)})

    def _check_is_new(self) -> None:
        """Refuses to begin again where a second generation began: that needed a state."""
        generations = [shard.generation for shard in list_shards(self.games)]
        if max(generations, default=0) > 1:
            raise RunError(
                f"{self.state_file} is missing, though the run had {max(generations)} generations; "
                "put a copy of that file back, or begin a new run in another --run folder"
            )


def _take_lock(descriptor: int) -> bool:
    """Whether the lock was to be had, if not at once then after a moment."""
    for attempt in range(_LOCK_TRIES):
        if attempt:
            time.sleep(_LOCK_PAUSE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        return True
    return False


def _is_same(path: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), file)
    except OSError:  # closed meanwhile
        return False


def _toml_lines(table: dict[str, Any]) -> list[str]:
    """Numbers, truth values and texts are written in TOML as in JSON."""
    return [f"{name} = {json.dumps(value)}" for name, value in table.items()]


def _about(game: Game, game_name: str) -> dict[str, Any]:
    import numba
    import numpy

    from plainzero import __version__

    return {
        "game": game_name,
        "source_digest": game.source_digest,
        "plainzero": __version__,
        "torch": str(torch.__version__),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
    }
