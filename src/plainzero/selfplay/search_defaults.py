"""How self-play searches unless told otherwise, on a CPU and on a GPU.

Without PyTorch, which takes seconds to import: by this a command begins to compile.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from plainzero.games.contract import Game, has_chance
from plainzero.options import parse_option
from plainzero.search.config import SearchConfig, lay_over

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
    return change_search(default_search(game, device), changed)


def change_search(search: SearchConfig, changed: Mapping[str, Any]) -> SearchConfig:
    """The settings with others put in, and with what these bring along where it is not set.

    Another formula than Gumbel's needs more simulations, and PUCT noise. What counts for nothing
    with a new formula goes back to its default.

    Raises:
        ValueError: for values that make no sense.
    """
    brought: dict[str, Any] = {}
    selection = changed.get("selection", "auto")
    if selection != "auto":
        brought["noise_weight"] = 0.25 if selection.startswith("puct") else 0.0
    if selection == "gumbel":
        brought["visits"] = 0
        brought["simulations"] = search.simulations or usual_search().simulations
    elif selection != "auto" and not changed.keys() & {"simulations", "visits"}:
        brought["visits"] = 32
    if (brought | {**changed}).get("visits"):
        brought["simulations"] = 0
    return lay_over(search, brought | {**changed})
