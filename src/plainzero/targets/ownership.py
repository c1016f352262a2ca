"""Ownership (KataGo), in games that have it: who holds each cell at the end.

A cell is 1 if the position's mover will hold it, −1 if the opponent will. All are unknown in games
that ended before the last move, by resignation or by a long proof.
"""

import math
from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import Game, State, has_ownership
from plainzero.games.rules import ownership
from plainzero.networks.head_kinds import HeadKind
from plainzero.targets.target import Batch, Choice, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output


@kernel_function
def finish_ownership(
    finished: Finished, length: int, state: State, rows: Any, first: int, end: int
) -> None:
    """Writes who holds the cells at the end to all rows of the game, the last one first."""
    if rows.ownership.shape[0] == 0 or first == end:
        return
    found = rows.ownership[end - 1]
    for cell in range(found.shape[0]):
        found[cell] = 0.0 if state.is_over else math.nan
    if state.is_over:
        ownership(state, found)
    for back in range(end - first):  # the last row at last: it is where the others are copied from
        row = first + back
        sign = 1.0 if rows.states[row].to_play == 0 else -1.0
        for cell in range(found.shape[0]):
            rows.ownership[row, cell] = sign * found[cell]


def ownership_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] the mean squared error over the cells; 0 where they are unknown."""
    target = batch.targets["ownership"]
    error = (target.nan_to_num() - output.extras["ownership"]) ** 2
    return (error * ~target.isnan()).mean(1)


def _cells(game: Game, _: Choice) -> tuple[int, ...]:
    return (math.prod(game.observation_shape[1:]),)


def _obstacle(game: Game) -> str:
    return "" if has_ownership(game) else "its rules have no ownership (docs/write-a-game.md)"


OWNERSHIP = Target(
    name="ownership",
    option="ownership",
    loss=ownership_loss,
    head=lambda _: HeadKind("cells"),
    columns=(Column("ownership", _cells, "cells"),),
    finish=finish_ownership,
    obstacle=_obstacle,
)
