"""The search on a GPU: the same functions as in cpu.py, run by the lanes of each game.

Also runs in Numba's CUDA simulator, which CI uses; see compiler/gpu_kernels.py.
"""

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from plainzero.compiler.gpu_kernels import GpuKernel, specialised
from plainzero.search.evaluators import LeafArrays
from plainzero.search.gpu import warp_lanes  # noqa: F401 (lanes on a GPU)
from plainzero.search.kernels.copy_nodes import copy_templates, copy_tree
from plainzero.search.kernels.lanes import join_lanes
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.reuse import advance
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.simulation import (
    clear_rows,
    finish_leaves,
    is_finished,
    observe_leaves,
    select_in_game,
    simulate_game,
)
from plainzero.search.kernels.tree import ROOT, Tree


@GpuKernel
def simulate_games(
    tree: Tree,
    scratch: Scratch,
    options: Options,
    states: NDArray[Any],
    rounds: int,
    first: int,
    last: int,
) -> None:
    """Runs up to `rounds` rounds of each game with a built-in evaluator."""
    options = specialised(options)
    b = first + cuda.grid(2)[1]
    if b < last:
        simulate_game(tree, scratch, options, b, states[b], rounds)


@GpuKernel
def play_round(
    tree: Tree,
    scratch: Scratch,
    options: Options,
    states: NDArray[Any],
    leaves: LeafArrays,
    finishes: bool,
    selects: bool,
    first: int,
    last: int,
) -> None:
    """Expands and backs up the leaves of one round in each game; selects and observes the next.

    `finishes` and `selects` say which of the two is done. Each game has as many rows of `leaves` as
    a round can have leaves, so that its rows are known before anything is selected.
    """
    options = specialised(options)
    game = cuda.grid(2)[1]
    b = first + game
    if b < last:
        row = game * scratch.leaves.shape[1]
        if finishes:
            finish_leaves(tree, scratch, options, b, leaves.logits, leaves.values, row)
            join_lanes()
        if selects:
            clear_rows(leaves.cells, row, scratch.leaves.shape[1])
            select_in_game(tree, scratch, options, b, states[b])
            observe_leaves(tree, scratch, b, leaves.planes, row)


@GpuKernel
def report_games(
    tree: Tree, scratch: Scratch, options: Options, report: NDArray[np.int64], first: int, last: int
) -> None:
    """Writes each game's report: whether it is finished, its simulations, faults and leaves."""
    b = first + cuda.grid(2)[1]
    if b < last:
        report[b, 0] = is_finished(tree, scratch, options, b)
        report[b, 1] = scratch.work[b].simulations
        report[b, 2] = scratch.work[b].faults
        report[b, 3] = scratch.work[b].num_leaves


@GpuKernel
def clear_games(tree: Tree, scratch: Scratch, first: int, last: int) -> None:
    """Empties each game's tree, so that its next round starts a new search."""
    b = first + cuda.grid(2)[1]
    if b < last:
        tree.roots[b].num_nodes = 0
        scratch.work[b].has_begun = False
        scratch.work[b].simulations = 0
        scratch.work[b].num_leaves = 0


@GpuKernel
def copy_roots(tree: Tree, roots: Tree, first: int, last: int) -> None:
    """Copies each game's root and its edges to `roots`, a tree of one node per game."""
    b = first + cuda.grid(2)[1]
    if b < last:
        count = min(1, tree.roots[b].num_nodes)
        copy_tree(tree, roots, b, count, count * abs(tree.nodes[b, ROOT].num_edges))


@GpuKernel
def copy_trees(tree: Tree, larger: Tree, first: int, last: int) -> None:
    """Copies each game's tree to one with more room."""
    b = first + cuda.grid(2)[1]
    if b < last:
        copy_tree(tree, larger, b, tree.roots[b].num_nodes, tree.roots[b].used_edges)
        copy_templates(tree, larger, b)


@GpuKernel
def advance_games(tree: Tree, actions: NDArray[np.int32], first: int, last: int) -> None:
    """Moves each game's root to the child behind its action."""
    b = first + cuda.grid(2)[1]
    if b < last:
        advance(tree, b, actions[b])
