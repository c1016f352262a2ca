"""A run opened to play with it: its game, its weights at any step, its search options."""

import dataclasses
from pathlib import Path
from typing import Any

from plainzero.games.contract import Game, has_chance
from plainzero.networks.architectures import make_network
from plainzero.networks.config import fits_any_size, resolve_network
from plainzero.networks.network_evaluators import (
    NetworkEvaluator,
    available_backends,
    make_evaluator,
)
from plainzero.networks.weights import WeightsError, load_weights, put_weights
from plainzero.search.config import SearchConfig
from plainzero.training.run_folder import RunError, RunFolder
from plainzero.training.settings import RunConfig

STRENGTH_SIMULATIONS = 64
"""Simulations per move in the games that measure a run's strength."""


def open_run(path: str | Path) -> "SavedRun":
    """The run in a folder; it may be training.

    Raises:
        RunError: if the folder holds no readable run.
    """
    folder = RunFolder(path)
    if not folder.path.is_dir():
        raise RunError(f"there is no run folder {folder.path}; `plainzero train` makes one")
    config, _ = folder.read_config()
    return SavedRun(folder, config, folder.read_game())


@dataclasses.dataclass(frozen=True)
class SavedRun:
    """A run on disk."""

    folder: RunFolder
    config: RunConfig
    game: Game

    @property
    def steps(self) -> list[int]:
        """The steps whose weights are on disk."""
        return self.folder.steps()

    def network(self, step: int | None = None) -> Any:
        """The network with the weights of a step; by default those of `playing_step`.

        Raises:
            RunError: if there are none, or they do not fit the config.
        """
        if step is None:
            step = self.playing_step()
        elif step not in (steps := self._require_steps()):
            near = min(steps, key=lambda other: abs(other - step))
            raise RunError(
                f"{self.folder.path} has no weights of step {step}; the nearest are of {near}"
            )
        network = make_network(self.game, self.config.network, 0)
        self.folder.load_weights(network, step)
        return network.eval()

    def for_game(self, game: Game) -> "SavedRun":
        """The run as a player of another size of its game.

        Raises:
            RunError: if its network is for one board size, or the game is another one.
        """
        if game == self.game:
            return self
        refusal = f"{self.folder.path} is a run of {self.game.name}, not of {game.name}"
        if type(game) is not type(self.game):
            raise RunError(refusal)
        network = resolve_network(self.config.network, self.game)
        if not fits_any_size(network):
            raise RunError(f"{refusal}, and its dense heads fit one board size only")
        config = dataclasses.replace(self.config, network=network)
        return dataclasses.replace(self, game=game, config=config)

    def playing_step(self) -> int:
        """The step of the latest weights, or with a gate of those that passed it.

        Raises:
            RunError: if there are none.
        """
        latest = self._require_steps()[-1]
        return self.folder.playing_step() if self.config.run.gate else latest

    def _require_steps(self) -> list[int]:
        if not (steps := self.steps):
            raise RunError(f"{self.folder.path} has no weights yet")
        return steps

    def evaluator(self, step: int | None = None, backend: str = "") -> NetworkEvaluator:
        """The network of a step behind a backend: the run's own if it can run here.

        Measuring for the fastest (`auto`) would make results depend on how busy the machine is.
        """
        return self.wrap(self.network(step), backend)

    def wrap(self, network: Any, backend: str = "") -> NetworkEvaluator:
        """A network of the run behind a backend; see `evaluator`."""
        if not backend:
            own = self.config.run.backend
            backend = own if own in available_backends(network) else "torch"
        return make_evaluator(network, self.game, backend)

    def search_config(self, simulations: int) -> SearchConfig:
        """How the run plays when it counts: its own search without noise."""
        return playing_search(self.game, self.config.search, simulations)


def start_from(network: Any, source: str | Path) -> None:
    """Copies the weights of a run's folder, or of a file, into a new network.

    The board's size may differ, if the heads follow the board (`network.policy=board`).

    Raises:
        RunError: if there are none, or they do not fit.
    """
    path = Path(source)
    if path.is_dir():
        run = open_run(path)
        path = run.folder.weights_file(run.playing_step())
    try:
        put_weights(network, load_weights(path)[0], path)
    except WeightsError as error:
        raise RunError(f"cannot start from {source}: {error}") from error


def playing_search(game: Game, search: SearchConfig, simulations: int) -> SearchConfig:
    """The options of a self-play search for matches: without noise and without Gumbel's sampling.

    The move with the best lower confidence bound is played, and unvisited moves have their parent's
    value: on 3,000 positions like those of Test_L2_R2, a run of Connect Four erred in 1.4 % of them
    in this way, and in 1.9 % with the most visited move and an initial value of 0. With chance, the
    most visited move is played, because there a bound prefers safe moves to good ones: networks of
    Pig and sensor-jammer lose 1.4 to 6 times as much by it (docs/lab-notebook.md). A single
    player's scores may differ only slightly, so in place of Gumbel's rescaled Q, c shrinks with
    their spread: to about a third after 64 simulations.
    """
    options: dict[str, Any] = {"choice": "visits" if has_chance(game) else "lcb"}
    if search.selection == "gumbel":
        defaults = SearchConfig()
        options |= {
            name: getattr(defaults, name)
            for name in ("selection", *(name for name in vars(defaults) if "gumbel" in name))
        }
        if search.gumbel_rescale:
            options["c_puct_spread"] = 1.0
    if search.selection != "uct" and search.fpu == "auto":
        options["fpu"] = "parent"
    return dataclasses.replace(
        search,
        **options,
        simulations=simulations,
        visits=0,
        noise_weight=0.0,
        noise_alpha=0.0,
        forced_playouts=0.0,
    )
