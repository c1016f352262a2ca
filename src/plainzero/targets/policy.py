"""The search's policy π: the loss is −Σ π log p, with p over the legal moves."""

from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import State
from plainzero.targets.target import Batch, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output


_ILLEGAL = -1e9
"""A logit whose probability is 0, and stays finite where it is multiplied by 0."""


@kernel_function
def write_policy(finished: Finished, turn: int, state: State, rows: Any, row: int) -> None:
    """Copies the search's policy."""
    for action in range(rows.policies.shape[1]):
        rows.policies[row, action] = finished.policies[turn, action]


def policy_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] −Σ π log p."""
    return policy_error(batch.targets["policies"], output.logits, batch.legal)


def policy_error(policies: "Tensor", logits: "Tensor", legal: "Tensor") -> "Tensor":
    """[B] −Σ π log p; what π gives to illegal actions, as games of other rules may, counts 0."""
    return -(policies * log_policy(logits, legal).masked_fill(~legal, 0.0)).sum(1)


def log_policy(logits: "Tensor", legal: "Tensor") -> "Tensor":
    """[B, A] log p over the legal actions; a very low number for all others, which p leaves out."""
    return logits.float().masked_fill(~legal, _ILLEGAL).log_softmax(1)


POLICY = Target(
    name="policy",
    option="",
    loss=policy_loss,
    columns=(Column("policies", lambda game, _: (game.num_actions,), "actions"),),
    write=write_policy,
)
