"""The same games played again: rules depend on the state alone, and their numbers fit."""

import contextlib
from typing import Any

import numpy as np

from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place, step
from plainzero.games.check.watchdog import TookTooLong
from plainzero.games.contract import RULES, Game, State

_NARROW_BYTES = 2  # wider integers may wrap around on purpose, in a hash


def check_repeated(problems: Problems, played: list[Played]) -> None:
    """The same actions lead to the same states, also when all games are played in parallel."""
    game = problems.game
    for one in played:
        differs = first_difference(game, played[0].states[0], one.states[0])
        if differs is not None:
            _add_leak(problems, differs, 0)
            raise Stop
    with problems.running("reset"):
        states = [game.new_state() for _ in played]
    for ply in range(max((len(one.states) for one in played), default=0)):
        for state, one in zip(states, played, strict=True):
            if ply >= len(one.states):
                continue
            differs = first_difference(game, one.states[ply], state)
            if differs is not None:
                _add_leak(problems, differs, ply)
                raise Stop
            if ply < len(one.actions):
                step(problems, state, one.actions[ply])


def _add_leak(problems: Problems, name: str, ply: int) -> None:
    game = problems.game
    for rule in RULES:
        if "random" in _names_used(game, rule):
            problems.add(
                "random",
                f"the same actions give another state.{name} at turn {ply}, and {rule} uses "
                f"random; let chance decide through CHANCE and chance_outcomes "
                f"({rule_place(game, rule)})",
            )
            return
    rule = "play" if ply else "reset"
    problems.add(
        "leak",
        f"the same actions lead to another state.{name} at turn {ply}: something outside the state "
        f"remembers earlier games; keep it in fields() ({rule_place(game, rule)})",
    )


def _names_used(game: Game, rule: str) -> tuple[str, ...]:
    return tuple(getattr(type(game), rule).__code__.co_names)


def check_overflow(problems: Problems, played: list[Played]) -> None:
    """Games replayed with wide integers in place of small ones have the same numbers."""
    game = problems.game
    wide = _wide_dtype(game)
    names = [name for name in game.fields() if wide[name].base.kind in "iu"]
    if wide == game.dtype:
        return
    for one in played:
        # What goes wrong with wide integers alone says nothing of the game.
        with contextlib.suppress(Exception, TookTooLong), problems.watchdog.watching():
            state = np.zeros(1, wide)[0]
            game.reset(state)
            for ply, narrow in enumerate(one.states):
                for name in names:
                    if not np.array_equal(narrow[name], state[name]):
                        _add_overflow(problems, one, ply, name, state)
                        return
                if ply < len(one.actions):
                    game.play(state, one.actions[ply])
                    state.turn += 1


def _wide_dtype(game: Game) -> np.dtype[Any]:
    """The state record with every small integer of the game's own made a 64-bit one."""
    own = game.fields()
    record = []
    for name in game.dtype.names or ():
        kind, shape = game.dtype[name].base, game.dtype[name].shape
        is_small = name in own and kind.kind in "iu" and kind.itemsize <= _NARROW_BYTES
        record.append((name, np.dtype(np.int64) if is_small else kind, shape))
    return np.dtype((State, np.dtype(record, align=True)))


def _add_overflow(problems: Problems, one: Played, ply: int, name: str, wide: Any) -> None:
    kind = problems.game.fields()[name].dtype
    narrow, right = np.ravel(one.states[ply][name]), np.ravel(wide[name])
    at = int(np.flatnonzero(narrow != right)[0])
    limits = np.iinfo(kind)
    remedy = (
        "a sum or product of small integers overflows on the way, so make one of them an int(...)"
        if limits.min <= right[at] <= limits.max
        else f"{kind} ends at {limits.max}, so declare a wider type in fields()"
    )
    problems.add(
        "overflow",
        f"state.{name} holds {narrow[at]} in place of {right[at]} after {ply} plays: {remedy} "
        f"({_overflow_place(problems, one, ply)})",
    )


def _overflow_place(problems: Problems, one: Played, ply: int) -> str:
    """The line that overflows if NumPy notices, else where the rule begins."""
    game = problems.game
    rule = "play" if ply else "reset"
    try:
        with np.errstate(over="raise"):
            if ply:
                game.play(game.copy(one.states[ply - 1]), one.actions[ply - 1])
            else:
                game.new_state()
    except FloatingPointError as error:
        return problems.place(error)
    return rule_place(game, rule)
