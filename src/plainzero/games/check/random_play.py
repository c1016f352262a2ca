"""Random games without the compiler: moves, players, chance, returns, length, leaks."""

import inspect
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.check.problems import Findings, Stop
from plainzero.games.contract import CHANCE, RULES, Game

_PLIES = 2000  # enough to see much, little enough for a few seconds
_GUARD = 64  # room behind the actions, to see who writes there
_UNTOUCHED = -(2**31)
_TOLERANCE = 1e-6


class Played(NamedTuple):
    """One random game: the positions from the first to the last, and what was played in each."""

    states: list[Any]
    actions: list[int]  # one fewer
    legal: list[list[int]]  # what was legal in each, chance's outcomes included


def fields_of(game: Game, state: Any) -> dict[str, NDArray[Any]]:
    """A state's fields by name; padding and the field that carries the tag are left out."""
    return {name: np.array(state[name]) for name in state.dtype.names if name != game.tag}


def first_difference(game: Game, state: Any, other: Any) -> str | None:
    """The field in which two states differ, or None; fractions may differ by rounding."""
    for name, value in fields_of(game, state).items():
        same = np.array_equal(value, other[name])
        if not same and value.dtype.kind == "f":
            same = np.allclose(value, other[name], rtol=1e-5, atol=_TOLERANCE, equal_nan=True)
        if not same:
            return name
    return None


def check_declarations(findings: Findings) -> None:
    """Sizes and fields are what arrays can be made of, and the game can be observed."""
    game, name = findings.game, type(findings.game).__name__
    for attribute in ("num_actions", "max_turns", "max_chance_outcomes"):
        value = getattr(game, attribute)
        if type(value) is not int or value < 1:
            findings.add("declaration", f"{name}.{attribute} must be a positive int, not {value!r}")
    shape = game.observation_shape
    if not (isinstance(shape, tuple) and shape and all(type(n) is int and n > 0 for n in shape)):
        findings.add(
            "declaration",
            f"{name}.observation_shape must be a tuple of positive ints, not {shape!r}",
        )
    if type(game).observe is Game.observe:
        findings.add(
            "no observe",
            f"{name} has no observe(): a network would see nothing; write the position into planes",
        )
    _check_fields(findings)
    if any(finding.kind in ("declaration", "fields") for finding in findings):
        raise Stop


def _check_fields(findings: Findings) -> None:
    game, name = findings.game, type(findings.game).__name__
    try:
        for key, value in game.fields().items():
            if value.dtype.kind not in "iufb" or value.dtype.str == "<f2":
                findings.add(
                    "fields",
                    f"{name}.fields(): {key} has type {value.dtype}; use a NumPy integer, "
                    "np.bool_, np.float32 or np.float64",
                )
        assert game.dtype.itemsize > 0
    except Exception as error:
        findings.add(
            "fields",
            f"{name}.fields() gives no state record: {error} ({rule_place(game, 'fields')}); "
            'return {"board": field(np.int8, (3, 3)), …}',
        )


def play_games(findings: Findings, games: int, seed: int) -> list[Played]:
    """Plays random games to their end, each ply checked; those that broke off are left out."""
    played = []
    plies = 0
    for number in range(games):
        if number >= 2 and plies > _PLIES:
            break
        try:
            played.append(_play_one(findings, np.random.default_rng((seed, number))))
            plies += len(played[-1].actions)
        except Stop:
            break
    return played


def _play_one(findings: Findings, rng: np.random.Generator) -> Played:
    game = findings.game
    with findings.running("reset"):
        state = game.new_state()
    played = Played([], [], [])
    while True:
        _check_standing(findings, state)
        played.states.append(game.copy(state))
        if state.is_over:
            return played
        if state.turn >= game.max_turns:
            findings.add(
                "length",
                f"a game is not over after max_turns = {game.max_turns} plays; end it, or give a "
                f"true upper bound ({rule_place(game, 'play')})",
            )
            raise Stop
        legal, weights = moves(findings, state)
        action = legal[rng.choice(len(legal), p=weights)]
        step(findings, state, action)
        played.actions.append(action)
        played.legal.append(legal)


def _check_standing(findings: Findings, state: Any) -> None:
    """Who is to play exists, and the returns are those of a game that goes on, or is over."""
    game, where = findings.game, f"at turn {state.turn}"
    if not state.is_over and not CHANCE <= state.to_play < game.num_players:
        findings.add(
            "player",
            f"to_play is {state.to_play} {where}; it must be 0 to {game.num_players - 1}, or "
            f"CHANCE ({rule_place(game, 'play')})",
        )
        raise Stop
    returns = np.array(state.returns, np.float64)
    place = rule_place(game, "play")
    if not state.is_over and returns.any():
        findings.add(
            "early returns",
            f"returns are {returns} {where}, and the game is not over; write them at its end only, "
            f"with win, draw or finish ({place})",
        )
    if not np.all(np.abs(returns) <= 1 + _TOLERANCE):  # also false for NaN
        findings.add(
            "returns range", f"returns are {returns} {where}; each must be in [-1, 1] ({place})"
        )
    elif game.num_players > 1 and abs(returns.sum()) > _TOLERANCE:
        findings.add(
            "zero sum",
            f"returns {returns} add up to {returns.sum():g} {where}; what one player wins "
            f"the others must lose ({place})",
        )


def _as_count(returned: Any) -> int:
    if not isinstance(returned, int | np.integer):
        raise TypeError(f"it must return how many actions it wrote, and it returned {returned!r}")
    return int(returned)


def moves(findings: Findings, state: Any) -> tuple[list[int], NDArray[np.float64]]:
    """What may be played and with which probability, after checking how the rules write it."""
    if state.to_play == CHANCE:
        return _outcomes(findings, state)
    game, where = findings.game, f"at turn {state.turn}"
    before = game.copy(state)
    actions = np.full(game.num_actions + _GUARD, _UNTOUCHED, np.int32)
    with findings.running("legal_actions", f" {where}"):
        count = _as_count(game.legal_actions(state, actions))
    problem = ""
    listed = actions[: max(count, 0)].tolist()
    if (actions[game.num_actions :] != _UNTOUCHED).any() or not 0 <= count <= game.num_actions:
        problem = f"writes or counts more than num_actions = {game.num_actions} actions"
    elif count == 0:
        problem = (
            "finds no legal action although the game is not over; end it in play, or add a pass"
        )
    elif not all(0 <= action < game.num_actions for action in listed):
        problem = (
            f"writes an action outside 0 to {game.num_actions - 1}, or counts too many: {listed}"
        )
    elif len(set(listed)) < count:
        problem = f"writes an action twice: {listed}"
    elif first_difference(game, before, state) is not None:
        problem = f"changes state.{first_difference(game, before, state)}; only play may"
    if problem:
        place = rule_place(game, "legal_actions")
        findings.add("legal actions", f"legal_actions {problem} ({where}; {place})")
        raise Stop
    return listed, np.full(count, 1 / count)


def _outcomes(findings: Findings, state: Any) -> tuple[list[int], NDArray[np.float64]]:
    game, room = findings.game, findings.game.max_chance_outcomes
    outcomes = np.full(room + _GUARD, _UNTOUCHED, np.int32)
    probabilities = np.full(room + _GUARD, np.nan)
    with findings.running("chance_outcomes", f" at turn {state.turn}"):
        count = int(game.chance_outcomes(state, outcomes, probabilities))
    listed, weights = outcomes[: max(count, 0)].tolist(), probabilities[: max(count, 0)]
    problem = ""
    if (outcomes[room:] != _UNTOUCHED).any() or not 0 <= count <= room:
        problem = f"writes or counts more than max_chance_outcomes = {room} outcomes"
    elif count == 0:
        problem = "finds no outcome although to_play is CHANCE"
    elif len(set(listed)) < count:
        problem = f"writes an outcome twice: {listed}"
    elif min(listed) < 0:
        problem = f"writes a negative outcome, or counts too many: {listed}"
    elif not (weights >= 0).all():
        problem = f"writes a probability that is negative or no number: {weights}"
    elif abs(weights.sum() - 1) > _TOLERANCE:
        problem = f"writes probabilities that add up to {weights.sum():.6g}, not 1"
    if problem:
        place = rule_place(game, "chance_outcomes")
        findings.add("chance", f"chance_outcomes {problem} (at turn {state.turn}; {place})")
        raise Stop
    return listed, weights / weights.sum()


def step(findings: Findings, state: Any, action: int) -> None:
    """Plays one action in place, as the framework would."""
    turn = int(state.turn)
    with findings.running("play", f" at turn {turn}, action {action}"):
        findings.game.play(state, action)
    if state.turn != turn:
        findings.add(
            "turn",
            f"play changes state.turn from {turn} to {state.turn}; the framework counts the plays, "
            f"so leave it alone ({rule_place(findings.game, 'play')})",
        )
        raise Stop
    state.turn += 1


def check_repeated(findings: Findings, played: list[Played]) -> None:
    """The same actions give the same states again, also when all games are played side by side."""
    game = findings.game
    for one in played:
        differs = first_difference(game, played[0].states[0], one.states[0])
        if differs is not None:
            _add_leak(findings, differs, 0)
            raise Stop
    with findings.running("reset"):
        states = [game.new_state() for _ in played]
    for ply in range(max((len(one.states) for one in played), default=0)):
        for state, one in zip(states, played, strict=True):
            if ply >= len(one.states):
                continue
            differs = first_difference(game, one.states[ply], state)
            if differs is not None:
                _add_leak(findings, differs, ply)
                raise Stop
            if ply < len(one.actions):
                step(findings, state, one.actions[ply])


def _add_leak(findings: Findings, name: str, ply: int) -> None:
    game = findings.game
    for rule in RULES:
        if "random" in _names_used(game, rule):
            findings.add(
                "random",
                f"the same actions give another state.{name} at turn {ply}, and {rule} uses "
                f"random; let chance decide through CHANCE and chance_outcomes "
                f"({rule_place(game, rule)})",
            )
            return
    rule = "play" if ply else "reset"
    findings.add(
        "leak",
        f"the same actions give another state.{name} at turn {ply}: something outside the state "
        f"remembers earlier games; keep all of it in fields() ({rule_place(game, rule)})",
    )


def _names_used(game: Game, rule: str) -> tuple[str, ...]:
    return tuple(getattr(type(game), rule).__code__.co_names)


def rule_place(game: Game, rule: str) -> str:
    """File and line where a rule begins."""
    function = inspect.unwrap(getattr(type(game), rule))
    code = function.__code__
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
