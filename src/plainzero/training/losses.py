"""The loss (z − v)² − Σ π log p of each position, and further measures of a batch."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from plainzero.networks.architectures import Output


class Losses(NamedTuple):
    """Per position [B]."""

    policy: Tensor  # −Σ π log p
    value: Tensor  # (z − v)², mean over players; −Σ z log p for a win/draw/loss head


def compute_losses(output: Output, policies: Tensor, values: Tensor) -> Losses:
    """The losses against policies π [B, A] and values z [B, P], the mover's first."""
    policy = -(policies * functional.log_softmax(output.logits.float(), 1)).sum(1)
    if output.outcome_logits is not None:
        chances = outcome_chances(values[:, 0])
        value = -(chances * functional.log_softmax(output.outcome_logits.float(), 1)).sum(1)
    elif output.values.ndim == 1:
        value = (values[:, 0] - output.values.float()) ** 2
    else:
        value = ((values - output.values.float()) ** 2).mean(1)
    return Losses(policy, value)


def outcome_chances(z: Tensor) -> Tensor:
    """[B, 3] win, draw and loss; a z between two results is split between them."""
    return torch.stack([z.clamp(min=0), 1 - z.abs(), (-z).clamp(min=0)], 1)


class Measures(NamedTuple):
    """Per position [B]."""

    policy_loss: Tensor
    value_loss: Tensor
    policy_entropy: Tensor  # of the network's policy
    target_entropy: Tensor  # of the search's
    agreement: Tensor  # 1 where network and search prefer the same move, else 0
    value: Tensor  # v, for the mover


def measure(output: Output, policies: Tensor, losses: Losses) -> Measures:
    """The measures of a batch with the targets π [B, A]."""
    logs = functional.log_softmax(output.logits.float(), 1)
    return Measures(
        policy_loss=losses.policy,
        value_loss=losses.value,
        policy_entropy=-(logs.exp() * logs).sum(1),
        target_entropy=-torch.special.xlogy(policies, policies).sum(1),
        agreement=(logs.argmax(1) == policies.argmax(1)).float(),
        value=mover_values(output),
    )


def mover_values(output: Output) -> Tensor:
    """[B] v for the mover."""
    values = output.values.float()
    return values if values.ndim == 1 else values[:, 0]
