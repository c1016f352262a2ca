"""Value targets over short horizons (KataGo): averages of the search's values in the turns to come.

With h turns as the horizon, the target of a position is Σ wₖ v₍ₜ₊ₖ₎ with wₖ = λᵏ / (1 + h) and
λ = h / (1 + h), so that it looks h turns ahead on average; the game's outcome has the weight that
is left. v are the root values of the moves searched from this one on, for the mover here.
"""

import math
from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import State
from plainzero.networks.head_kinds import HeadKind
from plainzero.targets.target import UNSEARCHED, Batch, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output


@kernel_function
def finish_short_values(
    finished: Finished, length: int, state: State, rows: Any, first: int, end: int
) -> None:
    """Averages backwards from the outcome, for each horizon and player."""
    if rows.short_values.shape[0] == 0:
        return
    for h in range(rows.decays.shape[0]):
        for player in range(finished.returns.shape[0]):
            average_back(finished, length, rows, end, h, player)


@kernel_function
def average_back(finished: Finished, length: int, rows: Any, end: int, h: int, player: int) -> None:
    """Writes one horizon's averages to the positions in which that player moves."""
    decay, row = float(rows.decays[h]), end
    average = float(finished.returns[player])
    for back in range(1, length + 1):
        move = finished.moves[length - back]
        if move.search != UNSEARCHED:
            average = decay * average + (1.0 - decay) * float(move.values[player])
        if move.is_target:
            row -= 1
            if rows.states[row].to_play == player:
                rows.short_values[row, h] = average


def short_values_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] the mean squared error over the horizons."""
    return ((batch.targets["short_values"] - output.extras["short_values"]) ** 2).mean(1)


def parse_horizons(text: str) -> tuple[float, ...]:
    """The numbers of turns in the setting `short_horizons`.

    Raises:
        ValueError: if they are none, or not above 0.
    """
    try:
        horizons = tuple(float(part) for part in text.split(","))
    except ValueError:
        horizons = (0.0,)
    if not all(0 < horizon < math.inf for horizon in horizons):
        raise ValueError(
            f"short_horizons is {text!r}; it must be numbers of turns above 0, such as 4,16"
        )
    return horizons


SHORT_VALUES = Target(
    name="short_values",
    option="short_values",
    loss=short_values_loss,
    head=lambda choice: HeadKind("numbers", len(choice.horizons)),
    columns=(Column("short_values", lambda _, choice: (len(choice.horizons),)),),
    finish=finish_short_values,
)
