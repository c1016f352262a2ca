"""The search on a GPU: the same functions as in cpu.py, one thread a game.

Also runs in Numba's CUDA simulator, which CI uses (NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1).
"""

from collections.abc import Callable
from typing import Any

from numba import cuda

from tesuji.search.reuse import advance
from tesuji.search.simulation import (
    finish_leaves,
    observe_leaves,
    select_in_game,
    simulate_game,
)

_THREADS_PER_BLOCK = 64


def is_available() -> bool:
    """Whether there is a GPU, or the simulator."""
    return bool(cuda.is_available())


class CudaKernel:
    """An entry point for the GPU, called like its namesake in cpu.py."""

    def __init__(self, function: Callable[..., None]) -> None:
        """Wraps a function whose last two arguments are the range of games."""
        self._kernel = cuda.jit(function)

    def __call__(self, tag: str, *arguments: Any) -> None:
        """Runs one thread for each game; the types of the arguments tell the game, not `tag`."""
        games = arguments[-1] - arguments[-2]
        blocks = -(-games // _THREADS_PER_BLOCK)
        self._kernel[blocks, min(games, _THREADS_PER_BLOCK)](*arguments)


@CudaKernel
def simulate_games(
    tree: Any, scratch: Any, options: Any, states: Any, rounds: Any, first: Any, last: Any
) -> None:
    """Runs up to `rounds` rounds of each game with a built-in evaluator."""
    b = first + cuda.grid(1)
    if b < last:
        simulate_game(tree, scratch, options[b], b, states[b], rounds)


@CudaKernel
def select_games(tree: Any, scratch: Any, options: Any, states: Any, first: Any, last: Any) -> None:
    """Selects the leaves of one round in each game that is not finished."""
    b = first + cuda.grid(1)
    if b < last:
        select_in_game(tree, scratch, options[b], b, states[b])


@CudaKernel
def observe_games(tree: Any, scratch: Any, planes: Any, rows: Any, first: Any, last: Any) -> None:
    """Writes the observations of each game's leaves, from planes[rows[b]] on."""
    b = first + cuda.grid(1)
    if b < last:
        observe_leaves(tree, scratch, b, planes, rows[b])


@CudaKernel
def finish_games(
    tree: Any,
    scratch: Any,
    options: Any,
    logits: Any,
    values: Any,
    rows: Any,
    first: Any,
    last: Any,
) -> None:
    """Expands and backs up the leaves of one round in each game."""
    b = first + cuda.grid(1)
    if b < last:
        finish_leaves(tree, scratch, options[b], b, logits, values, rows[b])


@CudaKernel
def advance_games(tree: Any, actions: Any, first: Any, last: Any) -> None:
    """Moves each game's root to the child behind its action."""
    b = first + cuda.grid(1)
    if b < last:
        advance(tree, b, actions[b])
