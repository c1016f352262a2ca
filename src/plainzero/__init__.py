"""PlainZero: write a game once, in plain Python; get an AlphaZero player for it.

The names below are loaded when they are first used, so that `import plainzero` stays light.
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plainzero.games.checking import check_game
    from plainzero.games.contract import CHANCE, Game, Grid, IllegalMove, Symmetry, field
    from plainzero.games.registry import UnknownGame, make_game
    from plainzero.search.api import Searcher, search
    from plainzero.search.config import SearchConfig
    from plainzero.search.evaluation_cache import EvaluationCache
    from plainzero.search.evaluators import EvaluatorError
    from plainzero.search.result import SearchResult
    from plainzero.search.runner import RuleFault, StopFlag

_HOMES = {
    "EvaluationCache": "search.cache",
    "EvaluatorError": "search.evaluators",
    "RuleFault": "search.runner",
    "StopFlag": "search.runner",
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
    "EvaluationCache",
    "EvaluatorError",
    "Game",
    "Grid",
    "IllegalMove",
    "RuleFault",
    "SearchConfig",
    "SearchResult",
    "Searcher",
    "StopFlag",
    "Symmetry",
    "UnknownGame",
    "check_game",
    "field",
    "make_game",
    "search",
]


class _Package(types.ModuleType):
    """This module, with the names of `_HOMES` loaded at first use.

    `search` is a function here and a folder as well: importing from the folder would put the folder
    under that name, so that one assignment is left out.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'plainzero' has no attribute {name!r}")
        value = getattr(importlib.import_module(f"plainzero.{_HOMES[name]}"), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *__all__})


sys.modules[__name__].__class__ = _Package
