"""A cache of evaluations: what the evaluator said of a position, found again by the position.

A table of buckets, each with room for a few positions; a position can stand only in the bucket that
its hash names, and there the one that was not asked for the longest gives way. A position is always
compared whole, so that equal hashes cost room and never an answer. Entries carry the number of the
lookup that used them last, which says their age, and also, by comparison with the lookup at which
the cache was cleared or a batch began, whether they count.
"""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.search.evaluators import Evaluator, EvaluatorError

_WAYS = 4  # positions in a bucket
_WORD = np.dtype(np.uint32)  # states are aligned to 4 bytes or more: `turn` is a 32-bit number

# Places of `counts`.
LOOKUPS, HITS, FORGOTTEN = range(3)

STORED = -1  # place of an entry that has its answer; else its place among those being evaluated

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER = np.uint64(4294883355)
_START = np.uint64(0x9E3779B97F4A7C15)


class Table(NamedTuple):
    """The cache's arrays. W words a state, A actions, P players."""

    entries: NDArray[Any]  # [buckets, ways] see entry_dtype; zeroed memory is empty
    mask: NDArray[np.uint32]  # [W] ones where a state's fields are
    counts: NDArray[np.int64]  # [3] lookups and hits so far, and the lookups when it was cleared


def entry_dtype(game: Game) -> np.dtype[Any]:
    """A position and its evaluation."""
    return record_dtype(
        used=np.int64,  # number of the latest lookup that found or entered it, from 1
        place=np.int32,
        words=(np.uint32, game.dtype.itemsize // _WORD.itemsize),  # the state, 0 between fields
        logits=(np.float32, game.num_actions),
        values=(np.float32, game.num_players),  # only the first, where the evaluator gives one
    )


class EvaluationCache:
    """Remembers what one evaluator said of the positions of one game.

    Give it to `search` or `Searcher`. It is for one evaluator and for one search at a time; whoever
    changes the evaluator's weights calls `clear()`.

    Args:
        game: the game.
        max_bytes: the memory that it may take; taken from the system only as it fills.

    Attributes:
        game: the game.
        table: its arrays, for kernels.
        value_columns: how many values the evaluator gives a position; 0 while nothing is known.

    Raises:
        ValueError: when not even one position fits.
    """

    def __init__(self, game: Game, max_bytes: int = 64 << 20) -> None:  # noqa: D107
        if not isinstance(game, Game):
            raise ValueError(f"the game is {game!r}; make it with make_game() or from its class")
        if not isinstance(max_bytes, int) or max_bytes < 1:
            raise ValueError(f"max_bytes is {max_bytes!r}; it must be a whole number, 1 or more")
        self.game = game
        self.table = _make_table(game, max_bytes)
        self.value_columns = 0
        self._evaluator: Evaluator | None = None
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """The memory that it takes when it is full."""
        return sum(array.nbytes for array in self.table)

    @property
    def capacity(self) -> int:
        """The positions for which there is room."""
        return int(self.table.entries.size)

    @property
    def lookups(self) -> int:
        """The leaves that were asked for, since the cache was made."""
        return int(self.table.counts[LOOKUPS])

    @property
    def hits(self) -> int:
        """The leaves that needed no evaluation of their own.

        They were in the cache, or equal to another leaf that went to the evaluator with them.
        """
        return int(self.table.counts[HITS])

    @property
    def hit_rate(self) -> float:
        """Hits a lookup; 0 before the first."""
        return self.hits / self.lookups if self.lookups else 0.0

    def clear(self) -> None:
        """Forgets every evaluation; lookups and hits count on."""
        self.table.counts[FORGOTTEN] = self.table.counts[LOOKUPS]
        self.value_columns = 0
        self._evaluator = None

    @contextmanager
    def used_by(self, evaluator: Evaluator) -> Iterator[None]:
        """Keeps the cache to one batch of leaves at a time, and to one evaluator.

        Raises:
            ValueError: for another evaluator than the one whose answers it has.
            RuntimeError: when it is in use already.
        """
        if self._evaluator is None:
            self._evaluator = evaluator
        elif self._evaluator != evaluator:
            raise ValueError(
                "the cache has the answers of another evaluator; make a cache for each evaluator, "
                "or call its clear() first"
            )
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                "the cache is in use by another search; give each thread a cache of its own"
            )
        try:
            yield
        finally:
            self._lock.release()

    def check_columns(self, columns: int) -> None:
        """Takes note of how many values a position the evaluator gives.

        Raises:
            EvaluatorError: when it gave another number before.
        """
        if self.value_columns not in (0, columns):
            raise EvaluatorError(
                f"the evaluator returned {columns} value(s) a position, and {self.value_columns} "
                "before; a cache needs one kind, or a clear() between them"
            )
        self.value_columns = columns


def check_cache(cache: Any, game: Game, evaluator: Evaluator, device: str) -> None:
    """Refuses a cache that the search cannot use.

    Raises:
        ValueError: says why.
    """
    if not isinstance(cache, EvaluationCache):
        raise ValueError(f"the cache is a {type(cache).__name__}; it must be an EvaluationCache")
    if cache.game.tag != game.tag:
        raise ValueError(
            f"the cache is for {cache.game.name}, the search for {game.name}; make another cache"
        )
    if isinstance(evaluator, str):
        raise ValueError(
            f"the evaluator {evaluator!r} is built in and has nothing to remember; "
            "leave the cache out"
        )
    if device != "cpu":
        raise ValueError(f"device={device} has no cache yet; leave the cache out, or use the CPU")


def _make_table(game: Game, max_bytes: int) -> Table:
    """An empty table in that many bytes."""
    mask, counts, dtype = _field_mask(game), np.zeros(3, np.int64), entry_dtype(game)
    room = max_bytes - mask.nbytes - counts.nbytes
    ways = max(1, min(_WAYS, room // dtype.itemsize))
    buckets = min(room // (ways * dtype.itemsize), 2**32 - 1)
    if buckets < 1:
        raise ValueError(
            f"max_bytes={max_bytes} holds no position of {game.name}; "
            f"give it at least {max_bytes - room + dtype.itemsize}"
        )
    try:
        entries = np.zeros((buckets, ways), dtype)
    except MemoryError:
        size = math.prod((buckets, ways, dtype.itemsize))
        raise ValueError(
            f"this machine does not give {size:,} bytes to the cache; set a smaller max_bytes"
        ) from None
    return Table(entries, mask, counts)


def _field_mask(game: Game) -> NDArray[np.uint32]:
    """Ones where a state has a field; what is between fields, or only carries the tag, is 0."""
    mask = np.zeros(game.dtype.itemsize, np.uint8)
    fields: Any = game.dtype.fields
    for name, (kind, offset, *_) in fields.items():
        if name != game.tag:
            mask[offset : offset + kind.itemsize] = 0xFF
    return mask.view(_WORD)


def words_of(states: NDArray[Any]) -> NDArray[np.uint32]:
    """States [B, N] as words [B, N, W] of the same memory."""
    return states.view(_WORD).reshape(*states.shape, -1)


@kernel_function
def recall(table: Any, key: Any, begun: Any) -> Any:
    """The bucket and way of a position, and whether it stood there; if not, it is entered there.

    `begun` is the number of lookups when the batch began: what another batch left without an answer
    does not count. Whoever asks for a position that was not there must give the entry its place.
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
def bucket_of(table: Any, key: Any) -> Any:
    """The bucket that the hash of a state's fields names.

    A step multiplies 32 bits and adds 32 more, which never overflows 64 bits, so that NumPy and
    compiled code agree without wrapping arithmetic.
    """
    x = _START
    for i in range(table.mask.shape[0]):
        x = ((x & _LOW) ^ np.uint64(key[i] & table.mask[i])) * _MULTIPLIER + (x >> _HALF)
    x = (x & _LOW) * _MULTIPLIER + (x >> _HALF)
    x = (x & _LOW) * _MULTIPLIER + (x >> _HALF)
    mixed = (x & _LOW) ^ (x >> _HALF)
    return np.int64((mixed * np.uint64(table.entries.shape[0])) >> _HALF)


@kernel_function
def find_way(table: Any, key: Any, bucket: Any, begun: Any) -> Any:
    """Where in its bucket the position stands, or −1."""
    for way in range(table.entries.shape[1]):
        entry = table.entries[bucket, way]
        oldest = table.counts[FORGOTTEN] if entry.place == STORED else begun
        if entry.used > oldest and is_equal(entry.words, key, table.mask):
            return way
    return -1


@kernel_function
def is_equal(words: Any, key: Any, mask: Any) -> Any:
    """Whether an entry's words are the fields of a state."""
    for i in range(mask.shape[0]):
        if words[i] != key[i] & mask[i]:
            return False
    return True


@kernel_function
def oldest_way(table: Any, bucket: Any) -> Any:
    """The entry of a bucket that was not asked for the longest; an empty one first."""
    oldest = 0
    for way in range(1, table.entries.shape[1]):
        if table.entries[bucket, way].used < table.entries[bucket, oldest].used:
            oldest = way
    return oldest
