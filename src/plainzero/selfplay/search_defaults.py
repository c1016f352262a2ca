"""The default search options of self-play, on the CPU and on a GPU.

This module does not import PyTorch, which takes seconds: compiling starts with these options.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from plainzero.games.contract import Game, has_chance
from plainzero.options import parse_option
from plainzero.search.config import SearchConfig, with_options
from plainzero.selfplay.game_traits import traits_of

_SECTION = "search."

MOVES_PER_VISIT = 3
"""PUCT with fewer visits than one per so many legal moves finds little that its network does not
know. On one H200, 32 visits learn Go 9×9 and Hex 7×7 well (up to 82 moves), but Hex 11×11 (121) and
Gomoku 15×15 (225) hardly at all, which Gumbel with 64 simulations learns."""


def usual_search() -> SearchConfig:
    """The default on the CPU, before `default_search` adapts it to the game."""
    return SearchConfig(simulations=16, selection="gumbel")


def default_search(game: Game, device: str = "cpu") -> SearchConfig:
    """The default search options of self-play for a game and a device.

    A single player's results are scores that may differ by only a few hundredths: too little for
    PUCT, whose c is tuned for wins and losses. Gumbel with rescaled Q works at any scale.
    """
    search = usual_search()
    if device != "cpu":
        search = SearchConfig(simulations=32, selection="puct", fpu="parent", noise_weight=0.25)
        if game.num_players == 1 or is_starved(search.simulations, game):
            search = SearchConfig(simulations=64, selection="gumbel")
    if game.num_players == 1:
        search = change_search(search, {"gumbel_rescale": True})
    can_prove = game.num_players <= 2 and not has_chance(game)
    return dataclasses.replace(search, proven_values=can_prove)


def is_starved(budget: int, game: Game) -> bool:
    """Whether a game has too many legal moves for PUCT with a budget of visits or simulations."""
    return traits_of(game).most_moves > MOVES_PER_VISIT * budget


def chosen_search(game: Game, device: str, settings: Sequence[str]) -> SearchConfig:
    """The default options, changed by the `section.option=value` settings that concern the search.

    Raises:
        ValueError: for an unknown option, or an invalid value.
    """
    changed: dict[str, Any] = {}
    for setting in settings:
        path, _, text = setting.strip().partition("=")
        if path.startswith(_SECTION):
            option = path.removeprefix(_SECTION).strip()
            changed[option] = parse_option(SearchConfig, option, text.strip())
    return change_search(default_search(game, device), changed)


def change_search(search: SearchConfig, changed: Mapping[str, Any]) -> SearchConfig:
    """The options with changes, and with the defaults that these imply.

    A formula other than Gumbel's needs more simulations, and PUCT needs noise. Options that the new
    formula does not use return to their defaults.

    Raises:
        ValueError: for invalid values.
    """
    implied: dict[str, Any] = {}
    selection = changed.get("selection", "auto")
    if selection != "auto":
        implied["noise_weight"] = 0.25 if selection.startswith("puct") else 0.0
    if selection == "gumbel":
        implied["visits"] = 0
        implied["simulations"] = search.simulations or usual_search().simulations
    elif selection != "auto" and not changed.keys() & {"simulations", "visits"}:
        implied["visits"] = 32
    if "gumbel_rescale" in changed:
        implied["gumbel_c_scale"] = 0.1 if changed["gumbel_rescale"] else 1.0  # 0.1: mctx's
    if (implied | {**changed}).get("visits"):
        implied["simulations"] = 0
    return with_options(search, implied | {**changed})
