"""Auxiliary soft policy (KataGo): a head learns π^(1/4), in which all good moves count."""

from typing import TYPE_CHECKING

from plainzero.networks.head_kinds import HeadKind
from plainzero.targets.policy import policy_error
from plainzero.targets.target import Batch, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output

EXPONENT = 0.25


def soft_policy_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] −Σ σ log s, with σ in ratio of π^(1/4) and s over the legal moves."""
    softened = batch.targets["policies"] ** EXPONENT
    softened = softened / softened.sum(1, keepdim=True)
    return policy_error(softened, output.extras["soft_policy"], batch.legal)


SOFT_POLICY = Target(
    name="soft_policy",
    option="soft_policy",
    loss=soft_policy_loss,
    head=lambda _: HeadKind("policy"),
)
