"""The search on the CPU: entry points that loop over the games of a batch.

Each takes a range of games, so that threads can share a batch; no game touches another's row.
`options` is [1], a record of `OPTIONS_DTYPE`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.search.kernels.cached_leaves import (
    CachedRound,
    observe_miss,
    recall_leaves,
    store_evaluations,
)
from plainzero.search.kernels.evaluation_table import Table
from plainzero.search.kernels.reuse import advance
from plainzero.search.kernels.rollout import rollout
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.simulation import (
    finish_leaves,
    is_finished,
    observe_leaves,
    select_in_game,
    simulate_game,
)
from plainzero.search.kernels.tree import Tree


@Kernel
def simulate_games(
    tree: Tree,
    scratch: Scratch,
    options: NDArray[Any],
    states: NDArray[Any],
    rounds: int,
    first: int,
    last: int,
) -> int:
    """Runs up to `rounds` rounds of each game with a built-in evaluator.

    Returns how many games are not finished.
    """
    unfinished = 0
    for b in range(first, last):
        simulate_game(tree, scratch, options[0], b, states[b], rounds)
        unfinished += not is_finished(tree, scratch, options[0], b)
    return unfinished


@Kernel
def select_games(
    tree: Tree,
    scratch: Scratch,
    options: NDArray[Any],
    states: NDArray[Any],
    first: int,
    last: int,
) -> int:
    """Selects the leaves of one round in each game; returns how many games are not finished."""
    unfinished = 0
    for b in range(first, last):
        select_in_game(tree, scratch, options[0], b, states[b])
        unfinished += not is_finished(tree, scratch, options[0], b)
    return unfinished


@Kernel
def observe_games(
    tree: Tree,
    scratch: Scratch,
    planes: NDArray[np.float32],
    rows: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Writes the observations of each game's leaves to planes[rows[b]] and following rows."""
    for b in range(first, last):
        observe_leaves(tree, scratch, b, planes, rows[b])


@Kernel
def finish_games(
    tree: Tree,
    scratch: Scratch,
    options: NDArray[Any],
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    rows: NDArray[np.int64],
    first: int,
    last: int,
) -> int:
    """Expands and backs up the leaves of one round in each game.

    Returns how many games are not finished.
    """
    unfinished = 0
    for b in range(first, last):
        finish_leaves(tree, scratch, options[0], b, logits, values, rows[b])
        unfinished += not is_finished(tree, scratch, options[0], b)
    return unfinished


@Kernel
def recall_games(
    scratch: Scratch, table: Table, words: NDArray[np.uint32], leaves: CachedRound
) -> int:
    """Answers the leaves of all games that the cache knows; returns the number of misses."""
    return recall_leaves(scratch, table, words, leaves)


@Kernel
def observe_misses(
    tree: Tree, misses: NDArray[Any], planes: NDArray[np.float32], first: int, last: int
) -> None:
    """Writes the observations of leaves that the cache does not know."""
    for place in range(first, last):
        observe_miss(tree, misses[place], planes[place])


@Kernel
def store_misses(
    scratch: Scratch,
    table: Table,
    leaves: CachedRound,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Puts the evaluations of misses into the cache, and into the rows of the waiting leaves."""
    store_evaluations(scratch, table, leaves, logits, values)


@Kernel
def advance_games(tree: Tree, actions: NDArray[np.int32], first: int, last: int) -> None:
    """Moves each game's root to the child behind its action."""
    for b in range(first, last):
        advance(tree, b, actions[b])


@Kernel
def play_out(states: NDArray[Any], scratch: Scratch, options: NDArray[Any], count: int) -> int:
    """Plays `count` random games from states[0] in states[1]; returns the number of moves."""
    moves = 0
    for _ in range(count):
        states[1] = states[0]
        rollout(states[1], scratch, options[0], 0, 0)
        moves += states[1].turn - states[0].turn
    return moves
