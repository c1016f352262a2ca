"""The rules as compiled code calls them: plain functions that find the game by the state's type.

Search and self-play are written once, for any game: they call `play(state, action)`, and Numba
picks the rules of the game whose state record it sees, on the CPU and on CUDA alike. Without the
compiler (in a debugger, in the CUDA simulator) the same calls reach the game's own methods.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numba import types

from plainzero.compiler.bind_rules import Binder
from plainzero.compiler.cpu_kernels import compiled_as, kernel_function, rule_function
from plainzero.games.check.quick_check import ensure_checked
from plainzero.games.contract import (
    CHANCE,
    RULES,
    Game,
    has_own_playouts,
    has_ownership,
    has_score,
    trial_rule,
)

_GAMES: dict[str, Game] = {}  # by tag


def register(game: Game) -> str:
    """Makes the game's rules known to compiled code; returns its tag.

    Raises:
        RuleFault: when a user's game, new or changed, breaks the contract within a few moves.
    """
    if game.tag not in _GAMES:
        ensure_checked(game)
        _GAMES[game.tag] = game
    return game.tag


@functools.cache
def bound_rule(tag: str, name: str) -> Callable[..., Any]:
    """One rule of a registered game as a plain function without `self`."""
    if name == "playout_actions" and not has_own_playouts(_GAMES[tag]):
        name = "legal_actions"  # directly, without a second compiled copy
    return _binder(tag).method(name)


@functools.cache
def _binder(tag: str) -> Binder:
    return _new_binder(_GAMES[tag], rule_function)


def _new_binder(game: Game, wrap: Callable[..., Any]) -> Binder:
    arrays = [name for name, field in game.fields().items() if field.shape]
    return Binder(game, wrap, game.tag, [*arrays, "returns"])


def rule_sources(game: Game, names: Iterable[str]) -> list[Callable[..., Any]]:
    """The methods and functions, as their authors wrote them, that rules consist of."""
    binder = _new_binder(game, lambda function: function)
    for name in names:
        binder.method(name)
    return binder.functions()


def rule_names(game: Game) -> tuple[str, ...]:
    """The methods of the game that compiled code calls."""
    more = {
        trial_rule(game): trial_rule(game) != "",
        "holder": game.moves_take_cells,
        "winning_cells": game.moves_take_cells,
        "score": has_score(game),
        "ownership": has_ownership(game),
    }
    return (*RULES, *(name for name, has_rule in more.items() if has_rule))


def _game_of(state: Any) -> Game:
    return _GAMES[state.dtype.names[-1]]


def legal_actions(state: Any, actions: Any) -> Any:
    """Writes the legal actions, returns their number."""
    return _game_of(state).legal_actions(state, actions)


def playout_actions(state: Any, actions: Any) -> Any:
    """Writes the legal actions among which a random playout chooses, returns their number."""
    return _game_of(state).playout_actions(state, actions)


def has_trials(state: Any) -> bool:
    """Whether the game can say of a single action whether a playout may play it."""
    return trial_rule(_game_of(state)) != ""


def may_play_out(state: Any, action: Any) -> Any:
    """Whether a random playout may play that action, in a game that can say so."""
    game = _game_of(state)
    return getattr(game, trial_rule(game))(state, action)


def num_actions(state: Any) -> int:
    """The number of actions of the game."""
    return int(_game_of(state).num_actions)


def play_rule(state: Any, action: Any) -> Any:
    """The game's own `play`; others call `play` below."""
    return _game_of(state).play(state, action)


def observe(state: Any, planes: Any) -> Any:
    """Writes the observation, from the view of the player to move."""
    return _game_of(state).observe(state, planes)


def chance_outcomes(state: Any, actions: Any, probabilities: Any) -> Any:
    """Writes chance's outcomes and their probabilities, returns their number."""
    return _game_of(state).chance_outcomes(state, actions, probabilities)


def holder(state: Any, action: Any) -> Any:
    """Who holds the cell that the action takes, or −1."""
    return _game_of(state).holder(state, action)


def winning_cells(state: Any, cells: Any) -> Any:
    """Marks the cells on which a win rests."""
    return _game_of(state).winning_cells(state, cells)


def score(state: Any) -> Any:
    """By how much the first player is ahead in a finished game."""
    return _game_of(state).score(state)


def largest_score(state: Any) -> Any:
    """The largest score, 0 in games without."""
    return float(_game_of(state).largest_score or 0)


def ownership(state: Any, cells: Any) -> Any:
    """Writes who holds each cell of a finished game."""
    return _game_of(state).ownership(state, cells)


def awaits_chance(state: Any) -> bool:
    """Whether chance is to move; compiled to False for games without chance."""
    return bool(state.to_play == CHANCE)


def reset(state: Any) -> Any:
    """Sets up a zeroed state."""
    return _game_of(state).reset(state)


@kernel_function
def play(state: Any, action: Any) -> None:
    """Plays an action or one of chance's outcomes, and counts it."""
    play_rule(state, action)
    state.turn += np.int32(1)


@kernel_function
def mark_legal(state: Any, actions: Any, legal: Any) -> None:
    """Makes the entries of `legal` True that are legal actions, after listing them in `actions`."""
    for place in range(legal_actions(state, actions)):
        legal[actions[place]] = True


def game_of_type(state: types.Record) -> Game:
    """The game whose states have this type in compiled code."""
    return _GAMES[list(state.fields)[-1]]


def _rule_for(state: types.Record, name: str) -> Callable[..., Any]:
    return bound_rule(game_of_type(state).tag, name)


@compiled_as(legal_actions)
def _legal_actions(state: Any, actions: Any) -> Any:
    rule = _rule_for(state, "legal_actions")
    return lambda state, actions: rule(state, actions)


@compiled_as(playout_actions)
def _playout_actions(state: Any, actions: Any) -> Any:
    rule = _rule_for(state, "playout_actions")
    return lambda state, actions: rule(state, actions)


@compiled_as(has_trials)
def _has_trials(state: Any) -> Any:
    found = trial_rule(game_of_type(state)) != ""
    return lambda state: found


@compiled_as(may_play_out)
def _may_play_out(state: Any, action: Any) -> Any:
    if not trial_rule(game_of_type(state)):
        return lambda state, action: False
    rule = _rule_for(state, trial_rule(game_of_type(state)))
    return lambda state, action: rule(state, action)


@compiled_as(num_actions)
def _num_actions(state: Any) -> Any:
    count = int(game_of_type(state).num_actions)
    return lambda state: count


@compiled_as(play_rule)
def _play(state: Any, action: Any) -> Any:
    rule = _rule_for(state, "play")
    return lambda state, action: rule(state, action)


@compiled_as(observe)
def _observe(state: Any, planes: Any) -> Any:
    rule = _rule_for(state, "observe")
    return lambda state, planes: rule(state, planes)


@compiled_as(chance_outcomes)
def _chance_outcomes(state: Any, actions: Any, probabilities: Any) -> Any:
    rule = _rule_for(state, "chance_outcomes")
    return lambda state, actions, probabilities: rule(state, actions, probabilities)


@compiled_as(holder)
def _holder(state: Any, action: Any) -> Any:
    rule = _rule_for(state, "holder")
    return lambda state, action: rule(state, action)


@compiled_as(winning_cells)
def _winning_cells(state: Any, cells: Any) -> Any:
    rule = _rule_for(state, "winning_cells")
    return lambda state, cells: rule(state, cells)


@compiled_as(score)
def _score(state: Any) -> Any:
    rule = _rule_for(state, "score")
    return lambda state: rule(state)


@compiled_as(largest_score)
def _largest_score(state: Any) -> Any:
    largest = float(game_of_type(state).largest_score or 0)
    return lambda state: largest


@compiled_as(ownership)
def _ownership(state: Any, cells: Any) -> Any:
    rule = _rule_for(state, "ownership")
    return lambda state, cells: rule(state, cells)


@compiled_as(awaits_chance)
def _awaits_chance(state: Any) -> Any:
    if type(game_of_type(state)).chance_outcomes is Game.chance_outcomes:
        return lambda state: False
    return lambda state: state.to_play == CHANCE


@compiled_as(reset)
def _reset(state: Any) -> Any:
    rule = _rule_for(state, "reset")
    return lambda state: rule(state)
