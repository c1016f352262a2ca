"""A network in one file: its weights, and in the file's metadata all that playing with it takes.

The file is safetensors, the weights are float32, exactly those of the run. The metadata are texts:

    format    which of these formats it is
    game      the game's name with its parameters, for which alone the network is meant
    network   every option of NetworkConfig, as JSON
    search    every option of SearchConfig but the budget, as JSON: how it plays when it counts
    step      of the run whose weights they are
    plainzero    the version that wrote it
    about     how it was trained and when, and what its strength was measured to be

and a digest of the weights, by which damage is found. Nothing in it is ever executed.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plainzero.games.contract import Game
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.search.config import SearchConfig

if TYPE_CHECKING:
    from torch import nn

    from plainzero.training.saved_run import SavedRun

FORMAT = "plainzero-network-1"
_BUDGET = ("simulations", "visits")  # whoever plays with it says how long


class NetworkFileError(ValueError):
    """A file that holds no network to play with, and why."""


@dataclass(frozen=True)
class NetworkFile:
    """What a file says of the network in it; the weights are not loaded yet."""

    path: Path
    game: str
    network: NetworkConfig
    search: SearchConfig
    step: int
    plainzero: str
    about: str

    def load(self, game: Game) -> "nn.Module":
        """The network itself, for the game that the file names.

        Raises:
            NetworkFileError: when the weights are damaged, or do not fit.
        """
        from plainzero.networks.architectures import make_network
        from plainzero.networks.weights import WeightsError, load_weights, put_weights

        network: nn.Module = make_network(game, self.network, 0)
        try:
            put_weights(network, load_weights(self.path)[0], self.path)
        except WeightsError as error:
            raise NetworkFileError(str(error)) from error
        return network.eval()

    def search_config(self, simulations: int) -> SearchConfig:
        """How it plays with so many simulations a move."""
        return dataclasses.replace(self.search, simulations=simulations)


def write_network_file(
    run: "SavedRun", path: Path | str, step: int | None = None, about: str = ""
) -> NetworkFile:
    """Writes a run's network into a file of its own, and returns what that file says.

    Args:
        run: whose network it is.
        path: of the file.
        step: of the weights; by default those that play.
        about: how it was trained and when, and its strength.

    Raises:
        RunError: when the run has no such weights.
        OSError: when the file cannot be written.
    """
    from plainzero import __version__
    from plainzero.networks.weights import save_weights

    step = run.playing_step() if step is None else step
    search = dataclasses.asdict(run.search_config(1))
    network = resolve_network(run.config.network, run.game)
    metadata = {
        "format": FORMAT,
        "game": run.game.name,
        "network": json.dumps(dataclasses.asdict(network)),
        "search": json.dumps({name: search[name] for name in search if name not in _BUDGET}),
        "step": str(step),
        "plainzero": __version__,
        "about": about,
    }
    save_weights(run.network(step), path, metadata)
    return read_network_file(path)


def read_network_file(path: Path | str) -> NetworkFile:
    """What a file says of its network; reads no weights, and needs no PyTorch.

    Raises:
        NetworkFileError: when there is no such file, or it is none of ours.
    """
    metadata = _read_metadata(Path(path))
    if metadata.get("format") != FORMAT:
        raise NetworkFileError(
            f"{path} is not a network that `plainzero export --weights` of this version wrote: its "
            f"format is {metadata.get('format', 'none')}, not {FORMAT}"
        )
    try:
        return NetworkFile(
            path=Path(path),
            game=metadata["game"],
            network=NetworkConfig(**json.loads(metadata["network"])),
            search=SearchConfig(**json.loads(metadata["search"])),
            step=int(metadata["step"]),
            plainzero=metadata["plainzero"],
            about=metadata["about"],
        )
    except KeyError as error:
        raise NetworkFileError(f"{path} does not say its {error}") from error
    except (TypeError, ValueError) as error:
        raise NetworkFileError(f"{path} cannot be used: {error}") from error


def _read_metadata(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise NetworkFileError(f"there is no file {path}")
    try:
        with safe_open(path, "np") as file:
            return dict(file.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise NetworkFileError(f"{path} cannot be read: {error}") from error
