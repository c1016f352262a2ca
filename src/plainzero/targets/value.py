"""The value z, between the game's outcome and the search's value: the loss is (z − v)²."""

from typing import TYPE_CHECKING, Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import Game, State
from plainzero.targets.target import PROVEN, Batch, Choice, Column, Finished, Target

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output

USUAL_VARIANCE = 0.25
"""Of z if every game is won or lost, `value_mix` is 0.5 and the network is untrained: z is ±0.5."""

LARGEST_SCALE = 100.0
"""Largest factor of the value loss."""


@kernel_function
def write_value(finished: Finished, turn: int, state: State, rows: Any, row: int) -> None:
    """Writes how the game ended, or has to end if that is proven; and the search's value."""
    players, mover, move = rows.values.shape[1], state.to_play, finished.moves[turn]
    for k in range(players):
        player = (mover + k) % players
        is_proven = move.search == PROVEN
        rows.outcomes[row, k] = move.values[player] if is_proven else finished.returns[player]
        rows.values[row, k] = move.values[player]


def value_loss(output: "Output", batch: Batch) -> "Tensor":
    """[B] (z − v)², mean over players; −Σ z log p for a win/draw/loss head."""
    z = batch.values
    if output.outcome_logits is not None:
        chances = outcome_chances(z[:, 0])
        return -(chances * output.outcome_logits.float().log_softmax(1)).sum(1)
    if output.values.ndim == 1:
        return (z[:, 0] - output.values.float()) ** 2
    return ((z - output.values.float()) ** 2).mean(1)


def value_scale(batch: Batch) -> "Tensor | float":
    """[] the factor of the value loss: above 1 if a single player's scores hardly differ.

    Without it the policy's gradients would swamp the value's, and the network would learn little
    more than the mean.
    """
    if batch.values.shape[1] > 1:
        return 1.0
    shares = (batch.counts / batch.counts.sum())[:, None]
    deviations = batch.values - (shares * batch.values).sum()
    spread = (shares * deviations.square()).sum()
    return USUAL_VARIANCE / spread.clamp(USUAL_VARIANCE / LARGEST_SCALE, USUAL_VARIANCE)


def outcome_chances(z: "Tensor") -> "Tensor":
    """[B, 3] win, draw and loss; a z between two results is split between them."""
    import torch

    return torch.stack([z.clamp(min=0), 1 - z.abs(), (-z).clamp(min=0)], 1)


def _per_player(game: Game, _: Choice) -> tuple[int, ...]:
    return (game.num_players,)


VALUE = Target(
    name="value",
    option="value_weight",
    loss=value_loss,
    scale=value_scale,
    columns=(Column("outcomes", _per_player), Column("values", _per_player)),
    write=write_value,
)
