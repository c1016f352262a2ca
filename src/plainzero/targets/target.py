"""What a target consists of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from plainzero.games.contract import Game
from plainzero.networks.head_kinds import HeadKind

if TYPE_CHECKING:
    from torch import Tensor

    from plainzero.networks.architectures import Output

UNSEARCHED, SEARCHED, PROVEN = range(3)
"""How a move of a finished game was found; the last if the search proved the position's value."""


class Choice(NamedTuple):
    """The targets that a run learns."""

    names: tuple[str, ...] = ("policy", "value")
    horizons: tuple[float, ...] = ()  # of short_values


USUAL_CHOICE = Choice()
"""The targets that every run learns."""


class Column(NamedTuple):
    """Numbers (float32) that are stored with each position."""

    name: str
    shape: Callable[[Game, Choice], tuple[int, ...]]  # of one position's numbers
    turns: Literal["", "actions", "cells"] = ""
    """What symmetries permute: one number per action, or per cell of the board; "": nothing."""


class Finished(NamedTuple):
    """A finished game, as compiled code sees it. T moves, A actions, P players."""

    moves: Any  # [T] see selfplay's move_dtype
    policies: Any  # [T, A] of the search; undefined for moves that are no targets
    returns: Any  # [P]


class Batch(NamedTuple):
    """The positions of one step. B is batch_size, A actions, P players.

    Values and outcomes start with the mover's. Padding rows, at the end, repeat the first position
    and weigh nothing.
    """

    planes: "Tensor"  # [B, *shape]
    legal: "Tensor"  # [B, A] bool: the legal actions
    values: "Tensor"  # [B, P] z
    targets: "Mapping[str, Tensor]"  # [B, …] the columns by name
    weights: "Tensor"  # [B] of each position in the loss; 0 for padding
    counts: "Tensor"  # [B] 1, or 0 for padding
    rows: "Tensor"  # [B] indices into the replay

    def map(self, change: "Callable[[Tensor], Tensor]") -> "Batch":
        """The batch with every tensor changed."""
        return Batch(
            change(self.planes),
            change(self.legal),
            change(self.values),
            {name: change(column) for name, column in self.targets.items()},
            *map(change, self[4:]),
        )


@dataclass(frozen=True)
class Target:
    """One thing that a network learns from each position.

    The functions `write` and `finish` are kernel functions; both may be missing.
    """

    name: str  # also of its head, and of its metric: NAME_loss
    option: str  # of the training settings: its weight in the loss; "" for 1
    loss: "Callable[[Output, Batch], Tensor] | None" = None  # [B]
    scale: "Callable[[Batch], Tensor | float] | None" = None
    """[] factor of the loss, the same for the whole batch; the metric omits it."""
    weigh: "Callable[[Batch, float], Tensor] | None" = None
    """[B] factors of the positions' weights, instead of a loss, for a value of the option."""
    head: Callable[[Choice], HeadKind] | None = None
    """Which head the network has for it in training; None for one of the network's own."""
    columns: tuple[Column, ...] = ()
    write: Callable[..., None] | None = None
    """(finished, turn, state, rows, row): writes row `row` for the position before that turn."""
    finish: Callable[..., None] | None = None
    """(finished, length, state, rows, first, end): writes the rows of a game, once all of them
    have their states and policies, from its last position."""
    obstacle: Callable[[Game], str] = lambda game: ""
    """Why a game has no such target; empty if it has."""
