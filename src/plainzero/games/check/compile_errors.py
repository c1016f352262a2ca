"""Numba's error messages put into words: the line, what is wrong, what to write instead."""

import linecache
import re
from pathlib import Path
from typing import Any

import numpy as np
from numba import typeof, types

from plainzero.compiler.source_digest import object_dependencies
from plainzero.games import rules
from plainzero.games.check.random_play import rule_place
from plainzero.games.contract import Game

# What to write instead, by a pattern of Numba's sentence (before the |) or of the line (after it).
_HINTS = (
    (
        r"getitem\(Tuple\(.*\|",
        "rows of unequal length, or of mixed types, cannot be indexed by a variable: make them "
        "alike, or use a NumPy array",
    ),
    (
        r"(allocate|NRT).*\|",
        "it makes a new array, list or text, for which a GPU has no memory: write the loop",
    ),
    (r"[Uu]ntyped global.*\|", "compiled rules know numbers, tuples, arrays and functions only"),
    (r"[Cc]annot unify.*\|", "a variable must keep one type: give it the same on every path"),
    (r"\|.*(\{.*:.*\}|\bdict\()", "use a field of fixed size in place of a dict"),
    (
        r"\|.*(\.append\(|\blist\(|= \[)",
        "use a field of fixed size, or a tuple, in place of a list",
    ),
    (r"Unknown attribute.*\|", "the state has only the fields that fields() declares"),
    (r"", "write it with loops, plain numbers and math"),
)
# Patterns of Numba's sentences, the most telling first; the rest of its message is its own stack.
_TELLING = (
    r"[Uu]ntyped global|Unknown attribute|Cannot unify|[Uu]nsupported|Use of|[Ii]nvalid use",
    r"[Cc]annot|[Nn]ot supported|must be",
)


def argument_types(game: Game) -> dict[str, tuple[Any, ...]]:
    """The types of Numba's with which each rule of the game is called."""
    state = typeof(np.zeros(1, game.dtype)).dtype
    actions, planes = types.int32[::1], types.Array(types.float32, len(game.observation_shape), "C")
    arguments = {
        "reset": (state,),
        "legal_actions": (state, actions),
        "playout_actions": (state, actions),
        "is_legal": (state, types.int64),
        "is_playout_action": (state, types.int64),
        "play": (state, types.int32),
        "observe": (state, planes),
        "chance_outcomes": (state, actions, types.float64[::1]),
        "holder": (state, types.int32),
        "winning_cells": (state, actions),
        "score": (state,),
        "ownership": (state, types.float32[::1]),
    }
    return {rule: arguments[rule] for rule in rules.rule_names(game)}


def explain(game: Game, rule: str, error: Exception) -> str:
    """The line that does not compile, why, and what to write instead."""
    text = str(error) or type(error).__name__
    reason = _reason(text)
    place, source = _fault_line(game, text) or (rule_place(game, rule), "")
    hint = next(hint for pattern, hint in _HINTS if re.search(pattern, f"{reason}|{source}"))
    return f"({place}): {source} {reason}; {hint}"


def _fault_line(game: Game, text: str) -> tuple[str, str] | None:
    """File and line that Numba's message names first, which is the innermost, and its source."""
    own = {path.name: path for path, _ in object_dependencies(game, Game)}
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
