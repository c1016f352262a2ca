"""The layout of the fused tower: the boards it supports, and its use of a multiprocessor.

The memory layout itself is described in tower.cu.
"""

from collections.abc import Iterator
from dataclasses import dataclass

TILE_CHANNELS = 64
"""Output channels of one product (wgmma's m), and channels of both heads together."""

MOST_CHANNELS = 128
"""Of every layer: two tiles, whose sums fill a warpgroup's registers."""

MOST_COLUMNS = 256
"""Cells of one product (wgmma's largest n), zero columns included, times the tiles."""

SHARED_BYTES = 232_448
"""Shared memory of a block on compute capability 9.0."""

REGISTERS = 65_536
"""Registers of a multiprocessor of compute capability 9.0."""

REGISTERS_BESIDE, SHARED_BYTES_BESIDE = 16_384, 4096
"""What a layout leaves to concurrent tree kernels: four warps with 128 registers per thread, in
blocks that take 1 KB each; one warp for each quarter of a multiprocessor."""

STAGE_BYTES = 8192
"""Weights of one stage of the ring: four products of 16 × 64 bf16."""

_FEWEST_STAGES, _MOST_STAGES = 4, 12
_TILE_OVERHEAD = 4000  # cycles per tile in addition to its products: loading planes, storing heads
_MOST_COLUMNS_OF = {2: 256, 3: 192}  # by warpgroups, times tiles: what their registers hold
_FEWEST_OTHERS = 26  # registers beside the sums without which the compiler refuses a product


@dataclass(frozen=True)
class TowerShape:
    """The network that a tower computes."""

    height: int
    width: int
    planes: int
    blocks: int
    channels: int

    def __post_init__(self) -> None:
        """Refuses what does not fit into the kernel."""
        if self.channels > MOST_CHANNELS:
            raise ValueError(
                f"channels is {self.channels}; the fused tower holds at most {MOST_CHANNELS}: use "
                "cuDNN's convolutions"
            )
        if 3 * self.planes > TILE_CHANNELS:
            raise ValueError(
                f"the observation has {self.planes} planes; the fused tower reads at most "
                f"{TILE_CHANNELS // 3}: use cuDNN's convolutions"
            )
        most = MOST_COLUMNS // self.tiles
        if self.height * (self.width + 1) > most:
            raise ValueError(
                f"the board is {self.height}×{self.width}; with {self.channels} channels the fused "
                f"tower holds boards of at most {most} cells, counting one more column: use "
                "cuDNN's convolutions"
            )

    @property
    def tiles(self) -> int:
        """Tiles of 64 channels that every layer has; missing channels are zeros."""
        return -(-self.channels // TILE_CHANNELS)

    @property
    def filled_channels(self) -> int:
        """The channels of those tiles."""
        return self.tiles * TILE_CHANNELS


@dataclass(frozen=True)
class TowerLayout:
    """How a tower is laid out on a multiprocessor. Distances are in rows, which are cells."""

    shape: TowerShape
    warpgroups: int
    boards: int  # of each warpgroup
    stages: int = 0  # of the ring of weights; 0: as many as fit
    registers: int = 0  # per thread; 0: all except those left to concurrent kernels
    stagger: int = 1500  # nanoseconds between the warpgroups' starts
    is_dumping: bool = False  # can write out any layer
    omit: int = 0  # parts to leave out when timing the others; see tower.cu

    def __post_init__(self) -> None:
        """Fills in registers and stages; refuses what does not fit."""
        if self.padded > MOST_COLUMNS // self.shape.tiles:
            raise ValueError(
                f"{self.boards} boards take {self.padded} columns; at most "
                f"{MOST_COLUMNS // self.shape.tiles} fit"
            )
        if self.registers == 0:
            registers = (REGISTERS - REGISTERS_BESIDE) // self.threads // 8 * 8
            object.__setattr__(self, "registers", registers)
        fewest = self.shape.tiles * self.padded // 2 + _FEWEST_OTHERS
        if not fewest <= self.registers <= REGISTERS // self.threads:
            raise ValueError(
                f"{self.registers} registers for each of {self.threads} threads; {self.padded} "
                f"columns take {fewest} and {REGISTERS:,} are there"
            )
        if self.stages == 0:
            room = (SHARED_BYTES - SHARED_BYTES_BESIDE - self.shared_bytes) // (STAGE_BYTES + 16)
            object.__setattr__(self, "stages", min(room, _MOST_STAGES))
        if self.stages < _FEWEST_STAGES or self.shared_bytes > SHARED_BYTES:
            raise ValueError(
                f"{self.warpgroups}×{self.boards} boards with {self.stages} stages take "
                f"{self.shared_bytes:,} bytes of shared memory; {SHARED_BYTES:,} and at least "
                f"{_FEWEST_STAGES} stages must fit: use fewer boards"
            )

    @property
    def pitch(self) -> int:
        """From a board to the next one beside it: its width and a zero column."""
        return self.shape.width + 1

    @property
    def below(self) -> int:
        """From a cell to the one below it."""
        return self.boards * self.pitch

    @property
    def border(self) -> int:
        """Zero rows between buffers: as far as a tap reaches."""
        return self.below + 1

    @property
    def columns(self) -> int:
        """Rows of a warpgroup's boards, which are the columns of its products."""
        return self.shape.height * self.below

    @property
    def padded(self) -> int:
        """Those rounded up to what a product takes."""
        return -(-self.columns // 8) * 8

    @property
    def rows(self) -> int:
        """All rows: two buffers for each warpgroup, with borders around each.

        One more than a multiple of 8, so that 8 chunks of a row lie in different banks.
        """
        rows = self.border + 2 * self.warpgroups * (self.padded + self.border)
        return rows + (1 - rows) % 8

    @property
    def stem_steps(self) -> int:
        """Products that a tap of the stem takes: of 16 features, the planes of three cells."""
        return -(-3 * self.shape.planes // 16)

    @property
    def products(self) -> int:
        """Products of 16 × 64 channels that a warpgroup's boards take."""
        tiles = self.shape.tiles
        return 3 * self.stem_steps * tiles + 72 * self.shape.blocks * tiles**2 + 4 * tiles

    @property
    def weight_stages(self) -> int:
        """Stages through which the weights of all products go; the stem fills whole ones."""
        return -(-self.products // 4)

    @property
    def tile_boards(self) -> int:
        """Boards that a multiprocessor holds at once."""
        return self.warpgroups * self.boards

    @property
    def threads(self) -> int:
        """Of a block: 128 for each warpgroup."""
        return 128 * self.warpgroups

    @property
    def block_registers(self) -> int:
        """Of the multiprocessor's 65,536."""
        return self.registers * self.threads

    @property
    def shared_bytes(self) -> int:
        """Ring, rows, the bytes for stores to zero columns, barriers."""
        rows_bytes = self.rows * 2 * self.shape.filled_channels
        return self.stages * STAGE_BYTES + rows_bytes + 128 + 16 * self.stages

    def estimate_cycles(self, batch: int, multiprocessors: int) -> int:
        """Clock cycles of a batch if the tensor cores never wait within a tile."""
        tiles = -(-batch // self.tile_boards)
        tile = self.warpgroups * self.products * self.padded // 2 + _TILE_OVERHEAD
        return -(-tiles // multiprocessors) * tile

    def macros(self) -> dict[str, int]:
        """The sizes as tower.cu names them."""
        shape = self.shape
        return {
            "HEIGHT": shape.height,
            "WIDTH": shape.width,
            "PLANES": shape.planes,
            "BLOCKS": shape.blocks,
            "TILES": shape.tiles,
            "WARPGROUPS": self.warpgroups,
            "BOARDS": self.boards,
            "PITCH": self.pitch,
            "BELOW": self.below,
            "BORDER": self.border,
            "COLUMNS": self.columns,
            "PADDED": self.padded,
            "ROWS": self.rows,
            "STEM_STEPS": self.stem_steps,
            "STAGES": self.stages,
            "REGISTERS": self.registers,
            "STAGGER": self.stagger,
            "DUMP": int(self.is_dumping),
            "OMIT": self.omit,
        }


def choose_layout(shape: TowerShape, batch: int, multiprocessors: int) -> TowerLayout:
    """The layout whose tiles take the least time for a batch, by `TowerLayout.estimate_cycles`."""
    layouts = list(_layouts(shape))
    if not layouts:
        raise ValueError(
            f"the board is {shape.height}×{shape.width}; with {shape.channels} channels two exceed "
            "a multiprocessor's memory: use cuDNN's convolutions"
        )
    return min(layouts, key=lambda layout: layout.estimate_cycles(batch, multiprocessors))


def _layouts(shape: TowerShape) -> Iterator[TowerLayout]:
    for warpgroups in (2, 3):
        for boards in range(1, MOST_COLUMNS // (shape.height * (shape.width + 1)) + 1):
            try:
                layout = TowerLayout(shape, warpgroups, boards)
            except ValueError:
                continue  # too large for shared memory
            if shape.tiles * layout.padded <= _MOST_COLUMNS_OF[warpgroups]:
                yield layout
