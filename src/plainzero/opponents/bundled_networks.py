"""Trained networks that come with PlainZero: which game has one, and the file it is in.

data/README.md says how each was made. Playing with one needs the extra `learn`.
"""

import importlib.util
from pathlib import Path

from plainzero.games.contract import Game
from plainzero.games.registry import UnknownGame, make_game
from plainzero.opponents.network_files import NetworkFile, NetworkFileError, read_network_file

FOLDER = Path(__file__).parent / "data" / "networks"
"""Where they are, each named after its game."""

USUAL_SIMULATIONS = 200
"""A move of the opponent that a game has by default: a fraction of a second."""

_PACKAGES = ("torch", "safetensors")
_ADVICE = "`plainzero train` makes one, which plays as run:FOLDER:SIMULATIONS"


def has_shipped(game: Game) -> bool:
    """Whether a network for this game, with these parameters, is there and can be used here."""
    try:
        find_shipped(game)
    except NetworkFileError:
        return False
    return True


def find_shipped(game: Game) -> NetworkFile:
    """The file of the network that ships for a game; its weights are not loaded yet.

    Raises:
        NetworkFileError: when there is none, it is of other parameters, or cannot be used here.
    """
    path = FOLDER / f"{game.title()}.safetensors"
    if not path.is_file():
        raise NetworkFileError(f"no network ships for {game.name}; {_ADVICE}")
    if not all(map(importlib.util.find_spec, _PACKAGES)):
        raise NetworkFileError(
            f"the network that ships for {game.name} needs PyTorch: pip install 'plainzero[learn]'"
        )
    file = read_network_file(path)
    if file.game != game.name:
        raise NetworkFileError(
            f"the network that ships is for {file.game}, not for {game.name}; {_ADVICE}"
        )
    if not _is_bundled(game):
        raise NetworkFileError(
            f"the network that ships is for the bundled {file.game}, not for a game of your own "
            f"with that name; {_ADVICE}"
        )
    return file


def _is_bundled(game: Game) -> bool:
    try:
        return bool(make_game(game.name) == game)
    except UnknownGame:
        return False
