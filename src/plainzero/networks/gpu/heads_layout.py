"""The layout of the heads' kernel: the units and the cells of the board that a warp computes.

The memory layout itself is described in heads.cu.
"""

import math
from dataclasses import dataclass
from typing import Any

TILE_UNITS = 16
"""Actions or hidden units of one product (the m of mma.sync)."""

TILE_BOARDS = 8
"""Boards of one product (the n of mma.sync)."""

THREADS = 32
"""Of a block: one warp."""

WARPS_BESIDE = 4
"""Warps for which the tower leaves room on a multiprocessor; see tower_layout.py."""

_MOST_TILES = 4  # of a warp: with 32 boards their sums are 64 of the 128 registers
_MOST_DEPTH = 3
_STAGE_REGISTERS = 112  # of the 128, for sums and what is being loaded
_SLICE_COST = 0.7  # to add a slice's sums, in the time that a cell takes


@dataclass(frozen=True)
class HeadsShape:
    """The layers that the heads compute."""

    cells: int
    actions: int
    hidden: int  # units of the value head's first layer
    outputs: int  # of its last
    is_wdl: bool  # the outputs are logits of win, draw and loss; else every output is a value

    def __post_init__(self) -> None:
        """Refuses what does not fit into a warp."""
        most = _MOST_TILES * TILE_UNITS
        if self.hidden > most:
            raise ValueError(
                f"the value head has {self.hidden} hidden units; the kernel holds at most {most}"
            )

    @property
    def values(self) -> int:
        """Values of a position."""
        return 1 if self.is_wdl else self.outputs


def heads_shape(network: Any) -> HeadsShape:
    """The shape of the heads of a board network."""
    policy, hidden, last = network.policy[-1], network.value[-3], network.value[-1]
    return HeadsShape(
        cells=network.shape[1] * network.shape[2],
        actions=policy.out_features,
        hidden=hidden.out_features,
        outputs=last.out_features,
        is_wdl=network.config.values == "wdl",
    )


@dataclass(frozen=True)
class HeadsLayout:
    """How the heads are laid out."""

    shape: HeadsShape
    board_tiles: int = 4  # of a warp

    @property
    def boards(self) -> int:
        """Of a warp."""
        return TILE_BOARDS * self.board_tiles

    @property
    def value_tiles(self) -> int:
        """Tiles of hidden units, which one warp must hold all: it reads them for the values."""
        return -(-self.shape.hidden // TILE_UNITS)

    @property
    def policy_groups(self) -> int:
        """Groups of actions, one per warp."""
        return -(-self.shape.actions // (_MOST_TILES * TILE_UNITS))

    @property
    def policy_tiles(self) -> int:
        """Tiles of a group of actions."""
        return -(-self.shape.actions // (TILE_UNITS * self.policy_groups))

    @property
    def groups(self) -> int:
        """Of units: the hidden ones, and those of actions."""
        return 1 + self.policy_groups

    @property
    def slice_sums(self) -> int:
        """Sums that a warp leaves for others at most."""
        most = max(self.value_tiles, self.policy_tiles)
        return most * self.board_tiles * 4 * THREADS

    def depth(self, tiles: int) -> int:
        """Cells that a warp loads ahead, as far as registers go."""
        sums, stage = 4 * tiles * self.board_tiles, 4 * self.board_tiles + 8 * tiles
        return max(1, min(_MOST_DEPTH, (_STAGE_REGISTERS - sums) // stage))

    def count_tiles(self, batch: int) -> int:
        """Warps for the boards of a batch."""
        return -(-batch // self.boards)

    def choose_slices(self, batch: int, multiprocessors: int) -> int:
        """Slices of a board's cells, each read by a separate warp.

        The number that takes the least time beside the tower, in units of the time per cell: a warp
        waits for its loads most of the time, so one that loads several cells ahead is faster.
        """
        places = WARPS_BESIDE * multiprocessors
        depths = [self.depth(self.value_tiles)]
        depths += [self.depth(self.policy_tiles)] * self.policy_groups
        slowest = depths.count(min(depths))

        def estimate(slices: int) -> float:
            longest = -(-self.shape.cells // slices) + _SLICE_COST * slices * (slices > 1)
            warps = self.count_tiles(batch) * slices
            total = longest * warps * sum(min(depths) / depth for depth in depths)
            return max(-(-warps * slowest // places) * longest, total / places)

        return min(range(1, math.isqrt(self.shape.cells) + 1), key=estimate)

    def macros(self) -> dict[str, int]:
        """The sizes as heads.cu names them."""
        return {
            "CELLS": self.shape.cells,
            "ACTIONS": self.shape.actions,
            "OUTPUTS": self.shape.outputs,
            "IS_WDL": int(self.shape.is_wdl),
            "BOARD_TILES": self.board_tiles,
            "VALUE_TILES": self.value_tiles,
            "POLICY_TILES": self.policy_tiles,
            "POLICY_GROUPS": self.policy_groups,
            "VALUE_DEPTH": self.depth(self.value_tiles),
            "POLICY_DEPTH": self.depth(self.policy_tiles),
        }
