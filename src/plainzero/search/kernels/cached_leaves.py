"""One round of leaves with an `EvaluationCache`: known ones are answered, the others are misses."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import Record, record_dtype
from plainzero.games.rules import observe
from plainzero.search.kernels.evaluation_table import LOOKUPS, STORED, Table, recall
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import Tree


class Evaluations(NamedTuple):
    """The evaluator's output for a round of leaves; game b's rows start at rows[b]."""

    logits: NDArray[np.float32]  # [R, A]
    values: NDArray[np.float32]  # [R, 1 or players]
    rows: NDArray[np.int64]  # [B]


class CachedRound(NamedTuple):
    """One round of leaves passing through the cache. R rows, one per leaf; B games."""

    evaluations: Evaluations
    places: NDArray[np.int32]  # [R] each leaf's place among the misses; STORED if it is answered
    misses: NDArray[Any]  # [R] see miss_dtype


def miss_dtype() -> np.dtype[Any]:
    """A position that the evaluator must see, and the cache entry that waits for it."""
    return record_dtype(game=np.int64, node=np.int64, bucket=np.int64, way=np.int64)


@kernel_function
def recall_leaves(
    scratch: Scratch, table: Table, words: NDArray[np.uint32], leaves: CachedRound
) -> int:
    """Answers the leaves of all games that the cache knows; returns the number of misses.

    Equal leaves share one place among the misses. `words` [B, N, W] are the tree's states.
    """
    begun, row, count = table.counts[LOOKUPS], 0, 0
    for b in range(scratch.work.shape[0]):
        leaves.evaluations.rows[b] = row
        for k in range(scratch.work[b].num_leaves):
            node = scratch.leaves[b, k]
            bucket, way, is_known = recall(table, words[b, node], begun)
            entry = table.entries[bucket, way]
            if not is_known:
                entry.place = count
                miss = leaves.misses[count]
                miss.game, miss.node, miss.bucket, miss.way = b, node, bucket, way
                count += 1
            leaves.places[row] = entry.place
            if entry.place == STORED:
                copy_numbers(entry.logits, leaves.evaluations.logits[row])
                copy_numbers(entry.values, leaves.evaluations.values[row])
            row += 1
    return count


@kernel_function
def observe_miss(tree: Tree, miss: Record, planes: NDArray[np.float32]) -> None:
    """Writes the observation of a miss to zeroed planes."""
    observe(tree.states[miss.game, miss.node], planes)


@kernel_function
def store_evaluations(
    scratch: Scratch,
    table: Table,
    leaves: CachedRound,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Puts the evaluations of the misses into the cache, and into the rows that wait for them."""
    for place in range(logits.shape[0]):
        miss = leaves.misses[place]
        # If misses of this round took an entry from each other, the last one keeps it.
        entry = table.entries[miss.bucket, miss.way]
        copy_numbers(logits[place], entry.logits)
        copy_numbers(values[place], entry.values)
        entry.place = STORED
    last = scratch.work.shape[0] - 1
    for row in range(leaves.evaluations.rows[last] + scratch.work[last].num_leaves):
        place = leaves.places[row]
        if place != STORED:
            copy_numbers(logits[place], leaves.evaluations.logits[row])
            copy_numbers(values[place], leaves.evaluations.values[row])


@kernel_function
def copy_numbers(source: NDArray[np.float32], target: NDArray[np.float32]) -> None:
    """Copies as many numbers as both arrays hold."""
    for i in range(min(source.shape[0], target.shape[0])):
        target[i] = source[i]
