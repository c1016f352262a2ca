"""Threads that walk one tree together: on a GPU a game has several, its lanes; elsewhere one.

All lanes of a game run the same code and take the same branches. What they read is the same for
all, so nobody minds; loops over edges they share, each taking every n-th; and what is written once
is written by the leader alone, between two `join_lanes`, so that nobody reads it half done. A
function with a loop that is shared must be called by all lanes, never by the leader alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda
from numba.extending import overload

from plainzero.compiler.cpu_kernels import KERNEL

MOST_LANES = 32
"""Threads of a warp."""

# Of all games; with more, games wait for each other: docs/lab-notebook.md. Beside a network there
# is room for four warps on each of 132 multiprocessors, and a few may wait.
_MOST_THREADS, _MOST_THREADS_BESIDE = 65_536, 20_480


def lanes_for(edges: int, games: int, is_beside: bool = False) -> int:
    """How many threads walk each of so many trees, whose nodes have at most so many edges.

    Fewer where that `is_beside` a network's work.
    """
    most = _MOST_THREADS_BESIDE if is_beside else _MOST_THREADS
    lanes = 1
    while lanes < min(edges, MOST_LANES) and 2 * lanes * games <= most:
        lanes *= 2
    return lanes


def lane() -> Any:
    """The number of this thread among its game's, from 0."""
    return 0


def num_lanes() -> Any:
    """How many threads the game has."""
    return 1


# For counting.py: loops over what threads share count upwards.
lane.is_natural = num_lanes.is_natural = True  # type: ignore[attr-defined]


def leads() -> Any:
    """Whether this is the thread that writes."""
    return True


def join_lanes() -> None:
    """Waits for the game's other threads; what any of them wrote before, all see after it."""


def leaders(value: Any) -> Any:
    """The leader's value of an integer."""
    return value


def largest_of_lanes(value: Any) -> Any:
    """The largest of all threads' values."""
    return value


def best_of_lanes(place: Any, score: Any) -> Any:
    """The place of the largest score, of equals the first."""
    return place


def _gpu_lane() -> Any:
    return cuda.threadIdx.x


def _gpu_num_lanes() -> Any:
    return cuda.blockDim.x


def _gpu_leads() -> Any:
    return cuda.threadIdx.x == 0


def _gpu_join_lanes() -> Any:
    if cuda.blockDim.x > 1:
        cuda.syncwarp(_mask())


def _gpu_leaders(value: Any) -> Any:
    value = np.int64(value)
    if cuda.blockDim.x > 1:
        value = cuda.shfl_sync(_mask(), value, cuda.threadIdx.y * cuda.blockDim.x)
    return value


def _gpu_largest_of_lanes(value: Any) -> Any:
    offset = cuda.blockDim.x >> 1
    while offset > 0:
        value = max(value, cuda.shfl_xor_sync(_mask(), value, offset))
        offset >>= 1
    return value


def _gpu_best_of_lanes(place: Any, score: Any) -> Any:
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
    """The bits of the game's threads in its warp. A block is one warp, of whole games."""
    return 0  # pragma: no cover; on a GPU only


def _gpu_mask() -> Any:
    lanes = cuda.blockDim.x
    return ((1 << lanes) - 1) << (cuda.threadIdx.y * lanes)


def differ(
    function: Callable[..., Any],
    on_gpu: Callable[..., Any],
    on_cpu: Callable[..., Any] | None = None,
) -> None:
    """Compiles calls of `function` as `on_gpu` for a GPU, for the CPU as `on_cpu` or as it is."""
    overload(function, strict=False, jit_options=KERNEL, target="cpu")(
        lambda *_: on_cpu or function
    )
    overload(function, strict=False, target="cuda")(lambda *_: on_gpu)


differ(lane, _gpu_lane)
differ(num_lanes, _gpu_num_lanes)
differ(leads, _gpu_leads)
differ(join_lanes, _gpu_join_lanes)
differ(leaders, _gpu_leaders)
differ(largest_of_lanes, _gpu_largest_of_lanes)
differ(best_of_lanes, _gpu_best_of_lanes)
differ(_mask, _gpu_mask)
