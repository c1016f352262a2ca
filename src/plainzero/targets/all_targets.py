"""The list of all targets, and the compiled code that writes their columns."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.call_in_turn import call_in_turn
from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import Game, State
from plainzero.games.rules import play
from plainzero.targets.ownership import OWNERSHIP
from plainzero.targets.policy import POLICY
from plainzero.targets.reply import REPLY
from plainzero.targets.score import SCORE
from plainzero.targets.short_values import SHORT_VALUES
from plainzero.targets.soft_policy import SOFT_POLICY
from plainzero.targets.surprise import SURPRISE
from plainzero.targets.target import Choice, Column, Finished, Target
from plainzero.targets.value import VALUE

TARGETS = (POLICY, VALUE, SOFT_POLICY, REPLY, SHORT_VALUES, SCORE, OWNERSHIP, SURPRISE)
"""In the order in which their losses are added up."""

COLUMNS = tuple(column for target in TARGETS for column in target.columns)

if TYPE_CHECKING:
    Rows = Any
else:
    _FIELDS = "states", *(column.name for column in COLUMNS), "decays"
    Rows = NamedTuple("Rows", [(name, Any) for name in _FIELDS])
    Rows.__doc__ = """Where positions are written: N states, and each column [N, …].

    A column that is not wanted has no rows. `decays` [H] are the λ of short_values.
    """

write_row = call_in_turn(
    "write_row",
    __name__,
    [target.write for target in TARGETS if target.write],
    ("finished", "turn", "state", "rows", "row"),
)
"""Writes the columns of a position."""


finish_rows = call_in_turn(
    "finish_rows",
    __name__,
    [target.finish for target in TARGETS if target.finish],
    ("finished", "length", "state", "rows", "first", "end"),
)
"""Writes what the end of a game adds to its positions."""


@kernel_function
def replay_game(finished: Finished, length: int, state: State, rows: Rows, row: int) -> int:
    """Plays `length` moves from `state` on; writes its targets from `row` on, returns the end."""
    end = row
    for turn in range(length):
        if finished.moves[turn].is_target:
            rows.states[end] = state
            write_row(finished, turn, state, rows, end)
            end += 1
        play(state, finished.moves[turn].action)
    finish_rows(finished, length, state, rows, row, end)
    return end


def chosen_targets(choice: Choice) -> tuple[Target, ...]:
    """The targets of that choice."""
    return tuple(target for target in TARGETS if target.name in choice.names)


def wanted_columns(choice: Choice) -> tuple[Column, ...]:
    """The columns that those targets need."""
    return tuple(column for target in chosen_targets(choice) for column in target.columns)


def row_shapes(game: Game, choice: Choice, count: int) -> dict[str, tuple[int, ...]]:
    """The shape of each column for `count` positions; one that is not wanted has no rows."""
    wanted = wanted_columns(choice)
    return {
        column.name: (count if column in wanted else 0, *column.shape(game, choice))
        for column in COLUMNS
    }


def decays_of(choice: Choice) -> NDArray[np.float64]:
    """[H] the λ of each horizon of short_values."""
    horizons = np.array(choice.horizons, np.float64)
    return horizons / (1 + horizons)
