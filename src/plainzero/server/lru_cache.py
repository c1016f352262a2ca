"""Values that are made once and kept, the most recently wanted ones."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
_NOTHING: Any = object()


class Kept(Generic[Value]):
    """Values by key; whoever asks while a value is being made waits for it. Safe for threads.

    Args:
        most: of all sizes together; the values that nobody has asked for longest go first.
        size_of: what a value counts; by default 1.
    """

    def __init__(self, most: int, size_of: Callable[[Value], int] = lambda _: 1) -> None:  # noqa: D107
        self._most, self._size_of = most, size_of
        self._size = 0
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of that key, made where it is not there; what `make` raises is not kept."""
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
        """How many are kept, or being made."""
        return len(self._entries)

    def _count(self, key: Hashable, entry: "_Entry[Value]") -> None:
        """Makes room for a value that was made just now; one too large for all is not kept."""
        with self._lock:
            if self._entries.get(key) is not entry:  # it had to go while it was being made
                return
            entry.size = self._size_of(entry.value)
            self._size += entry.size
            self._entries.move_to_end(key)
            while self._size > self._most:
                _, oldest = self._entries.popitem(last=False)
                self._size -= oldest.size

    def _forget(self, key: Hashable, entry: "_Entry[Value]") -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]


class _Entry(Generic[Value]):
    """A value, and who makes it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: Value = _NOTHING
        self.size = 0  # while it is being made
