"""The lanes of a game on a GPU: threads of one warp, which exchange values among themselves.

A block is one warp, of whole games: threads (x, y) are lane x of the block's game y.
"""

from typing import Any

import numpy as np
from numba import cuda

from plainzero.compiler.cpu_kernels import implement
from plainzero.search.kernels import lanes

MOST_LANES = 32
"""Threads of a warp."""

# Of all games together; with more, games wait for each other: docs/lab-notebook.md. Beside a
# network there is room for four warps on each of 132 multiprocessors, and a few may wait.
_MOST_THREADS, _MOST_THREADS_BESIDE = 65_536, 20_480


def lanes_for(edges: int, games: int, is_beside: bool = False) -> int:
    """The number of threads that walk each of `games` trees, whose nodes have up to `edges` edges.

    Fewer if the search `is_beside` a network's work.
    """
    most = _MOST_THREADS_BESIDE if is_beside else _MOST_THREADS
    count = 1
    while count < min(edges, MOST_LANES) and 2 * count * games <= most:
        count *= 2
    return count


def _lane() -> Any:
    return cuda.threadIdx.x


def _num_lanes() -> Any:
    return cuda.blockDim.x


def _leads() -> Any:
    return cuda.threadIdx.x == 0


def _join_lanes() -> Any:
    if cuda.blockDim.x > 1:
        cuda.syncwarp(_mask())


def _leaders(value: Any) -> Any:
    value = np.int64(value)
    if cuda.blockDim.x > 1:
        value = cuda.shfl_sync(_mask(), value, cuda.threadIdx.y * cuda.blockDim.x)
    return value


def _largest_of_lanes(value: Any) -> Any:
    offset = cuda.blockDim.x >> 1
    while offset > 0:
        value = max(value, cuda.shfl_xor_sync(_mask(), value, offset))
        offset >>= 1
    return value


def _best_of_lanes(place: Any, score: Any) -> Any:
    place = np.int64(place)
    offset = cuda.blockDim.x >> 1
    while offset > 0:
        other = cuda.shfl_xor_sync(_mask(), score, offset)
        other_place = cuda.shfl_xor_sync(_mask(), place, offset)
        if other > score or (other == score and other_place < place):
            score, place = other, other_place
        offset >>= 1
    return place


def _mask() -> Any:
    """The bits of the game's threads in its warp."""
    return 0  # pragma: no cover; compiled as below


def _gpu_mask() -> Any:
    count = cuda.blockDim.x
    return ((1 << count) - 1) << (cuda.threadIdx.y * count)


implement(_mask, _gpu_mask, "cuda")
implement(lanes.lane, _lane, "cuda")
implement(lanes.num_lanes, _num_lanes, "cuda")
implement(lanes.leads, _leads, "cuda")
implement(lanes.join_lanes, _join_lanes, "cuda")
implement(lanes.leaders, _leaders, "cuda")
implement(lanes.largest_of_lanes, _largest_of_lanes, "cuda")
implement(lanes.best_of_lanes, _best_of_lanes, "cuda")
