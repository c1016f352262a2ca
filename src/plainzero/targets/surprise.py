"""Policy-surprise weighting (KataGo): what the network did not expect counts more.

The surprise is KL(π ‖ P), of the search's policy from the network's prior without noise. A share s
of a game's weight goes to its positions in ratio of it, the rest evenly: 1 − s + s · KL / mean KL.
"""

from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import State
from plainzero.targets.target import Batch, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor


@kernel_function
def write_surprise(finished: Finished, turn: int, state: State, rows: Any, row: int) -> None:
    """Copies what self-play recorded."""
    if rows.surprise.shape[0] > 0:
        rows.surprise[row] = finished.moves[turn].surprise


@kernel_function
def finish_surprise(
    finished: Finished, length: int, state: State, rows: Any, first: int, end: int
) -> None:
    """Divides by the mean over the game's positions; 1 for all if nothing was a surprise."""
    if rows.surprise.shape[0] == 0:
        return
    total = 0.0
    for row in range(first, end):
        total += float(rows.surprise[row])
    for row in range(first, end):
        share = float(rows.surprise[row]) / total if total > 0.0 else 1.0 / (end - first)
        rows.surprise[row] = share * (end - first)


def weigh_surprise(batch: Batch, share: float) -> "Tensor":
    """[B] the weights of positions."""
    return 1.0 - share + share * batch.targets["surprise"]


SURPRISE = Target(
    name="surprise",
    option="surprise",
    weigh=weigh_surprise,
    columns=(Column("surprise", lambda *_: ()),),
    write=write_surprise,
    finish=finish_surprise,
)
