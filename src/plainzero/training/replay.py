"""What is learned from: the latest positions, a window that grows with all there ever were."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.games.symmetries import symmetry_tables
from plainzero.selfplay.observations import Positions, observe_all
from plainzero.training.settings import TrainingConfig

FIRST_PRIORITY = 1.0  # of the positions of an empty window
SMALLEST_PRIORITY = 1e-3


class Batch(NamedTuple):
    """Positions for one step. B positions, A actions, P players; values are from the mover on."""

    planes: NDArray[np.float32]  # [B, *shape]
    policies: NDArray[np.float32]  # [B, A]
    values: NDArray[np.float32]  # [B, P] z
    outcomes: NDArray[np.float32]  # [B] how the game ended for the mover
    weights: NDArray[np.float32]  # [B] of each position in the loss
    rows: NDArray[np.int64]  # [B] where in the window they stand


def window_size(total: int, config: TrainingConfig) -> int:
    """Positions to keep of `total` ever made: c · (1 + β · ((N / c)^α − 1) / α), all up to c."""
    start, exponent = config.window_start, config.window_exponent
    if total <= start:
        return total
    growth = (math.pow(total / start, exponent) - 1.0) / exponent
    return min(total, int(start * (1.0 + config.window_share * growth)))


class Replay:
    """The window of positions, how often each was used, and which to use next."""

    def __init__(self, game: Game, config: TrainingConfig) -> None:
        """An empty window."""
        self.game, self.config = game, config
        self._tables = symmetry_tables(game)
        players = game.num_players
        self._positions = Positions(
            states=np.zeros(0, game.dtype),
            policies=np.zeros((0, game.num_actions), np.float32),
            outcomes=np.zeros((0, players), np.float32),
            values=np.zeros((0, players), np.float32),
        )
        self.total = 0  # positions ever added
        self.generations = np.zeros(0, np.int32)  # [N] when each was made
        self.uses = np.zeros(0, np.int32)  # [N]
        self.priorities = np.zeros(0, np.float32)  # [N]

    def __len__(self) -> int:
        """The positions in the window."""
        return len(self.uses)

    def add(self, positions: Positions, generation: int) -> None:
        """Puts new positions in; those that the window has no place for any more go."""
        count = len(positions.states)
        self.total += count
        keep = window_size(self.total, self.config)

        def joined(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([old, new])[-keep:] if keep else old[:0]

        self._positions = Positions(*map(joined, self._positions, positions))
        self.generations = joined(self.generations, np.full(count, generation, np.int32))
        # New positions come first, as those that are known worst do.
        highest = self.priorities.max() if len(self) else FIRST_PRIORITY
        self.uses = joined(self.uses, np.zeros(count, np.int32))
        self.priorities = joined(self.priorities, np.full(count, highest, np.float32))

    def plan(self, batches: int, generator: np.random.Generator) -> "Plan":
        """Which positions the next steps use."""
        return Plan(self, batches, generator)

    def batch(self, rows: NDArray[np.int64], generator: np.random.Generator) -> Batch:
        """These positions as the network sees them, each turned at random where that is wanted."""
        positions = self._positions
        planes = observe_all(self.game, positions.states[rows])
        policies, mix = positions.policies[rows], np.float32(self.config.value_mix)
        values = (1 - mix) * positions.outcomes[rows] + mix * positions.values[rows]
        count = len(self._tables.planes_index)
        if self.config.augment and count > 1:
            turns = generator.integers(count, size=len(rows))
            flat = planes.reshape(len(rows), -1)
            flat = np.take_along_axis(flat, self._tables.planes_index[turns], axis=1)
            planes = flat.reshape(planes.shape)
            policies = np.take_along_axis(policies, self._tables.actions_index[turns], axis=1)
        outcomes, weights = positions.outcomes[rows, 0], np.ones(len(rows), np.float32)
        return Batch(planes, policies, values, outcomes, weights, rows)

    def mean_age(self, generation: int) -> float:
        """How many generations ago the positions were made, on average."""
        return float((generation - self.generations).mean()) if len(self) else 0.0

    def mean_uses(self) -> float:
        """How often the positions were used, on average."""
        return float(self.uses.mean()) if len(self) else 0.0

    def saved(self) -> dict[str, NDArray[Any]]:
        """What `restore` needs once the same positions are in again."""
        return {
            "generations": self.generations,
            "uses": self.uses,
            "priorities": self.priorities,
        }

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Puts back what was known of the positions; leaves all new if others are in the window."""
        if saved and np.array_equal(saved["generations"], self.generations):
            self.uses[:], self.priorities[:] = saved["uses"], saved["priorities"]


class Plan:
    """The rows that a generation's steps use: uniformly without repeats, or by priority.

    Uniform rows are drawn in passes over all positions that may still be used, rows by priority for
    each step anew; none is in a step twice.
    """

    def __init__(self, replay: Replay, batches: int, generator: np.random.Generator) -> None:
        """Plans so many steps; rows are drawn when a step needs them."""
        self._replay, self._generator, self._left = replay, generator, batches
        self._size = replay.config.batch_size
        self._rows = np.zeros(0, np.int64)

    def next(self) -> Batch | None:
        """The next step's positions; None when no step is left, or nothing that may be used."""
        if self._left == 0:
            return None
        self._left -= 1
        config, replay = self._replay.config, self._replay
        rows = self._by_priority() if config.priority > 0 else self._uniformly()
        if len(rows) == 0:
            return None
        replay.uses[rows] += 1
        batch = replay.batch(rows, self._generator)
        return batch._replace(weights=self._weights(rows)) if config.priority > 0 else batch

    def _uniformly(self) -> NDArray[np.int64]:
        size = self._size
        if len(self._rows) < size:
            size = min(size, self._begin_pass())
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def _begin_pass(self) -> int:
        """Adds a pass to the rows that wait; returns how many come before the first repeat."""
        uses = self._replay.uses.copy()
        uses[self._rows] += 1  # those that wait for their turn
        order = self._generator.permutation(np.flatnonzero(uses < self._replay.config.max_uses))
        is_waiting = np.isin(order, self._rows)
        distinct = len(self._rows) + int((~is_waiting).sum())
        self._rows = np.concatenate([self._rows, order[~is_waiting], order[is_waiting]])
        return distinct

    def _by_priority(self) -> NDArray[np.int64]:
        replay = self._replay
        shares = replay.priorities.astype(np.float64) ** replay.config.priority
        shares[replay.uses >= replay.config.max_uses] = 0.0
        if not shares.any():
            return np.zeros(0, np.int64)
        chances = shares / shares.sum()
        size = min(self._size, int(np.count_nonzero(chances)))
        return self._generator.choice(len(shares), size, replace=False, p=chances, shuffle=False)

    def _weights(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """(N · p)^−β, scaled to 1 at most."""
        config = self._replay.config
        shares = self._replay.priorities[rows].astype(np.float64) ** config.priority
        weights = shares**-config.priority_correction
        scaled: NDArray[np.float32] = (weights / weights.max()).astype(np.float32)
        return scaled

    def learned(self, batch: Batch, losses: NDArray[np.float32]) -> None:
        """Takes note of each position's loss, for priorities."""
        if self._replay.config.priority > 0:
            self._replay.priorities[batch.rows] = np.maximum(losses, SMALLEST_PRIORITY)
