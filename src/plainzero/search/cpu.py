"""The search on the CPU: entry points that loop over the games of a batch.

Each takes a range of games, so that threads can share a batch; no game touches another's row.
"""

from typing import Any

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.search.evaluate_leaves import observe_miss, recall_leaves, store_evaluations
from plainzero.search.kernels.reuse import advance
from plainzero.search.kernels.rollout import rollout
from plainzero.search.kernels.simulation import (
    finish_leaves,
    observe_leaves,
    select_in_game,
    simulate_game,
)


@Kernel
def simulate_games(
    tree: Any, scratch: Any, options: Any, states: Any, rounds: Any, first: Any, last: Any
) -> None:
    """Runs up to `rounds` rounds of each game with a built-in evaluator."""
    for b in range(first, last):
        simulate_game(tree, scratch, options[0], b, states[b], rounds)


@Kernel
def select_games(tree: Any, scratch: Any, options: Any, states: Any, first: Any, last: Any) -> None:
    """Selects the leaves of one round in each game that is not finished."""
    for b in range(first, last):
        select_in_game(tree, scratch, options[0], b, states[b])


@Kernel
def observe_games(tree: Any, scratch: Any, planes: Any, rows: Any, first: Any, last: Any) -> None:
    """Writes the observations of each game's leaves, from planes[rows[b]] on."""
    for b in range(first, last):
        observe_leaves(tree, scratch, b, planes, rows[b])


@Kernel
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
    for b in range(first, last):
        finish_leaves(tree, scratch, options[0], b, logits, values, rows[b])


@Kernel
def recall_games(scratch: Any, table: Any, words: Any, leaves: Any) -> Any:
    """Answers the leaves of all games that a cache knows; returns how many others there are."""
    return recall_leaves(scratch, table, words, leaves)


@Kernel
def observe_misses(tree: Any, misses: Any, planes: Any, first: Any, last: Any) -> None:
    """Writes the observations of leaves that a cache does not know."""
    for place in range(first, last):
        observe_miss(tree, misses[place], planes[place])


@Kernel
def store_answers(scratch: Any, table: Any, leaves: Any, logits: Any, values: Any) -> None:
    """Puts evaluations into a cache, and into the rows of the leaves that wait for them."""
    store_evaluations(scratch, table, leaves, logits, values)


@Kernel
def advance_games(tree: Any, actions: Any, first: Any, last: Any) -> None:
    """Moves each game's root to the child behind its action."""
    for b in range(first, last):
        advance(tree, b, actions[b])


@Kernel
def play_out(states: Any, scratch: Any, options: Any, count: Any) -> Any:
    """Plays `count` random games from states[0] in states[1]; returns how many moves that took."""
    moves = 0
    for _ in range(count):
        states[1] = states[0]
        rollout(states[1], scratch, options[0], 0, 0)
        moves += states[1].turn - states[0].turn
    return moves
