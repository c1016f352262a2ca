"""The bundled networks: which games have one, and its file.

The card beside each file says how it was trained and how strong it is. Using one needs the extra
`learn`.
"""

import importlib.util
from pathlib import Path

from plainzero.games.contract import Game
from plainzero.games.registry import UnknownGame, make_game
from plainzero.opponents.network_files import NetworkFile, NetworkFileError, read_network_file

FOLDER = Path(__file__).parent / "data" / "networks"
"""The folder of the files, each named after its game with its parameters."""

USUAL_SIMULATIONS = 200
"""Simulations per move of a game's default opponent: a fraction of a second."""

_PACKAGES = ("torch", "safetensors")
_ADVICE = "`plainzero train` makes one, which plays as run:FOLDER:SIMULATIONS"


def has_bundled_network(game: Game) -> bool:
    """Whether there is a bundled network for this game with these parameters, and its packages."""
    try:
        find_bundled_network(game)
    except NetworkFileError:
        return False
    return True


def usual_agent(game: Game, otherwise: str) -> str:
    """The bundled network's agent for a game, or another where there is none."""
    return f"bundled:{USUAL_SIMULATIONS}" if has_bundled_network(game) else otherwise


def agent_for_people(game: Game, simulations: int = USUAL_SIMULATIONS) -> str:
    """The bundled network's agent when a person plays it: with the opening book, if any."""
    from plainzero.opponents.connect_four.opening_book import has_book

    return f"bundled:{simulations}" + ",book" * has_book(game)


def find_bundled_network(game: Game) -> NetworkFile:
    """The file of a game's bundled network; the weights are not loaded yet.

    Raises:
        NetworkFileError: when there is none for these parameters, or a package is missing.
    """
    path = FOLDER / f"{game.name}.safetensors"
    if not path.is_file():
        raise NetworkFileError(
            f"there is no bundled network for {game.name}{_others(game)}; {_ADVICE}"
        )
    if not all(map(importlib.util.find_spec, _PACKAGES)):
        raise NetworkFileError(
            f"the bundled network for {game.name} needs PyTorch: pip install 'plainzero[learn]'"
        )
    file = read_network_file(path)
    if file.game != game.name:
        raise NetworkFileError(
            f"the bundled network is for {file.game}, not for {game.name}; {_ADVICE}"
        )
    if not _is_bundled(game):
        raise NetworkFileError(
            f"the bundled network is for the bundled {file.game}, not for your own game "
            f"of that name; {_ADVICE}"
        )
    return file


def _others(game: Game) -> str:
    """The other parameters of the game that have one, as part of a sentence."""
    files = (FOLDER / f"{game.title()}.safetensors", *FOLDER.glob(f"{game.title()}(*).safetensors"))
    names = [path.stem for path in files if path.is_file()]
    return f", only for {' and '.join(sorted(names))}" if names else ""


def _is_bundled(game: Game) -> bool:
    try:
        return bool(make_game(game.name) == game)
    except UnknownGame:
        return False
