"""Values that are made once and kept, the most recently wanted ones."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
_NOTHING: Any = object()


class Kept(Generic[Value]):
    """Values by key; whoever asks while a value is being made waits for it. Safe for threads."""

    def __init__(self, most: int) -> None:
        """Keeps so many at most; those that nobody has asked for longest go first."""
        self._most = most
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of that key, made where it is not there; what `make` raises is not kept."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        with entry.lock:
            if entry.value is _NOTHING:
                try:
                    entry.value = make()
                except BaseException:
                    self._forget(key, entry)
                    raise
            return entry.value

    def _forget(self, key: Hashable, entry: "_Entry[Value]") -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]


class _Entry(Generic[Value]):
    """A value, and who makes it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value: Value = _NOTHING
