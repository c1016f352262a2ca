"""The table of an `EvaluationCache`: finds a position's entry, or creates one.

The table has buckets with room for a few positions each. A position can only be in the bucket that
its hash names, where a new one replaces the least recently used. Positions are compared in full, so
equal hashes cost room but never give a wrong answer. Each entry holds the number of the lookup that
used it last. That is its age, and tells whether it was used before the cache was cleared or before
the current round began.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.search.kernels.random_streams import HALF, LOW, MULTIPLIER

WORD = np.dtype(np.uint32)  # states are aligned to 4 bytes or more: `turn` is a 32-bit number

# Indices into `counts`.
LOOKUPS, HITS, FORGOTTEN = range(3)

STORED = -1  # `place` of an entry that is evaluated; before, it is the place among the misses

_START = np.uint64(0x9E3779B97F4A7C15)


class Table(NamedTuple):
    """The cache's arrays. W words per state, A actions, P players."""

    entries: NDArray[Any]  # [buckets, ways] see entry_dtype; zeros are empty entries
    mask: NDArray[np.uint32]  # [W] ones where a state has fields
    counts: NDArray[np.int64]  # [3] lookups, hits, and the lookups when the cache was cleared


def entry_dtype(game: Game) -> np.dtype[Any]:
    """A position and its evaluation."""
    return record_dtype(
        used=np.int64,  # number of the latest lookup that found or created it, from 1
        place=np.int32,
        words=(np.uint32, game.dtype.itemsize // WORD.itemsize),  # the state, with 0 between fields
        logits=(np.float32, game.num_actions),
        values=(np.float32, game.num_players),  # only the first, if the evaluator returns one
    )


@kernel_function
def recall(table: Table, key: NDArray[np.uint32], begun: int) -> tuple[int, int, bool]:
    """The bucket and way of a position, and whether it was there; if not, it is added.

    `begun` is the number of lookups when the round began: entries that an earlier round left
    without an evaluation do not count. The caller sets the `place` of an entry that was added.
    """
    table.counts[LOOKUPS] += 1
    bucket = bucket_of(table, key)
    way = find_way(table, key, bucket, begun)
    is_known = way >= 0
    if is_known:
        table.counts[HITS] += 1
    else:
        way = oldest_way(table, bucket)
        words = table.entries[bucket, way].words
        for i in range(table.mask.shape[0]):
            words[i] = key[i] & table.mask[i]
    table.entries[bucket, way].used = table.counts[LOOKUPS]
    return bucket, way, is_known


@kernel_function
def bucket_of(table: Table, key: NDArray[np.uint32]) -> int:
    """The bucket that the hash of a state's fields names.

    Each step multiplies two 32-bit numbers and adds a third, which never overflows 64 bits, so that
    NumPy and compiled code agree without wrapping arithmetic.
    """
    x = _START
    for i in range(table.mask.shape[0]):
        x = ((x & LOW) ^ np.uint64(key[i] & table.mask[i])) * MULTIPLIER + (x >> HALF)
    x = (x & LOW) * MULTIPLIER + (x >> HALF)
    x = (x & LOW) * MULTIPLIER + (x >> HALF)
    mixed = (x & LOW) ^ (x >> HALF)
    return int(np.int64((mixed * np.uint64(table.entries.shape[0])) >> HALF))


@kernel_function
def find_way(table: Table, key: NDArray[np.uint32], bucket: int, begun: int) -> int:
    """The position's way in its bucket, or −1."""
    for way in range(table.entries.shape[1]):
        entry = table.entries[bucket, way]
        oldest = table.counts[FORGOTTEN] if entry.place == STORED else begun
        if entry.used > oldest and is_equal(entry.words, key, table.mask):
            return way
    return -1


@kernel_function
def is_equal(words: NDArray[np.uint32], key: NDArray[np.uint32], mask: NDArray[np.uint32]) -> bool:
    """Whether an entry's words equal the fields of a state."""
    for i in range(mask.shape[0]):
        if words[i] != key[i] & mask[i]:
            return False
    return True


@kernel_function
def oldest_way(table: Table, bucket: int) -> int:
    """The least recently used entry of a bucket; an empty one first."""
    oldest = 0
    for way in range(1, table.entries.shape[1]):
        if table.entries[bucket, way].used < table.entries[bucket, oldest].used:
            oldest = way
    return oldest
