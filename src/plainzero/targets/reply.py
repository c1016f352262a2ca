"""The opponent's reply (KataGo): a head learns the policy of the next move, if another player's.

There is none if the next search was not a target, as after a cheap one, or if the game ends.
"""

from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import Game, State
from plainzero.networks.head_kinds import HeadKind
from plainzero.targets.target import UNSEARCHED, Batch, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output


@kernel_function
def finish_replies(
    finished: Finished, length: int, state: State, rows: Any, first: int, end: int
) -> None:
    """Copies each policy to the position before, or writes zeros there."""
    if rows.replies.shape[0] == 0:
        return
    row, is_next = end, False  # whether the next searched move is the target in that row
    for back in range(1, length + 1):
        move = finished.moves[length - back]
        if move.is_target:
            has_reply = is_next and rows.states[row - 1].to_play != rows.states[row].to_play
            row -= 1
            for action in range(rows.replies.shape[1]):
                reply = rows.policies[row + 1, action] if has_reply else 0.0
                rows.replies[row, action] = reply
        if move.search != UNSEARCHED:
            is_next = move.is_target


def reply_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] −Σ ρ log r; 0 without a reply.

    Over all actions: which of them will be legal depends on the move in between.
    """
    logs = output.extras["reply"].log_softmax(1)
    return -(batch.targets["replies"] * logs).sum(1)


def _obstacle(game: Game) -> str:
    return "" if game.num_players > 1 else "the game has one player, and thus no opponent"


REPLY = Target(
    name="reply",
    option="reply",
    loss=reply_loss,
    head=lambda _: HeadKind("policy"),
    columns=(Column("replies", lambda game, _: (game.num_actions,), "actions"),),
    finish=finish_replies,
    obstacle=_obstacle,
)
