"""A watchdog that interrupts a rule which never returns, in plain Python."""

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LIMIT = 10.0
"""Seconds of computing after which one call of a rule is interrupted.

They are the process's own seconds, not the clock's, so a busy machine interrupts nothing.
"""

_LOOKS_PER_LIMIT = 20


class TookTooLong(BaseException):
    """Raised in a rule that does not return; no `except Exception` of the rule stops it."""


class Watchdog:
    """Interrupts calls that take too long. Its thread runs only inside `awake`."""

    def __init__(self) -> None:
        """Watches nothing yet."""
        self.limit = LIMIT
        self._thread = 0  # of the call that is being watched
        self._since: float | None = None  # None: no call is running
        self._lock = threading.Lock()

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Keeps the watchdog's thread running."""
        asleep = threading.Event()
        self._thread = threading.get_ident()
        thread = threading.Thread(target=self._watch, args=(asleep,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            asleep.set()
            thread.join()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Raises `TookTooLong` in the code inside if it computes longer than the limit."""
        outer = self._since
        self._since = time.process_time()
        try:
            yield
        finally:
            with self._lock:  # after this, nothing inside is interrupted
                self._since = outer

    def _watch(self, asleep: threading.Event) -> None:
        while not asleep.wait(self.limit / _LOOKS_PER_LIMIT):
            with self._lock:
                since = self._since
                if since is not None and time.process_time() - since > self.limit:
                    self._since = None
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self._thread), ctypes.py_object(TookTooLong)
                    )
