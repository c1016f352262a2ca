"""A network in one file: its weights, and as metadata everything needed to play with it.

The file is safetensors; the weights are those of the run, rounded to float16. (Files of earlier
versions have float32; both load.) The metadata are texts:

    format     the version of this format
    game       the game's name with its parameters; the network is for no other
    network    every option of NetworkConfig, as JSON
    search     every option of SearchConfig except the budget, as JSON: how it plays matches
    step       the step of the run that the weights are from
    plainzero  the version that wrote the file
    about      how and when it was trained, and its measured strength

and a digest of the weights, which detects damage. Reading a file executes nothing.
"""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plainzero.games.contract import Game
from plainzero.networks.config import SAVED_BEFORE, NetworkConfig, resolve_network
from plainzero.search.config import SearchConfig

if TYPE_CHECKING:
    from torch import nn

    from plainzero.training.saved_run import SavedRun

FORMAT = "plainzero-network-1"
_BUDGET = ("simulations", "visits")  # chosen when it plays


class NetworkFileError(ValueError):
    """A file without a usable network; the message says why."""


@dataclass(frozen=True)
class NetworkFile:
    """A file's metadata; the weights are not loaded yet."""

    path: Path
    game: str
    network: NetworkConfig
    search: SearchConfig
    step: int
    plainzero: str
    about: str

    def load(self, game: Game) -> "nn.Module":
        """The network, for the game that the file names.

        Raises:
            NetworkFileError: when the weights are damaged or do not fit.
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
        """Its search with that many simulations per move."""
        return dataclasses.replace(self.search, simulations=simulations)


def write_network_file(
    run: "SavedRun", path: Path | str, step: int | None = None, about: str = ""
) -> NetworkFile:
    """Writes a run's network to a file, and returns the file's metadata.

    Args:
        run: the run.
        path: the file.
        step: the step of the weights; by default those that play.
        about: how and when it was trained, and its strength.

    Raises:
        RunError: when the run does not have these weights.
        OSError: when the file cannot be written.
    """
    from plainzero import __version__
    from plainzero.networks.weights import save_weights, to_float16

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
    save_weights(to_float16(run.network(step).state_dict()), path, metadata)
    return read_network_file(path)


def read_network_file(path: Path | str) -> NetworkFile:
    """A file's metadata; reads no weights and needs no PyTorch.

    Raises:
        NetworkFileError: when the file is missing or is not a network file.
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
            network=NetworkConfig(**SAVED_BEFORE | json.loads(metadata["network"])),
            search=SearchConfig(**json.loads(metadata["search"])),
            step=int(metadata["step"]),
            plainzero=metadata["plainzero"],
            about=metadata["about"],
        )
    except KeyError as error:
        raise NetworkFileError(f"{path} has no {error} in its metadata") from error
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
