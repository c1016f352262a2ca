"""The kernels of self-play on a GPU, around the functions of turn_kernels.py and harvest.py.

Each game has one thread, or several (its lanes) where its tree is searched; see
search/gpu/warp_lanes.py.
"""

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from plainzero.compiler.gpu_kernels import GpuKernel, specialised
from plainzero.games.rules import mark_legal, observe
from plainzero.search.evaluators import LeafArrays
from plainzero.search.gpu import warp_lanes  # noqa: F401 (lanes on a GPU)
from plainzero.search.kernels.lanes import leads
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.simulation import (
    clear_rows,
    finish_leaves,
    observe_leaves,
    select_in_game,
)
from plainzero.search.kernels.tree import Tree
from plainzero.selfplay.games_in_progress import IN_PROGRESS, Games
from plainzero.selfplay.gpu.harvest import Harvest, count_game, take_game
from plainzero.selfplay.turn_kernels import start_game, start_search, take_turn


@GpuKernel
def begin_games(
    tree: Tree, scratch: Scratch, games: Games, play_options: NDArray[Any], first: int, last: int
) -> None:
    """Starts a game in each row."""
    b = first + cuda.grid(2)[1]
    if b < last:
        start_game(tree, scratch, games, play_options[0], b)


@GpuKernel
def begin_searches(
    tree: Tree, scratch: Scratch, games: Games, play_options: NDArray[Any], first: int, last: int
) -> None:
    """Restarts the current search of every game, after the weights changed."""
    b = first + cuda.grid(2)[1]
    if b < last:
        tree.roots[b].num_nodes = 0
        start_search(tree, scratch, games, play_options[0], b)


@GpuKernel
def select_turns(
    tree: Tree,
    scratch: Scratch,
    options: Options,
    games: Games,
    leaves: LeafArrays,
    first: int,
    last: int,
) -> None:
    """Selects a leaf in each game in progress, and writes its observation to the game's row."""
    options = specialised(options)
    row = cuda.grid(2)[1]
    b = first + row
    if b < last:
        if games.status[b].ending == IN_PROGRESS:
            clear_rows(leaves.cells, row, 1)
            select_in_game(tree, scratch, options, b, games.states[b])
            observe_leaves(tree, scratch, b, leaves.planes, row)


@GpuKernel
def finish_turns(
    tree: Tree,
    scratch: Scratch,
    games: Games,
    play_options: NDArray[Any],
    options: Options,
    leaves: LeafArrays,
    first: int,
    last: int,
) -> None:
    """Expands and backs up the leaf of each game; plays a move if that finished a search."""
    options = specialised(options)
    row = cuda.grid(2)[1]
    b = first + row
    if b < last:
        finish_leaves(tree, scratch, options, b, leaves.logits, leaves.values, row)
        if leads():
            take_turn(tree, scratch, options, games, play_options[0], b)


@GpuKernel
def count_games(
    scratch: Scratch, games: Games, counts: NDArray[np.int64], first: int, last: int
) -> None:
    """Counts what each game adds to a harvest."""
    b = first + cuda.grid(2)[1]
    if b < last:
        count_game(scratch, games, b, counts)


@GpuKernel
def take_games(
    tree: Tree,
    scratch: Scratch,
    games: Games,
    play_options: NDArray[Any],
    fits: NDArray[np.int8],
    ends: NDArray[np.int64],
    harvest: Harvest,
    first: int,
    last: int,
) -> None:
    """Writes the games that have ended and fit to the harvest; starts new ones in their rows."""
    b = first + cuda.grid(2)[1]
    if b < last:
        if fits[b]:
            take_game(tree, scratch, games, play_options[0], b, ends, harvest)


@GpuKernel
def observe_positions(
    states: NDArray[Any],
    rows: NDArray[np.int64],
    planes: NDArray[np.float32],
    actions: NDArray[np.int32],
    legal: NDArray[np.bool_],
    first: int,
    last: int,
) -> None:
    """Writes the observation and the legal actions of states[rows[i]] to planes[i] and legal[i].

    Both must be zero. There is room for a list of actions in actions[i].
    """
    i = first + cuda.grid(2)[1]
    if i < last:
        observe(states[rows[i]], planes[i])
        mark_legal(states[rows[i]], actions[i], legal[i])
