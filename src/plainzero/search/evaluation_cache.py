"""A cache of evaluations, looked up by position; its table is in kernels/evaluation_table.py."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.search.evaluators import Evaluator, EvaluatorError
from plainzero.search.kernels.evaluation_table import (
    FORGOTTEN,
    HITS,
    LOOKUPS,
    WORD,
    Table,
    entry_dtype,
)

_WAYS = 4  # positions in a bucket


class EvaluationCache:
    """Keeps one evaluator's evaluations of the positions of one game.

    Pass it to `search` or `Searcher`. It serves one evaluator, and one search at a time; call
    `clear()` after changing the evaluator's weights.

    Args:
        game: the game.
        max_bytes: the most memory it may take; allocated only as it fills.

    Attributes:
        game: the game.
        table: its arrays, for kernels.
        value_columns: how many values the evaluator returns per position; 0 while unknown.

    Raises:
        ValueError: if not even one position fits.
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
        """The memory it takes when full."""
        return sum(array.nbytes for array in self.table)

    @property
    def capacity(self) -> int:
        """How many positions it can hold."""
        return int(self.table.entries.size)

    @property
    def lookups(self) -> int:
        """The leaves looked up since the cache was made."""
        return int(self.table.counts[LOOKUPS])

    @property
    def hits(self) -> int:
        """The leaves that needed no separate evaluation.

        They were in the cache, or equal to another leaf evaluated in the same round.
        """
        return int(self.table.counts[HITS])

    @property
    def hit_rate(self) -> float:
        """Hits per lookup; 0 before the first lookup."""
        return self.hits / self.lookups if self.lookups else 0.0

    def clear(self) -> None:
        """Discards every evaluation; the counts of lookups and hits continue."""
        self.table.counts[FORGOTTEN] = self.table.counts[LOOKUPS]
        self.value_columns = 0
        self._evaluator = None

    @contextmanager
    def used_by(self, evaluator: Evaluator) -> Iterator[None]:
        """Reserves the cache for one round of leaves of one evaluator.

        Raises:
            ValueError: if it holds the evaluations of another evaluator.
            RuntimeError: if it is already in use.
        """
        if self._evaluator is None:
            self._evaluator = evaluator
        elif self._evaluator != evaluator:
            raise ValueError(
                "the cache holds the evaluations of another evaluator; make one cache per "
                "evaluator, or call its clear() first"
            )
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                "the cache is in use by another search; give each thread its own cache"
            )
        try:
            yield
        finally:
            self._lock.release()

    def check_columns(self, columns: int) -> None:
        """Records how many values the evaluator returns per position.

        Raises:
            EvaluatorError: if it returned another number before.
        """
        if self.value_columns not in (0, columns):
            raise EvaluatorError(
                f"the evaluator returned {columns} value(s) per position, and "
                f"{self.value_columns} before; call the cache's clear() in between"
            )
        self.value_columns = columns


def check_cache(cache: object, game: Game, evaluator: Evaluator, device: str) -> None:
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
            f"the evaluator {evaluator!r} is built in and needs no cache; leave the cache out"
        )
    if device != "cpu":
        raise ValueError(
            f"device={device} does not support a cache; leave the cache out, or use the CPU"
        )


def _make_table(game: Game, max_bytes: int) -> Table:
    """An empty table of at most `max_bytes`."""
    mask, counts, dtype = _field_mask(game), np.zeros(3, np.int64), entry_dtype(game)
    room = max_bytes - mask.nbytes - counts.nbytes
    ways = max(1, min(_WAYS, room // dtype.itemsize))
    buckets = min(room // (ways * dtype.itemsize), 2**32 - 1)
    if buckets < 1:
        raise ValueError(
            f"max_bytes={max_bytes} holds no position of {game.name}; "
            f"set it to at least {max_bytes - room + dtype.itemsize}"
        )
    try:
        entries = np.zeros((buckets, ways), dtype)
    except MemoryError:
        size = math.prod((buckets, ways, dtype.itemsize))
        raise ValueError(
            f"cannot allocate {size:,} bytes for the cache; set a smaller max_bytes"
        ) from None
    return Table(entries, mask, counts)


def _field_mask(game: Game) -> NDArray[np.uint32]:
    """[W] ones where a state has a field; gaps between fields and the tag are 0."""
    mask = np.zeros(game.dtype.itemsize, np.uint8)
    fields: Any = game.dtype.fields
    for name, (kind, offset, *_) in fields.items():
        if name != game.tag:
            mask[offset : offset + kind.itemsize] = 0xFF
    return mask.view(WORD)


def words_of(states: NDArray[Any]) -> NDArray[np.uint32]:
    """States [B, N] as words [B, N, W]; the same memory."""
    return states.view(WORD).reshape(*states.shape, -1)
