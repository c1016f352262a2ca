"""How self-play searches unless told otherwise, on a CPU and on a GPU.

Without PyTorch, which takes seconds to import: by this a command begins to compile.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from tesuji.games.contract import Game, has_chance
from tesuji.search.config import SearchConfig
from tesuji.settings import parse_option

_SECTION = "search."


def usual_search() -> SearchConfig:
    """As it is on a CPU, where nothing is known of the game."""
    return SearchConfig(simulations=16, selection="gumbel")


def default_search(game: Game, device: str = "cpu") -> SearchConfig:
    """The settings of a search in self-play that nobody has changed."""
    search = usual_search()
    if device != "cpu":
        search = SearchConfig(simulations=32, selection="puct", fpu="parent", noise_weight=0.25)
    can_prove = game.num_players <= 2 and not has_chance(game)
    return dataclasses.replace(search, proven_values=can_prove)


def chosen_search(game: Game, device: str, settings: Sequence[str]) -> SearchConfig:
    """The same with those of the `section.option=value` settings put in that are about a search.

    Raises:
        ValueError: for an option that there is not, or a value that makes no sense.
    """
    changed: dict[str, Any] = {}
    for setting in settings:
        path, _, text = setting.strip().partition("=")
        if path.startswith(_SECTION):
            option = path.removeprefix(_SECTION).strip()
            changed[option] = parse_option(SearchConfig, option, text.strip())
    follow_selection(changed)
    return dataclasses.replace(default_search(game, device), **changed)


def follow_selection(changed: dict[str, Any]) -> None:
    """Another formula than Gumbel's needs more simulations, PUCT noise; where that was not set.

    And what is for PUCT alone goes with it.
    """
    selection = changed.get("selection", "auto")
    is_puct = selection.startswith("puct")
    if selection != "auto":
        changed.setdefault("noise_weight", 0.25 if is_puct else 0.0)
        if not is_puct:
            changed.setdefault("fpu", "auto")
    if selection not in ("auto", "gumbel"):
        if "simulations" not in changed and "visits" not in changed:
            changed["visits"] = 32
    if changed.get("visits"):
        changed.setdefault("simulations", 0)
