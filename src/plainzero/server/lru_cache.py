"""A least-recently-used cache that makes each value once."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
_NOTHING: Any = object()


class LruCache(Generic[Value]):
    """Values by key; concurrent requests for one key make its value once. Thread-safe.

    Args:
        max_size: of all values together; the least recently used are dropped.
        size_of: the size of a value, by default 1.
    """

    def __init__(self, max_size: int, size_of: Callable[[Value], int] = lambda _: 1) -> None:  # noqa: D107
        self._max_size, self._size_of = max_size, size_of
        self._size = 0
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value for `key`, made if missing; nothing is cached if `make` raises."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
        with entry.lock:
            if entry.value is _NOTHING:
                try:
                    entry.value = make()
                except BaseException:
                    self._forget(key, entry)
                    raise
                self._count(key, entry)
            return entry.value

    def __len__(self) -> int:
        """The number of values cached or being made."""
        return len(self._entries)

    def _count(self, key: Hashable, entry: "_Entry[Value]") -> None:
        """Makes room for a new value; one larger than the whole cache is not cached."""
        with self._lock:
            if self._entries.get(key) is not entry:  # dropped while it was being made
                return
            entry.size = self._size_of(entry.value)
            self._size += entry.size
            self._entries.move_to_end(key)
            while self._size > self._max_size:
                _, oldest = self._entries.popitem(last=False)
                self._size -= oldest.size

    def _forget(self, key: Hashable, entry: "_Entry[Value]") -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]


class _Entry(Generic[Value]):
    """A value, and the lock of the thread that makes it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: Value = _NOTHING
        self.size = 0  # while it is being made
