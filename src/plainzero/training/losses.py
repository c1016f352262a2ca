"""The loss of each position, which is a weighted sum over targets, and further measures."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from plainzero.games.contract import Game
from plainzero.networks.architectures import Network, Output
from plainzero.networks.extra_heads import ExtraHeads, make_extra_heads
from plainzero.targets.all_targets import TARGETS, chosen_targets
from plainzero.targets.policy import log_policy
from plainzero.targets.target import Batch
from plainzero.training.settings import TrainingConfig, choice_of

Losses = Mapping[str, Tensor]
"""[B] the loss of each position, by the name of the target."""


def new_extra_heads(game: Game, network: Network, config: TrainingConfig, seed: int) -> ExtraHeads:
    """New heads for the targets of a run that its network has none for."""
    choice = choice_of(config)
    kinds = {t.name: t.head(choice) for t in chosen_targets(choice) if t.head is not None}
    return make_extra_heads(game, network, kinds, seed)


def loss_weights(config: TrainingConfig) -> dict[str, float]:
    """The weights of the losses of a run's targets, by name."""
    targets = (t for t in chosen_targets(choice_of(config)) if t.loss is not None)
    return {t.name: getattr(config, t.option) if t.option else 1.0 for t in targets}


def compute_losses(output: Output, batch: Batch, config: TrainingConfig) -> Losses:
    """The losses of a network's output for a batch."""
    targets = chosen_targets(choice_of(config))
    return {t.name: t.loss(output, batch) for t in targets if t.loss is not None}


def scale_weights(weights: Mapping[str, float], batch: Batch) -> dict[str, Tensor | float]:
    """The weights of the losses in a step from this batch."""
    scales = {t.name: t.scale(batch) for t in TARGETS if t.scale is not None}
    return {name: weight * scales.get(name, 1.0) for name, weight in weights.items()}


def add_losses(losses: Losses, weights: Mapping[str, Tensor | float]) -> Tensor:
    """[B] their weighted sum."""
    first, *others = (weights[name] * loss for name, loss in losses.items())
    for loss in others:
        first = first + loss
    return first


class Measures(NamedTuple):
    """Per position [B]."""

    policy_entropy: Tensor  # of the network's policy
    target_entropy: Tensor  # of the search's
    agreement: Tensor  # 1 where network and search prefer the same move, else 0
    value: Tensor  # v, for the mover


def measure(output: Output, batch: Batch) -> Measures:
    """The measures of a network's output for a batch."""
    logs, policies = log_policy(output.logits, batch.legal), batch.targets["policies"]
    return Measures(
        policy_entropy=-(logs.exp() * logs).sum(1),
        target_entropy=-torch.special.xlogy(policies, policies).sum(1),
        agreement=(logs.argmax(1) == policies.argmax(1)).float(),
        value=mover_values(output),
    )


def mover_values(output: Output) -> Tensor:
    """[B] v for the mover."""
    values = output.values.float()
    return values if values.ndim == 1 else values[:, 0]
