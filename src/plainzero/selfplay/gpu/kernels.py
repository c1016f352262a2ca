"""Self-play on a GPU: the functions of turns.py and harvest.py.

A game has one thread; several, its lanes, where its tree is walked (search/gpu/warp_lanes.py).
"""

from typing import Any

from numba import cuda

from plainzero.compiler.gpu_kernels import CudaKernel, settled
from plainzero.games.rules import observe
from plainzero.search.gpu.warp_lanes import leads
from plainzero.search.kernels.simulation import (
    clear_rows,
    finish_leaves,
    observe_leaves,
    select_in_game,
)
from plainzero.selfplay.games_in_progress import IN_PROGRESS
from plainzero.selfplay.gpu.harvest import count_game, take_game
from plainzero.selfplay.turn_kernels import start_game, start_search, take_turn


@CudaKernel
def begin_games(tree: Any, scratch: Any, games: Any, plan: Any, first: Any, last: Any) -> None:
    """Begins a game in each row."""
    b = first + cuda.grid(2)[1]
    if b < last:
        start_game(tree, scratch, games, plan[0], b)


@CudaKernel
def begin_searches(tree: Any, scratch: Any, games: Any, plan: Any, first: Any, last: Any) -> None:
    """Begins every game's current search anew: the weights have changed."""
    b = first + cuda.grid(2)[1]
    if b < last:
        tree.roots[b].num_nodes = 0
        start_search(tree, scratch, games, plan[0], b)


@CudaKernel
def select_turns(
    tree: Any, scratch: Any, options: Any, games: Any, leaves: Any, first: Any, last: Any
) -> None:
    """Selects a leaf in each game that is in progress, and observes it in the game's row."""
    options = settled(options)
    row = cuda.grid(2)[1]
    b = first + row
    if b < last:
        if games.seats[b].ending == IN_PROGRESS:
            clear_rows(leaves.cells, row, 1)
            select_in_game(tree, scratch, options, b, games.states[b])
            observe_leaves(tree, scratch, b, leaves.planes, row)


@CudaKernel
def finish_turns(
    tree: Any,
    scratch: Any,
    games: Any,
    plan: Any,
    options: Any,
    leaves: Any,
    first: Any,
    last: Any,
) -> None:
    """Expands and backs up each game's leaf; plays a move where that was a search's last."""
    options = settled(options)
    row = cuda.grid(2)[1]
    b = first + row
    if b < last:
        finish_leaves(tree, scratch, options, b, leaves.logits, leaves.values, row)
        if leads():
            take_turn(tree, scratch, options, games, plan[0], b)


@CudaKernel
def count_games(scratch: Any, games: Any, counts: Any, first: Any, last: Any) -> None:
    """Writes what each game adds to a harvest."""
    b = first + cuda.grid(2)[1]
    if b < last:
        count_game(scratch, games, b, counts)


@CudaKernel
def take_games(
    tree: Any,
    scratch: Any,
    games: Any,
    plan: Any,
    fits: Any,
    ends: Any,
    harvest: Any,
    first: Any,
    last: Any,
) -> None:
    """Writes the games that have ended and fit to the harvest; new ones begin."""
    b = first + cuda.grid(2)[1]
    if b < last:
        if fits[b]:
            take_game(tree, scratch, games, plan[0], b, ends, harvest)


@CudaKernel
def observe_positions(states: Any, rows: Any, planes: Any, first: Any, last: Any) -> None:
    """Writes what a network sees of states[rows[i]] to the zeroed planes[i]."""
    i = first + cuda.grid(2)[1]
    if i < last:
        observe(states[rows[i]], planes[i])
