"""PlainZero: write a game once, in plain Python; get an AlphaZero player for it.

The names below are loaded when they are first used, so that `import plainzero` stays light.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plainzero.games.board_view import PIECES, Caption, Grid, Shape, Step, cells_in_a_row
    from plainzero.games.check.check_game import check_game
    from plainzero.games.contract import (
        CHANCE,
        Game,
        IllegalMove,
        RuleFault,
        State,
        Symmetry,
        field,
    )
    from plainzero.games.position_setup import can_set_up, cell_texts, set_up_position
    from plainzero.games.registry import UnknownGame, make_game
    from plainzero.games.symmetries import grid_symmetries
    from plainzero.search.api import Searcher, search
    from plainzero.search.config import SearchConfig
    from plainzero.search.evaluation_cache import EvaluationCache
    from plainzero.search.evaluators import EvaluatorError
    from plainzero.search.result import SearchResult
    from plainzero.search.runner import StopFlag

_HOMES = {
    "CHANCE": "games.contract",
    "PIECES": "games.board_view",
    "Caption": "games.board_view",
    "EvaluationCache": "search.evaluation_cache",
    "EvaluatorError": "search.evaluators",
    "Game": "games.contract",
    "Grid": "games.board_view",
    "IllegalMove": "games.contract",
    "RuleFault": "games.contract",
    "SearchConfig": "search.config",
    "SearchResult": "search.result",
    "Searcher": "search.api",
    "Shape": "games.board_view",
    "State": "games.contract",
    "Step": "games.board_view",
    "StopFlag": "search.runner",
    "Symmetry": "games.contract",
    "UnknownGame": "games.registry",
    "can_set_up": "games.position_setup",
    "cell_texts": "games.position_setup",
    "cells_in_a_row": "games.board_view",
    "check_game": "games.check.check_game",
    "field": "games.contract",
    "grid_symmetries": "games.symmetries",
    "make_game": "games.registry",
    "set_up_position": "games.position_setup",
}

__version__ = "0.1.0"
__all__ = [
    "CHANCE",
    "PIECES",
    "Caption",
    "EvaluationCache",
    "EvaluatorError",
    "Game",
    "Grid",
    "IllegalMove",
    "RuleFault",
    "SearchConfig",
    "SearchResult",
    "Searcher",
    "Shape",
    "State",
    "Step",
    "StopFlag",
    "Symmetry",
    "UnknownGame",
    "can_set_up",
    "cell_texts",
    "cells_in_a_row",
    "check_game",
    "field",
    "grid_symmetries",
    "make_game",
    "search",
    "set_up_position",
]


def __getattr__(name: str) -> object:
    if name == "search":  # a folder that can be called: see search/__init__.py
        return importlib.import_module("plainzero.search")
    if name not in _HOMES:
        raise AttributeError(f"module 'plainzero' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"plainzero.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
