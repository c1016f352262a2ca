"""The replay window on one device, from which a step draws its batch without asking the host."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plainzero.games.contract import Game
from plainzero.games.symmetries import symmetry_tables
from plainzero.selfplay.observations import DevicePositions, Positions, observe_all
from plainzero.training.batch_sampler import SURPLUS, PlannedSteps, RowPlan
from plainzero.training.replay import FIRST_PRIORITY, SMALLEST_PRIORITY, window_size
from plainzero.training.ring import Ring
from plainzero.training.settings import TrainingConfig

_FIRST_CAPACITY = 1 << 17  # of the ring, unless window_start is less
_POLICY_TYPE = torch.float32  # as stored; a batch has float32 whatever this is


class DeviceBatch(NamedTuple):
    """Positions for one step on the device; as `Batch`, but always batch_size rows.

    Where a step has fewer positions, the surplus rows repeat its first and weigh nothing.
    """

    planes: Tensor  # [B, *shape]
    policies: Tensor  # [B, A]
    values: Tensor  # [B, P] z
    outcomes: Tensor  # [B] how the game ended for the mover
    weights: Tensor  # [B] of each position in the loss; 0 for surplus rows
    counts: Tensor  # [B] 1, or 0 for surplus rows
    rows: Tensor  # [B] where in the ring they stand


class DeviceReplay:
    """The window of positions on a device; see `Replay`.

    Attributes:
        total: positions ever added.
        ring: the window.
        steps: which of its rows are drawn next.
    """

    def __init__(self, game: Game, config: TrainingConfig, device: torch.device | str) -> None:
        """An empty window on CUDA, or on PyTorch's "cpu"."""
        self.game, self.config, self.device = game, config, torch.device(device)
        tables = symmetry_tables(game)
        self._planes_index = torch.from_numpy(tables.planes_index).to(self.device)
        self._actions_index = torch.from_numpy(tables.actions_index).to(self.device)
        self.total = 0
        players = game.num_players
        columns = {
            "states": ((game.dtype.itemsize,), torch.uint8),
            "policies": ((game.num_actions,), _POLICY_TYPE),
            "outcomes": ((players,), torch.float32),
            "values": ((players,), torch.float32),
            "generations": ((), torch.int32),
            "uses": ((), torch.int32),
            "priorities": ((), torch.float32),
        }
        self.ring = Ring(columns, min(_FIRST_CAPACITY, config.window_start), self.device)
        num_turns = len(tables.planes_index) if config.augment else 1
        self.steps = PlannedSteps(config.batch_size, num_turns, self.device)

    def __len__(self) -> int:
        """The positions in the window."""
        return len(self.ring)

    @property
    def generations(self) -> NDArray[np.int32]:
        """[N] when each was made, the oldest first; a copy."""
        return self._read("generations")

    @property
    def uses(self) -> NDArray[np.int32]:
        """[N] how often each was used, the oldest first; a copy."""
        return self._read("uses")

    @property
    def priorities(self) -> NDArray[np.float32]:
        """[N] the oldest first; a copy."""
        return self._read("priorities")

    def _read(self, name: str) -> NDArray[Any]:
        column: NDArray[Any] = self.ring.in_order(name).cpu().numpy()
        return column

    @property
    def layout(self) -> tuple[int, int]:
        """Differs once a buffer that `draw` reads has moved: it must then be captured anew."""
        return self.ring.moves, self.steps.moves

    def changed(self) -> list[Tensor]:
        """What `draw` and `learned` write to."""
        return [self.steps.done, self.ring.columns["uses"], self.ring.columns["priorities"]]

    def add(self, positions: DevicePositions | Positions, generation: int) -> None:
        """Puts new positions in; those that the window has no place for any more go.

        Raises:
            ValueError: when the states are not the game's.
        """
        new = self._uploaded(positions)
        count = len(new.states)
        self.total += count
        self.steps.plan = None
        # New positions come first, as those that are known worst do.
        known = self.ring.in_order("priorities")
        highest = known.amax() if len(self) else known.new_tensor(FIRST_PRIORITY)
        rows = new._asdict() | {
            "generations": torch.full((count,), generation, device=self.device),
            "uses": torch.zeros(count, device=self.device),
            "priorities": highest.expand(count),
        }
        self.ring.append(rows, window_size(self.total, self.config))

    def _uploaded(self, positions: DevicePositions | Positions) -> DevicePositions:
        states, size = positions.states, self.game.dtype.itemsize
        if not isinstance(states, Tensor):
            states = torch.from_numpy(np.array(states).view(np.uint8).reshape(-1, size))
        if states.shape[1:] != (size,) or states.dtype != torch.uint8:
            raise ValueError(
                f"the states are {tuple(states.shape)} of {states.dtype}; "
                f"{self.game.name} needs (N, {size}) of torch.uint8, the bytes of its records"
            )
        others = (
            column if isinstance(column, Tensor) else torch.from_numpy(np.array(column))
            for column in positions[1:]
        )
        return DevicePositions(*(column.to(self.device) for column in (states, *others)))

    def plan(self, batches: int, generator: np.random.Generator) -> "DevicePlan":
        """Which positions the next steps use."""
        return DevicePlan(self, RowPlan(self.ring, self.steps, self.config, batches, generator))

    def draw(self) -> DeviceBatch:
        """The next planned step's positions, which count as used.

        Which step that is stands on the device, so that a captured call draws one after the other.
        """
        rows, turns = self.steps.next()
        counts = (rows != SURPLUS).float()
        rows = torch.where(rows != SURPLUS, rows, rows[:1])
        self.ring.columns["uses"].index_add_(0, rows, counts.int())
        batch = self.batch(rows, turns)
        weights = self._corrections(rows, counts) if self.config.priority > 0 else counts
        return batch._replace(weights=weights, counts=counts)

    def batch(self, rows: Tensor, turns: Tensor) -> DeviceBatch:
        """The positions in these rows [B] of the ring, each turned by a symmetry [B]."""
        planes = self._observe(rows)
        policies, outcomes, values = (
            self.ring.columns[name].index_select(0, rows).float()
            for name in ("policies", "outcomes", "values")
        )
        mixed = (1 - self.config.value_mix) * outcomes + self.config.value_mix * values
        if self.steps.num_turns > 1:
            flat = planes.flatten(1).gather(1, self._planes_index[turns])
            planes = flat.view(planes.shape)
            policies = policies.gather(1, self._actions_index[turns])
        ones = torch.ones_like(outcomes[:, 0])
        return DeviceBatch(planes, policies, mixed, outcomes[:, 0], ones, ones, rows)

    def _observe(self, rows: Tensor) -> Tensor:
        states = self.ring.columns["states"]
        if self.device.type == "cpu":
            records = states.index_select(0, rows).numpy().view(self.game.dtype)[:, 0]
            return torch.from_numpy(observe_all(self.game, records))
        from plainzero.selfplay.gpu.player import observe_rows

        shape = (len(rows), *self.game.observation_shape)
        planes = torch.empty(shape, dtype=torch.float32, device=self.device)
        observe_rows(self.game, states, rows, planes)
        return planes

    def _corrections(self, rows: Tensor, counts: Tensor) -> Tensor:
        """(N · p)^−β, scaled to 1 at most."""
        shares = self.ring.columns["priorities"].index_select(0, rows).double()
        weights = shares ** (-self.config.priority * self.config.priority_correction) * counts
        return (weights / weights.amax()).float()

    def learned(self, batch: DeviceBatch, losses: Tensor) -> None:
        """Takes note of each position's loss [B], for priorities."""
        if self.config.priority > 0:
            found = losses.detach().clamp(min=SMALLEST_PRIORITY)
            # Surplus rows are the first position again, and must not write anything else there.
            found = torch.where(batch.counts > 0, found, found[:1])
            self.ring.columns["priorities"].index_copy_(0, batch.rows, found)

    def mean_age(self, generation: int) -> float:
        """How many generations ago the positions were made, on average."""
        made = self.ring.in_order("generations").double()
        return generation - float(made.mean()) if len(self) else 0.0

    def mean_uses(self) -> float:
        """How often the positions were used, on average."""
        return float(self.ring.in_order("uses").double().mean()) if len(self) else 0.0

    def saved(self) -> dict[str, NDArray[Any]]:
        """What `restore` needs once the same positions are in again.

        Only where positions are drawn by it: it would be many megabytes each generation.
        """
        if not self.config.priority:
            return {}
        return {name: self._read(name) for name in ("generations", "uses", "priorities")}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Puts back what was known of the positions; leaves all new if others are in the window."""
        if saved and np.array_equal(saved["generations"], self.generations):
            for name in ("uses", "priorities"):
                self.ring.put(name, torch.tensor(saved[name], device=self.device))


class DevicePlan(NamedTuple):
    """A generation's steps. While `rows.prepare()` says so, `replay.draw()` gives the next."""

    replay: DeviceReplay
    rows: RowPlan
