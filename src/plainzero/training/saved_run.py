"""A run as others use it: its game, its weights at any step, and how it plays."""

import dataclasses
from pathlib import Path
from typing import Any

from plainzero.games.contract import Game
from plainzero.networks.architectures import make_network
from plainzero.networks.network_evaluators import (
    NetworkEvaluator,
    available_engines,
    make_evaluator,
)
from plainzero.search.config import SearchConfig
from plainzero.training.run_folder import RunError, RunFolder
from plainzero.training.settings import RunConfig

STRENGTH_SIMULATIONS = 64
"""Of a move in the games by which a run measures its own strength."""


def open_run(path: str | Path) -> "SavedRun":
    """The run in a folder, to play with; a run that is training can be opened too.

    Raises:
        RunError: says what is wrong with the folder.
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
        """The steps whose weights are there."""
        return self.folder.steps()

    def network(self, step: int | None = None) -> Any:
        """The network with the weights of a step; by default those that play, or the latest.

        Raises:
            RunError: when there are none, or they do not fit the config.
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

    def playing_step(self) -> int:
        """The step of the weights that play, or of the latest.

        Raises:
            RunError: when there are none.
        """
        latest = self._require_steps()[-1]
        return self.folder.playing_step() if self.config.run.gate else latest

    def _require_steps(self) -> list[int]:
        if not (steps := self.steps):
            raise RunError(f"{self.folder.path} has no weights yet")
        return steps

    def evaluator(self, step: int | None = None, engine: str = "") -> NetworkEvaluator:
        """The network of a step behind an inference engine: the run's own where it can run here.

        Measuring for the fastest (`auto`) would make results depend on how busy the machine is.
        """
        return self.wrap(self.network(step), engine)

    def wrap(self, network: Any, engine: str = "") -> NetworkEvaluator:
        """A network of the run behind an inference engine; see `evaluator`."""
        if not engine:
            own = self.config.run.engine
            engine = own if own in available_engines(network) else "torch"
        return make_evaluator(network, self.game, engine)

    def search_config(self, simulations: int) -> SearchConfig:
        """How the run plays when it counts: its own search without noise."""
        return playing_search(self.config.search, simulations)


def playing_search(search: SearchConfig, simulations: int) -> SearchConfig:
    """A self-play search as it is used in matches: without noise, and without Gumbel's draws.

    Of the moves visited often the one is played whose value is surely highest, and moves never
    tried count as their parent: on 3,000 positions like those of Test_L2_R2 a run of Connect Four
    erred in 1.4 % of them so, with the most visited move and 0 in 1.9 % (docs/lab-notebook.md).
    """
    options: dict[str, Any] = {"choice": "lcb"}
    if search.selection == "gumbel":
        defaults = SearchConfig()
        options |= {
            name: getattr(defaults, name)
            for name in ("selection", "gumbel_actions", "gumbel_c_visit", "gumbel_c_scale")
        }
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
