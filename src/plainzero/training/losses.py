"""(z − v)² − Σ π log p, position by position, and what else one wants to know of a batch."""

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
    """The losses of policies π [B, A] and values z [B, P], which are from the mover on."""
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
    """[B, 3] win, draw and loss; a z between results is shared by its neighbours."""
    return torch.stack([z.clamp(min=0), 1 - z.abs(), (-z).clamp(min=0)], 1)


class Measures(NamedTuple):
    """What a batch says of the network, as sums over its positions."""

    policy_loss: float
    value_loss: float
    policy_entropy: float  # of the network's policy
    target_entropy: float  # of the search's
    agreement: float  # the network's first choice is the search's
    value_sum: float  # of v, for the mover
    positions: int


def measure(output: Output, policies: Tensor, losses: Losses) -> Measures:
    """Sums over the batch."""
    with torch.no_grad():
        each = measure_each(output, policies, losses)
        return Measures._make([*(float(column.sum()) for column in each), len(policies)])


def measure_each(output: Output, policies: Tensor, losses: Losses) -> list[Tensor]:
    """What `Measures` sums [B] each, in its order and but for the count."""
    logs = functional.log_softmax(output.logits.float(), 1)
    entropy = -(logs.exp() * logs).sum(1)
    target_entropy = -torch.special.xlogy(policies, policies).sum(1)
    agreement = (logs.argmax(1) == policies.argmax(1)).float()
    return [
        losses.policy,
        losses.value,
        entropy,
        target_entropy,
        agreement,
        mover_values(output),
    ]


def mover_values(output: Output) -> Tensor:
    """[B] v for the mover."""
    values = output.values.float()
    return values if values.ndim == 1 else values[:, 0]
