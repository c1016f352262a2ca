"""The same games and agents in other people's frameworks: OpenSpiel, PettingZoo.

OpenSpiel's games in ours need no bridge: they are games like others, `open_spiel:NAME`, see
`games/open_spiel/adapter.py`.
"""

import importlib
from typing import TYPE_CHECKING, Any

from plainzero.games.contract import Game
from plainzero.games.registry import make_game

if TYPE_CHECKING:
    from plainzero.opponents.agent import Opponent

__all__ = ["open_spiel_bot", "register_in_open_spiel", "to_pettingzoo"]


def open_spiel_bot(agent: "str | Opponent", game: Game | str, seed: int = 0) -> Any:
    """A `pyspiel.Bot` that plays by one of our agents.

    Args:
        agent: who plays, as in `plainzero match`: `uct:1000`, `run:runs/first:200`.
        game: ours, with the rules and the numbers of actions of the game that OpenSpiel plays;
            any `open_spiel:NAME` has those of that game.
        seed: of the agent; the same one plays the same game again.

    Raises:
        ValueError: for an agent that there is not, or when OpenSpiel is not installed.
    """
    return _load("open_spiel_bots").make_bot(agent, _made(game), seed)


def register_in_open_spiel(game: Game | str) -> str:
    """Makes the game known to OpenSpiel; returns the name with which it loads it there.

    Raises:
        ValueError: when OpenSpiel is not installed.
    """
    name: str = _load("open_spiel_games").register_game(_made(game))
    return name


def to_pettingzoo(game: Game | str, render_mode: str | None = None) -> Any:
    """The game as an environment of PettingZoo's (AEC).

    Args:
        game: any game.
        render_mode: "human" prints the position, "ansi" returns it as text.

    Raises:
        ValueError: when PettingZoo is not installed, or for another render_mode.
    """
    return _load("pettingzoo_environments").make_environment(_made(game), render_mode)


def _load(module: str) -> Any:
    """A module of this folder, which needs packages that PlainZero does without.

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
