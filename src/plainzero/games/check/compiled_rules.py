"""The compiled rules: that they compile, and do what the uncompiled ones do."""

import linecache
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, typeof, types
from numba.core.errors import NumbaError, NumbaWarning

from plainzero.compiler.bind_rules import RuleError, source_files
from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games import rules
from plainzero.games.check.playout_actions import playout_actions
from plainzero.games.check.problems import Findings
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.check.taken_cells import winning_cells
from plainzero.games.contract import CHANCE, RULES, Game, has_own_playouts

_CELL_RULES = ("holder", "winning_cells")

# What to write instead, by what Numba's sentence (before the |) or the line it complains of has.
_HINTS = (
    (r"Untyped global.*\|", "compiled rules know numbers, tuples, arrays and functions only"),
    (r"[Cc]annot unify.*\|", "a variable must keep one type: give it the same on every path"),
    (r"\|.*(\{.*:.*\}|\bdict\()", "use a field of fixed size in place of a dict"),
    (
        r"\|.*(\.append\(|\blist\(|= \[)",
        "use a field of fixed size, or a tuple, in place of a list",
    ),
    (r"Unknown attribute.*\|", "the state has the fields of fields() only"),
    (r"", "write it with loops, plain numbers and math"),
)
# Numba's sentences, the most telling first; the rest of its message is the way through its code.
_TELLING = (
    r"[Uu]ntyped global|Unknown attribute|Cannot unify|[Uu]nsupported|Use of|[Ii]nvalid use",
    r"[Cc]annot|[Nn]ot supported|must be",
)


@Kernel
def _replay(states, played, legal, counts, probabilities, planes):  # type: ignore[no-untyped-def]
    """Plays the given actions from the first state on, writing what the rules say of each."""
    rules.reset(states[0])
    for ply in range(played.shape[0]):
        if states[ply].to_play == CHANCE:
            counts[ply] = rules.chance_outcomes(states[ply], legal[ply], probabilities)
        else:
            counts[ply] = rules.legal_actions(states[ply], legal[ply])
            rules.observe(states[ply], planes[ply])
        states[ply + 1] = states[ply]
        rules.play(states[ply + 1], played[ply])


@Kernel
def _read_cells(states, found):  # type: ignore[no-untyped-def]
    """Writes who holds each cell of a finished game, and which cells have won."""
    for action in range(found.shape[1]):
        found[0, action] = rules.holder(states[0], action)
    rules.winning_cells(states[0], found[1])


@Kernel
def _list_playouts(states, listed, counts):  # type: ignore[no-untyped-def]
    """Writes what random playouts choose among in each state where a player is to move."""
    for i in range(states.shape[0]):
        if states[i].to_play != CHANCE:
            counts[i] = rules.playout_actions(states[i], listed[i])


def check_compiled(findings: Findings, played: list[Played]) -> None:
    """Every rule compiles, and the games played uncompiled go the same way compiled."""
    game = findings.game
    try:
        tag = rules.register(game)
        for rule in (*RULES, *(_CELL_RULES if game.moves_take_cells else ())):
            rules.bound_rule(tag, rule)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            for one in played:
                if not _check_game_compiled(findings, tag, one):
                    return
    except RuleError as error:
        findings.add("does not compile", str(error))
    except NumbaError as error:
        _add_failed_rule(findings, error)
    except Exception as error:  # whatever else the compiler stumbles over
        findings.add("does not compile", f"the compiler gave up: {type(error).__name__}: {error}")


def _check_game_compiled(findings: Findings, tag: str, one: Played) -> bool:
    """Whether one game went the same way compiled; every position is compared."""
    game, plies = findings.game, len(one.actions)
    states = np.zeros(plies + 1, game.dtype)
    room = max(game.num_actions, game.max_chance_outcomes)
    legal, counts = np.zeros((plies, room), np.int32), np.zeros(plies, np.int64)
    planes = np.zeros((plies, *game.observation_shape), np.float32)
    actions = np.array(one.actions, np.int32)
    _replay(tag, states, actions, legal, counts, np.zeros(room), planes)
    for ply, state in enumerate(one.states):
        differs = first_difference(game, state, states[ply])
        if differs is not None:
            rule, what = "play" if ply else "reset", f"gives another state.{differs}"
        elif ply == plies:
            break
        elif legal[ply, : counts[ply]].tolist() != one.legal[ply]:
            is_chance = state.to_play == CHANCE
            rule, what = "chance_outcomes" if is_chance else "legal_actions", "writes other actions"
        elif state.to_play != CHANCE and not np.allclose(
            planes[ply], game.observation(state), rtol=1e-5, atol=1e-6
        ):
            rule, what = "observe", "writes other planes"
        else:
            continue
        findings.add(
            "compiled differs",
            f"{rule} compiled {what} at turn {ply} than uncompiled: look for small integers "
            f"that overflow, or for a global that changes ({rule_place(game, rule)})",
        )
        return False
    if has_own_playouts(game) and not _check_playouts_compiled(findings, tag, one):
        return False
    return not game.moves_take_cells or _check_cells_compiled(findings, tag, one)


def _check_playouts_compiled(findings: Findings, tag: str, one: Played) -> bool:
    """Whether random playouts choose among the same actions compiled."""
    game, states = findings.game, np.array(one.states[:-1], findings.game.dtype)
    listed = np.zeros((len(states), game.num_actions), np.int32)
    counts = np.zeros(len(states), np.int64)
    _list_playouts(tag, states, listed, counts)
    for ply, state in enumerate(one.states[:-1]):
        if state.to_play == CHANCE or listed[ply, : counts[ply]].tolist() == playout_actions(
            game, state
        ):
            continue
        findings.add(
            "compiled differs",
            f"playout_actions compiled writes other actions at turn {ply} than uncompiled: look "
            "for small integers that overflow, or for a global that changes "
            f"({rule_place(game, 'playout_actions')})",
        )
        return False
    return True


def _check_cells_compiled(findings: Findings, tag: str, one: Played) -> bool:
    """Whether the last position's cells are held and have won as uncompiled."""
    game, states = findings.game, np.array(one.states[-1:], findings.game.dtype)
    found = np.zeros((2, game.num_actions), np.int32)
    _read_cells(tag, states, found)
    held = [int(game.holder(states[0], action)) for action in range(game.num_actions)]
    won = np.flatnonzero(found[1]).tolist() == winning_cells(game, states[0])
    for rule, is_alike in zip(_CELL_RULES, (found[0].tolist() == held, won), strict=True):
        if not is_alike:
            findings.add(
                "compiled differs",
                f"{rule} compiled says something else than uncompiled: look for small integers "
                f"that overflow, or for a global that changes ({rule_place(game, rule)})",
            )
            return False
    return True


def _add_failed_rule(findings: Findings, error: NumbaError) -> None:
    """Compiles rule by rule to name the one that fails, its line, and what to write instead."""
    game = findings.game
    failed = "a rule"
    for rule, arguments in _argument_types(game).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                njit(rules.bound_rule(game.tag, rule)).compile(arguments)
        except NumbaError as own_error:
            failed, error = rule, own_error
            break
    reason = _reason(str(error))
    place, source = _fault_line(game, str(error)) or (rule_place(game, "play"), "")
    hint = next(hint for pattern, hint in _HINTS if re.search(pattern, f"{reason}|{source}"))
    findings.add(
        "does not compile", f"{failed} does not compile ({place}): {source} {reason}; {hint}"
    )


def _argument_types(game: Game) -> dict[str, tuple[Any, ...]]:
    state = typeof(np.zeros(1, game.dtype)).dtype
    actions, planes = types.int32[::1], types.Array(types.float32, len(game.observation_shape), "C")
    return {
        "reset": (state,),
        "legal_actions": (state, actions),
        "playout_actions": (state, actions),
        "play": (state, types.int32),
        "observe": (state, planes),
        "chance_outcomes": (state, actions, types.float64[::1]),
        "holder": (state, types.int32),
        "winning_cells": (state, actions),
    }


def _fault_line(game: Game, text: str) -> tuple[str, str] | None:
    """File and line that Numba's message names first, which is the innermost, and what it says."""
    own = {path.name: path for path, _ in source_files(game, Game)}
    for file, line, at_file, at_line in re.findall(
        r'File "([^"]+)", line (\d+)|at (\S+\.py) \((\d+)\)', text
    ):
        name, number = Path(file or at_file).name, int(line or at_line)
        if name in own:
            source = linecache.getline(str(own[name]), number).partition("#")[0].strip()
            return f"{name}, line {number}", f"`{source}`:"
    return None


def _reason(text: str) -> str:
    """The sentence of Numba's message that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [re.sub(r",? defined at .*|: %.*", "", line) for line in lines]
    for pattern in _TELLING:
        for line in lines:
            if re.search(pattern, line) and not line.startswith(("During", "Failed")):
                return line[:200]
    calls = [line for line in lines if line.startswith(">>>")]  # the innermost comes last
    sentences = [line for line in lines if not line.startswith(("During", "Failed", "File"))]
    return f"there is no {calls[-1][4:]}"[:200] if calls else (sentences or lines)[0][:200]
