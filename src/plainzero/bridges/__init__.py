"""PlainZero's games and agents in other frameworks: OpenSpiel and PettingZoo.

OpenSpiel's games in PlainZero need no bridge: they are games like others, `open_spiel:NAME`; see
`games/open_spiel/adapter.py`.
"""

import importlib
from typing import TYPE_CHECKING, Any

from plainzero.games.contract import Game
from plainzero.games.registry import make_game

if TYPE_CHECKING:
    from plainzero.opponents.agent import Agent

__all__ = ["open_spiel_bot", "register_in_open_spiel", "to_pettingzoo"]


def open_spiel_bot(agent: "str | Agent", game: Game | str, seed: int = 0) -> Any:
    """A `pyspiel.Bot` that plays with a PlainZero agent.

    Args:
        agent: an agent or its spec as in `plainzero match`: `uct:1000`, `run:runs/first:200`.
        game: a PlainZero game with the same rules and action numbers as OpenSpiel's game, such as
            `open_spiel:NAME`.
        seed: the agent's random seed; the same seed plays the same game.

    Raises:
        ValueError: for an invalid agent spec, or when OpenSpiel is not installed.
    """
    return _load("agents_in_open_spiel").make_bot(agent, _made(game), seed)


def register_in_open_spiel(game: Game | str) -> str:
    """Registers the game in OpenSpiel; returns the name to load it with.

    Raises:
        ValueError: when OpenSpiel is not installed.
    """
    name: str = _load("games_in_open_spiel").register_game(_made(game))
    return name


def to_pettingzoo(game: Game | str, render_mode: str | None = None) -> Any:
    """The game as a PettingZoo environment (AEC).

    Args:
        game: any game.
        render_mode: "human" prints the position, "ansi" returns it as text.

    Raises:
        ValueError: when PettingZoo is not installed, or for another render_mode.
    """
    return _load("games_in_pettingzoo").make_environment(_made(game), render_mode)


def _load(module: str) -> Any:
    """A module of this folder, which needs optional packages.

    Raises:
        ValueError: when one of them is not installed.
    """
    try:
        return importlib.import_module(f"plainzero.bridges.{module}")
    except ModuleNotFoundError as error:
        raise ValueError(
            f"this needs the package {error.name}: pip install 'plainzero[bridges]'"
        ) from error


def _made(game: Game | str) -> Game:
    return make_game(game) if isinstance(game, str) else game
