"""The final score (KataGo), in games that count one: how far the mover will be ahead.

The target is the signed root of the score's share of the largest one, so that close games differ.
It is unknown in games that ended before the last move, by resignation or by a long proof.
"""

import math
from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import Game, State, has_score
from plainzero.games.rules import largest_score, score
from plainzero.networks.head_kinds import HeadKind
from plainzero.targets.target import Batch, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output


@kernel_function
def finish_scores(
    finished: Finished, length: int, state: State, rows: Any, first: int, end: int
) -> None:
    """Writes the final score of each position's mover, NaN if the game was not played out."""
    if rows.score.shape[0] == 0:
        return
    ahead = math.nan
    if state.is_over and largest_score(state) > 0.0:
        share = float(score(state)) / largest_score(state)
        ahead = math.sqrt(share) if share > 0.0 else -math.sqrt(-share)
    for row in range(first, end):
        rows.score[row] = ahead if rows.states[row].to_play == 0 else -ahead


def score_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] the squared error; 0 where the score is unknown."""
    target = batch.targets["score"]
    error = target.nan_to_num() - output.extras["score"][:, 0]
    return error**2 * ~target.isnan()


def _obstacle(game: Game) -> str:
    return "" if has_score(game) else "its rules have no score (docs/write-a-game.md)"


SCORE = Target(
    name="score",
    option="score",
    loss=score_loss,
    head=lambda _: HeadKind("numbers"),
    columns=(Column("score", lambda *_: ()),),
    finish=finish_scores,
    obstacle=_obstacle,
)
