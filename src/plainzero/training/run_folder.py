"""A run on disk: its files, its lock, and how a generation is committed.

    config.toml              every setting, resolved; versions and digests
    weights/00001200.safetensors     the weights that play, by step
    games/000012.DIGEST.parquet      the games of a generation
    games/ongoing.000012.safetensors the games in progress after it
    games/unsaved.journal    games that have finished since
    state.safetensors        optimiser, averages, replay counts, random numbers, counters
    metrics.jsonl            one line per generation;  events/: the same for TensorBoard
    train.log                output of a training process that the page's server started

`state.safetensors` is the commit: it names the last complete generation, and anything written for a
later one is written again. Each file is either complete or absent.
"""

import dataclasses
import json
import os
import platform
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomli_w
import torch
from torch import Tensor, nn

from plainzero.atomic_files import remove_partial_files, write_whole
from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.networks.config import SAVED_BEFORE, NetworkConfig
from plainzero.networks.weights import WeightsError, load_weights, put_weights, save_weights
from plainzero.operating_system import lock_file, may_have_open, unlock_file
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
_CONFIG_COMMENT = "# Every setting of this run. docs/training.md explains them.\n\n"
_LOCK_TRIES = 10
_LOCK_PAUSE = 0.02  # seconds; `is_locked` of another process holds the lock for less


class RunError(ValueError):
    """Says why a run folder cannot be used."""


class RunFolder:
    """Reads and writes the files of a run."""

    def __init__(self, path: str | Path) -> None:
        """Reads and creates nothing yet."""
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
        """Creates the folder and its subfolders.

        Raises:
            RunError: if that fails.
        """
        try:
            for folder in (self.path, self.weights, self.games):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot write {self.path}: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the folder against other processes while the block runs.

        Files that a killed process left incomplete are removed first.

        Raises:
            RunError: if another process has locked it.
        """
        try:
            file = open(self._lock_file, "a+")
        except OSError as error:
            raise RunError(f"cannot write {self.path}: {error.strerror}") from error
        with file:
            if not _take_lock(file.fileno()):
                file.seek(0)
                owner = file.read().strip() or "another process"
                raise RunError(
                    f"{self.path} is in use by {owner}; stop it, or use another --run folder"
                )
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}")
            file.flush()
            for folder in (self.path, self.weights, self.games):
                remove_partial_files(folder)
            yield

    def is_locked(self) -> bool:
        """Whether a process has locked the folder; asking changes nothing."""
        try:
            file = open(self._lock_file, "rb")
        except OSError:
            return False
        with file:
            if not lock_file(file.fileno(), is_shared=True):
                return True
            unlock_file(file.fileno())
            return False

    def last_process(self) -> int | None:
        """The id of the process that locked the folder last."""
        try:
            text = self._lock_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        number = text.removeprefix("process ").partition(" ")[0]
        return int(number) if number.isdecimal() else None

    def holder(self) -> int | None:
        """The id of the process that has locked the folder; None if it is not on this machine."""
        number = self.last_process() if self.is_locked() else None
        if number is None or not self._is_of_this_machine():
            return None
        return number if may_have_open(number, self._lock_file) else None

    def _is_of_this_machine(self) -> bool:
        return self._lock_file.read_text(encoding="utf-8").endswith(f" on {platform.node()}")

    def weights_file(self, step: int) -> Path:
        """The path of the weights of a step."""
        return self.weights / f"{step:08d}.safetensors"

    def steps(self) -> list[int]:
        """The steps whose weights are saved, in order."""
        return sorted(
            int(path.stem) for path in self.weights.glob("*.safetensors") if path.stem.isdigit()
        )

    def ongoing_file(self, generation: int) -> Path:
        """The path of the games in progress after a generation's self-play."""
        return self.games / f"ongoing.{generation:06d}.safetensors"

    def write_config(self, config: RunConfig, game: Game, game_name: str) -> None:
        """Writes every setting, the game, and the versions in use."""
        sections = {name: dataclasses.asdict(getattr(config, name)) for name in _SECTIONS}
        text = tomli_w.dumps({"about": _about(game, game_name), **sections})
        write_whole(self.config_file, (_CONFIG_COMMENT + text).encode())

    def read_config(self) -> tuple[RunConfig, dict[str, Any]]:
        """The settings, and the table `about`: the game and the versions.

        Raises:
            RunError: if there is no config.toml, or it cannot be read.
        """
        if not self.exists():
            raise RunError(f"{self.path} is not a run: its config.toml is missing")
        try:
            tables = tomllib.loads(self.config_file.read_text(encoding="utf-8"))
            about = tables.pop("about")
            _fill_in_old_options(tables)
            sections = {name: kind(**tables.pop(name)) for name, kind in _SECTIONS.items()}
            for name in tables:
                raise ValueError(f"unknown section {name!r}")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise RunError(f"{self.config_file} cannot be read: {error}") from error
        except KeyError as error:
            raise RunError(f"{self.config_file} has no section {error}") from error
        except (TypeError, ValueError) as error:
            raise RunError(f"{self.config_file}: {error}") from error
        return RunConfig(**sections), about

    def read_game(self) -> Game:
        """The run's game.

        Raises:
            RunError: if it cannot be loaded.
        """
        _, about = self.read_config()
        try:
            return make_game(about["game"])
        except (KeyError, ValueError, TypeError, OSError) as error:
            raise RunError(
                f"cannot load the game of {self.path}: {error}; if its file was moved, change "
                f"the path in {self.config_file}, under [about]"
            ) from error

    def load_weights(self, network: nn.Module, step: int) -> None:
        """Loads the weights of a step into a network.

        Raises:
            RunError: if they are missing, damaged, or of another network.
        """
        path = self.weights_file(step)
        try:
            put_weights(network, load_weights(path)[0], path)
        except WeightsError as error:
            raise RunError(str(error)) from error

    def read_state(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The tensors and counters of the last complete generation; None before the first.

        Raises:
            RunError: if the file is damaged, or was deleted.
        """
        if not self.state_file.exists():
            self._check_is_new()
            return None
        try:
            tensors, metadata = load_weights(self.state_file)
            return tensors, json.loads(metadata.get("counters", "{}"))
        except ValueError as error:
            raise RunError(
                f"{error}; restore a copy of that file, or start a new run in another --run folder"
            ) from error

    def playing_step(self) -> int:
        """The step of the weights that play, as of the last complete generation."""
        state = self.read_state()
        return int(state[1]["playing_step"]) if state is not None else 0

    def write_state(self, tensors: dict[str, Tensor], counters: dict[str, Any]) -> None:
        """Commits a generation."""
        save_weights(tensors, self.state_file, {"counters": json.dumps(counters)})

    def _check_is_new(self) -> None:
        """Refuses to start over if a second generation was started, which needs a state."""
        generations = [shard.generation for shard in list_shards(self.games)]
        if max(generations, default=0) > 1:
            raise RunError(
                f"{self.state_file} is missing, but the run had {max(generations)} generations; "
                "restore a copy of that file, or start a new run in another --run folder"
            )


def _take_lock(descriptor: int) -> bool:
    """Whether the lock was taken, at once or after a moment."""
    for attempt in range(_LOCK_TRIES):
        if attempt:
            time.sleep(_LOCK_PAUSE)
        if lock_file(descriptor):
            return True
    return False


def _fill_in_old_options(tables: dict[str, Any]) -> None:
    """Adds and renames options of runs that earlier versions wrote."""
    if "network" in tables:
        tables["network"] = SAVED_BEFORE | tables["network"]
    run = tables.get("run", {})
    if "engine" in run:
        run["backend"] = run.pop("engine").replace("cuda-", "gpu-")


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
