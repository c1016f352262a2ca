"""Threads that walk one tree together: on a GPU a game has several, its lanes; on a CPU one.

All lanes of a game run the same code and take the same branches. They read the same values, share
loops over edges (each takes every n-th edge), and let their leader alone write what is written
once, between two calls of `join_lanes`, so that no lane reads a half-written value. A function
with a shared loop must be called by all lanes, never by the leader alone.

Here is what a single thread does; search/gpu/warp_lanes.py has the code for a GPU.
"""

from typing import TypeVar

from plainzero.compiler.cpu_kernels import implement

Number = TypeVar("Number", int, float)


def lane() -> int:
    """The number of this thread among its game's threads, from 0."""
    return 0


def num_lanes() -> int:
    """The number of threads of the game."""
    return 1


# For compiler/unsigned_loops.py: loops over edges that lanes share count upwards.
lane.is_natural = num_lanes.is_natural = True  # type: ignore[attr-defined]


def leads() -> bool:
    """Whether this is the thread that writes."""
    return True


def join_lanes() -> None:
    """Waits for the game's other threads; what any of them wrote before, all see after it."""


def leaders(value: int) -> int:
    """The leader's value of an integer."""
    return value


def largest_of_lanes(value: Number) -> Number:
    """The largest of all threads' values."""
    return value


def best_of_lanes(place: int, score: float) -> int:
    """The place of the largest score, of equal scores the first."""
    return place


for _function in (lane, num_lanes, leads, join_lanes, leaders, largest_of_lanes, best_of_lanes):
    implement(_function, _function, "cpu")
