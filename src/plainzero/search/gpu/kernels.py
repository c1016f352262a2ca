"""The search on a GPU: the same functions as in cpu.py, walked by the lanes of a game.

Also runs in Numba's CUDA simulator, which CI uses; see cuda_compiling.py.
"""

from typing import Any

from numba import cuda

from plainzero.compiler.gpu_kernels import CudaKernel, settled
from plainzero.search.gpu.warp_lanes import join_lanes
from plainzero.search.kernels.copy_nodes import copy_templates, copy_tree
from plainzero.search.kernels.reuse import advance
from plainzero.search.kernels.simulation import (
    clear_rows,
    finish_leaves,
    is_finished,
    observe_leaves,
    select_in_game,
    simulate_game,
)
from plainzero.search.tree_memory import ROOT


@CudaKernel
def simulate_games(
    tree: Any, scratch: Any, options: Any, states: Any, rounds: Any, first: Any, last: Any
) -> None:
    """Runs up to `rounds` rounds of each game with a built-in evaluator."""
    options = settled(options)
    b = first + cuda.grid(2)[1]
    if b < last:
        simulate_game(tree, scratch, options, b, states[b], rounds)


@CudaKernel
def play_round(
    tree: Any,
    scratch: Any,
    options: Any,
    states: Any,
    leaves: Any,
    finishes: Any,
    selects: Any,
    first: Any,
    last: Any,
) -> None:
    """Expands and backs up the leaves of one round in each game; selects and observes the next.

    Either is done where it is asked for. Each game has as many rows of `leaves` as a round has
    leaves, whether it uses them or not: so its rows are known before anything is selected.
    """
    options = settled(options)
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


@CudaKernel
def report_games(tree: Any, scratch: Any, options: Any, report: Any, first: Any, last: Any) -> None:
    """Writes of each game whether it is finished, its simulations, faults and leaves."""
    b = first + cuda.grid(2)[1]
    if b < last:
        report[b, 0] = is_finished(tree, scratch, options, b)
        report[b, 1] = scratch.work[b].simulations
        report[b, 2] = scratch.work[b].faults
        report[b, 3] = scratch.work[b].num_leaves


@CudaKernel
def clear_games(tree: Any, scratch: Any, first: Any, last: Any) -> None:
    """Makes each game's next round the first of a new search in an empty tree."""
    b = first + cuda.grid(2)[1]
    if b < last:
        tree.roots[b].num_nodes = 0
        scratch.work[b].has_begun = False
        scratch.work[b].simulations = 0
        scratch.work[b].num_leaves = 0


@CudaKernel
def copy_roots(tree: Any, roots: Any, first: Any, last: Any) -> None:
    """Copies each game's root and its edges to `roots`, a tree of one node a game."""
    b = first + cuda.grid(2)[1]
    if b < last:
        count = min(1, tree.roots[b].num_nodes)
        copy_tree(tree, roots, b, count, count * abs(tree.nodes[b, ROOT].num_edges))


@CudaKernel
def copy_trees(tree: Any, larger: Any, first: Any, last: Any) -> None:
    """Copies each game's tree to one with more room."""
    b = first + cuda.grid(2)[1]
    if b < last:
        copy_tree(tree, larger, b, tree.roots[b].num_nodes, tree.roots[b].used_edges)
        copy_templates(tree, larger, b)


@CudaKernel
def advance_games(tree: Any, actions: Any, first: Any, last: Any) -> None:
    """Moves each game's root to the child behind its action."""
    b = first + cuda.grid(2)[1]
    if b < last:
        advance(tree, b, actions[b])
