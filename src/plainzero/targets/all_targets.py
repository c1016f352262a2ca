"""The list of all targets, and the compiled code that writes their columns."""

from typing import TYPE_CHECKING, Any, NamedTuple

from plainzero.compiler.call_in_turn import call_in_turn
from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import Game, State
from plainzero.games.rules import play
from plainzero.targets.policy import POLICY
from plainzero.targets.target import Choice, Column, Finished, Target
from plainzero.targets.value import VALUE

TARGETS = (POLICY, VALUE)
"""In the order in which their losses are added up."""

COLUMNS = tuple(column for target in TARGETS for column in target.columns)

if TYPE_CHECKING:
    Rows = Any
else:
    Rows = NamedTuple("Rows", [("states", Any), *((column.name, Any) for column in COLUMNS)])
    Rows.__doc__ = """Where positions are written: N states, and each column [N, …].

    A column that is not wanted has no rows.
    """

write_row = call_in_turn(
    "write_row",
    __name__,
    [target.write for target in TARGETS if target.write],
    ("finished", "turn", "state", "rows", "row"),
)
"""Writes the columns of a position."""


@kernel_function
def replay_game(finished: Finished, length: int, state: State, rows: Rows, row: int) -> int:
    """Plays `length` moves from `state` on; writes its targets from `row` on, returns the end."""
    for turn in range(length):
        if finished.moves[turn].is_target:
            rows.states[row] = state
            write_row(finished, turn, state, rows, row)
            row += 1
        play(state, finished.moves[turn].action)
    return row


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
