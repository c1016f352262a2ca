"""Tesuji: write a game once, in plain Python; get an AlphaZero player for it.

The names below are loaded when they are first used, so that `import tesuji` stays light.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tesuji.games.checking import check_game
    from tesuji.games.contract import CHANCE, Game, Grid, IllegalMove, Symmetry, field
    from tesuji.games.registry import UnknownGame, make_game
    from tesuji.search.api import Searcher, search
    from tesuji.search.config import SearchConfig
    from tesuji.search.result import SearchResult

_HOMES = {
    "CHANCE": "games.contract",
    "Game": "games.contract",
    "Grid": "games.contract",
    "IllegalMove": "games.contract",
    "SearchConfig": "search.config",
    "SearchResult": "search.result",
    "Searcher": "search.api",
    "Symmetry": "games.contract",
    "UnknownGame": "games.registry",
    "check_game": "games.checking",
    "field": "games.contract",
    "make_game": "games.registry",
    "search": "search.api",
}

__version__ = "0.1.0"
__all__ = [
    "CHANCE",
    "Game",
    "Grid",
    "IllegalMove",
    "SearchConfig",
    "SearchResult",
    "Searcher",
    "Symmetry",
    "UnknownGame",
    "check_game",
    "field",
    "make_game",
    "search",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tesuji' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tesuji.{_HOMES[name]}"), name)
    globals()[name] = value  # a subpackage of the same name (tesuji.search) must not win later
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
