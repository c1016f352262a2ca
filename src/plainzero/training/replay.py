"""The replay: the latest positions, in a window that grows with the number ever made."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plainzero.games.contract import Game
from plainzero.games.symmetries import cells_index, symmetry_tables
from plainzero.selfplay.observations import Positions, legal_of_all, observe_all
from plainzero.targets.all_targets import chosen_targets, wanted_columns
from plainzero.targets.target import Batch
from plainzero.training.batch_sampler import PADDING, BatchSampler, StepBuffer
from plainzero.training.ring import Ring
from plainzero.training.settings import TrainingConfig, choice_of

_FIRST_CAPACITY = 1 << 17  # of the ring, unless window_start is less
_FIRST_PRIORITY = 1.0  # of the positions of an empty window
_SMALLEST_PRIORITY = 1e-3

RENEWED_COLUMNS = ("policies", "outcomes", "values")
"""The columns that a new search of a position replaces."""

Observe = Callable[[Game, Tensor, Tensor], tuple[Tensor, Tensor]]
"""The observations [B, *shape], and the legal actions [B, A], of rows [B] of states [N, bytes]."""


def window_size(total: int, config: TrainingConfig) -> int:
    """Positions to keep of `total` ever made: c · (1 + β · ((N / c)^α − 1) / α), all up to c."""
    start, exponent = config.window_start, config.window_exponent
    if total <= start:
        return total
    growth = (math.pow(total / start, exponent) - 1.0) / exponent
    return min(total, int(start * (1.0 + config.window_share * growth)))


def observe_on_cpu(game: Game, states: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Observations and legal actions of states[rows]; see `Observe`."""
    records = states.index_select(0, rows).numpy().view(game.dtype)[:, 0]
    planes, legal = observe_all(game, records), legal_of_all(game, records)
    return torch.from_numpy(planes), torch.from_numpy(legal)


class ReplayWindow:
    """The window of positions on one device, and the batches drawn from it.

    A step draws its batch without waiting for the host, so that a CUDA graph can hold all of it.

    Attributes:
        total: positions ever added.
        ring: the window.
        buffer: the rows that are drawn next.
    """

    def __init__(
        self,
        game: Game,
        config: TrainingConfig,
        device: torch.device | str = "cpu",
        observe: Observe = observe_on_cpu,
    ) -> None:
        """An empty window on a device, whose positions `observe` observes there."""
        self.game, self.config, self.device = game, config, torch.device(device)
        self._observe = observe
        tables = symmetry_tables(game)
        self._planes_index = torch.from_numpy(tables.planes_index).to(self.device)
        choice = choice_of(config)
        self._columns = wanted_columns(choice)
        indexes = {"actions": tables.actions_index}
        if any(column.turns == "cells" for column in self._columns):
            indexes["cells"] = cells_index(game, tables)
        self._indexes = {n: torch.from_numpy(i).to(self.device) for n, i in indexes.items()}
        self.total = 0
        columns = {
            "states": ((game.dtype.itemsize,), torch.uint8),
            **{c.name: (c.shape(game, choice), torch.float32) for c in self._columns},
            "generations": ((), torch.int32),
            "uses": ((), torch.int32),
            "priorities": ((), torch.float32),
            **({"renewed": ((), torch.bool)} if config.reanalyse else {}),
        }
        self.ring = Ring(columns, min(_FIRST_CAPACITY, config.window_start), self.device)
        num_symmetries = len(tables.planes_index) if config.augment else 1
        self.buffer = StepBuffer(config.batch_size, num_symmetries, self.device)
        self._sampler: BatchSampler | None = None

    def __len__(self) -> int:
        """The number of positions in the window."""
        return len(self.ring)

    @property
    def generations(self) -> NDArray[np.int32]:
        """[N] the generation of each position, oldest first; a copy."""
        return self._read("generations")

    @property
    def uses(self) -> NDArray[np.int32]:
        """[N] how often each position was used, oldest first; a copy."""
        return self._read("uses")

    @property
    def priorities(self) -> NDArray[np.float32]:
        """[N] the priority of each position, oldest first; a copy."""
        return self._read("priorities")

    def _read(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] = self.ring.in_order(name).cpu().numpy()
        return column

    @property
    def layout(self) -> tuple[int, int]:
        """Changes once a buffer that `draw` reads was reallocated: capture the step again."""
        return self.ring.reallocations, self.buffer.reallocations

    def changed(self) -> list[Tensor]:
        """The tensors that `draw` and `learned` write to."""
        return [self.buffer.done, self.ring.columns["uses"], self.ring.columns["priorities"]]

    def add(self, positions: Positions, generation: int) -> None:
        """Adds positions and drops the oldest ones that no longer fit into the window.

        Steps that were planned before can no longer be drawn.

        Raises:
            ValueError: if the states are not the game's.
        """
        new = self._upload(positions)
        count = len(new.states)
        self.total += count
        self._sampler = None
        # New positions get the highest priority: nothing is known about them.
        known = self.ring.in_order("priorities")
        highest = known.amax() if len(self) else known.new_tensor(_FIRST_PRIORITY)
        rows = {
            "states": new.states,
            **new.targets,
            "generations": torch.full((count,), generation, device=self.device),
            "uses": torch.zeros(count, device=self.device),
            "priorities": highest.expand(count),
            "renewed": torch.zeros(count, device=self.device),
        }
        self.ring.append(rows, window_size(self.total, self.config))

    def _upload(self, positions: Positions) -> Positions:
        states, size = positions.states, self.game.dtype.itemsize
        if not isinstance(states, Tensor):
            states = torch.from_numpy(np.array(states).view(np.uint8).reshape(-1, size))
        if states.shape[1:] != (size,) or states.dtype != torch.uint8:
            raise ValueError(
                f"the states are {tuple(states.shape)} of {states.dtype}; "
                f"{self.game.name} needs (N, {size}) of torch.uint8, the bytes of its records"
            )
        given = {c.name: positions.targets[c.name] for c in self._columns}
        columns = {
            name: column if isinstance(column, Tensor) else torch.from_numpy(np.array(column))
            for name, column in given.items()
        }
        moved = {name: column.to(self.device) for name, column in columns.items()}
        return Positions(states.to(self.device), moved)

    def plan_steps(self, count: int, generator: np.random.Generator) -> None:
        """Plans the positions of the next `count` steps, or fewer if max_uses leaves too few."""
        self._sampler = BatchSampler(self.ring, self.buffer, self.config, count, generator)

    def prepare_step(self) -> bool:
        """Whether another step is planned; `draw` then returns its batch.

        Raises:
            RuntimeError: if positions were added since steps were planned.
        """
        if self._sampler is None:
            raise RuntimeError("no steps are planned: call plan_steps after add")
        return self._sampler.prepare_step()

    def draw(self) -> Batch:
        """The batch of the prepared step, whose positions count as used.

        The number of the step is on the device, so that a captured call draws one after the other.
        """
        rows, symmetries = self.buffer.next()
        counts = (rows != PADDING).float()
        rows = torch.where(rows != PADDING, rows, rows[:1])
        self.ring.columns["uses"].index_add_(0, rows, counts.int())
        batch = self.batch(rows, symmetries)
        weights = self._corrections(rows, counts) if self.config.priority > 0 else counts
        for target in chosen_targets(choice_of(self.config)):
            if target.weigh is not None:
                weights = weights * target.weigh(batch, getattr(self.config, target.option))
        return batch._replace(weights=weights, counts=counts)

    def batch(self, rows: Tensor, symmetries: Tensor) -> Batch:
        """The positions in these rows [B] of the ring, each transformed by a symmetry [B]."""
        planes, legal = self._observe(self.game, self.ring.columns["states"], rows)
        targets = {c.name: self.ring.columns[c.name].index_select(0, rows) for c in self._columns}
        mix, outcomes = self.config.value_mix, targets["outcomes"]
        mixed = (1 - mix) * outcomes + mix * targets["values"]
        if self.buffer.num_symmetries > 1:
            flat = planes.flatten(1).gather(1, self._planes_index[symmetries])
            planes = flat.view(planes.shape)
            legal = legal.gather(1, self._indexes["actions"][symmetries])
            for column in self._columns:
                if column.turns:
                    index = self._indexes[column.turns][symmetries]
                    targets[column.name] = targets[column.name].gather(1, index)
        ones = torch.ones_like(outcomes[:, 0])
        return Batch(planes, legal, mixed, targets, ones, ones, rows)

    def _corrections(self, rows: Tensor, counts: Tensor) -> Tensor:
        """[B] the weights (N · p)^−β that correct for priorities, scaled to 1 at most."""
        shares = self.ring.columns["priorities"].index_select(0, rows).double()
        weights = shares ** (-self.config.priority * self.config.priority_correction) * counts
        return (weights / weights.amax()).float()

    def learned(self, batch: Batch, losses: Tensor) -> None:
        """Makes the loss [B] of each position its priority, if positions are drawn by it."""
        if self.config.priority > 0:
            found = losses.detach().clamp(min=_SMALLEST_PRIORITY)
            # Padding repeats the first position and must write the same value there.
            found = torch.where(batch.counts > 0, found, found[:1])
            self.ring.columns["priorities"].index_copy_(0, batch.rows, found)

    def draw_old(self, count: int, random: np.random.Generator) -> NDArray[np.int64]:
        """See `Replay`."""
        made = self.generations
        old = np.flatnonzero(made < made.max(initial=0))
        drawn = np.sort(random.choice(old, min(count, len(old)), replace=False))
        rows: NDArray[np.int64] = self.ring.rows().cpu().numpy()[drawn]
        return rows

    def states_of(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """See `Replay`."""
        places = torch.from_numpy(rows).to(self.device)
        raw: NDArray[Any] = self.ring.columns["states"].index_select(0, places).cpu().numpy()
        return raw.view(self.game.dtype)[:, 0]

    def replace(self, rows: NDArray[np.int64], columns: Mapping[str, NDArray[Any]]) -> None:
        """See `Replay`."""
        places = torch.from_numpy(rows).to(self.device)
        for name, numbers in columns.items():
            column, new = self.ring.columns[name], torch.from_numpy(numbers).to(self.device)
            column[places] = torch.where(new.isnan(), column[places], new)
        self.ring.columns["renewed"][places] = True

    def mean_age(self, generation: int) -> float:
        """The average age of the positions, in generations."""
        made = self.ring.in_order("generations").double()
        return generation - float(made.mean()) if len(self) else 0.0

    def mean_uses(self) -> float:
        """How often each position was used, on average."""
        return float(self.ring.in_order("uses").double().mean()) if len(self) else 0.0

    def saved(self) -> dict[str, NDArray[Any]]:
        """The part of the state that `restore` needs once the same positions are added again."""
        generations, sizes = torch.unique_consecutive(
            self.ring.in_order("generations"), return_counts=True
        )
        uses = self.uses
        is_small = uses.max(initial=0) <= np.iinfo(np.uint8).max  # a window may have millions
        saved = {
            "generations": generations.cpu().numpy(),
            "generation_sizes": sizes.cpu().numpy(),
            "uses": uses.astype(np.uint8) if is_small else uses,
        }
        saved |= {"priorities": self.priorities} if self.config.priority else {}
        return saved | (self._renewed() if self.config.reanalyse else {})

    def _renewed(self) -> dict[str, NDArray[Any]]:
        """The columns that were searched again: the games on disk have the old ones."""
        places = np.flatnonzero(self._read("renewed"))
        columns = {f"renewed.{name}": self._read(name)[places] for name in RENEWED_COLUMNS}
        return {"renewed": places, **columns}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Puts back uses and priorities, unless the window holds other positions than then."""
        if not saved:
            return
        # Older runs saved the generation of every position.
        generations = np.repeat(saved["generations"], saved.get("generation_sizes", 1))
        if np.array_equal(generations, self.generations):
            for name in ("uses", "priorities"):
                if name in saved:
                    self.ring.put(name, torch.tensor(saved[name], device=self.device))
            if self.config.reanalyse and "renewed" in saved:
                rows = self.ring.rows().cpu().numpy()[saved["renewed"]]
                self.replace(rows, {name: saved[f"renewed.{name}"] for name in RENEWED_COLUMNS})
