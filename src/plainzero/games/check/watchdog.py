"""A watchdog that interrupts a rule which never returns, in plain Python."""

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

LIMIT = 10.0
"""Seconds of computing after which one call of a rule is interrupted.

They are the thread's own seconds, so neither a busy machine nor other threads interrupt anything.
Where the system does not tell them, they are the process's.
"""

WAITING_LIMIT = 120.0
"""Seconds by the clock after which a call that hardly computes is interrupted: it waits.

A machine has to be very busy to give a rule so little time.
"""

_LOOKS_PER_LIMIT = 20
_LONGEST_PAUSE = 1.0  # seconds between looks


class TookTooLong(BaseException):
    """Raised in a rule that does not return; no `except Exception` of the rule stops it."""


class WaitedTooLong(TookTooLong):
    """Raised in a rule that waits, such as for input or for time to pass."""


class _Call(NamedTuple):
    """The times at which a call began."""

    computed: float  # by the clock of `_cpu_clock`
    started: float  # by time.monotonic


class Watchdog:
    """Interrupts calls that take too long. Its thread runs only inside `awake`."""

    def __init__(self) -> None:
        """Watches nothing yet."""
        self.limit = LIMIT
        self.waiting_limit = WAITING_LIMIT
        self._thread = 0  # of the call that is being watched
        self._clock: Callable[[], float] = time.process_time
        self._call: _Call | None = None  # None: no call is running
        self._lock = threading.Lock()

    @contextmanager
    def awake(self) -> Iterator[None]:
        """Keeps the watchdog's thread running; it watches the calling thread."""
        asleep = threading.Event()
        self._thread = threading.get_ident()
        self._clock = _cpu_clock(self._thread)
        thread = threading.Thread(target=self._watch, args=(asleep,), daemon=True)
        with _waking_signal():
            thread.start()
            try:
                yield
            finally:
                asleep.set()
                thread.join()
                self._clock = time.process_time

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Raises `TookTooLong` in the code inside if it exceeds a limit."""
        outer = self._call
        self._call = _Call(self._clock(), time.monotonic())
        try:
            yield
        finally:
            with self._lock:  # after this, nothing inside is interrupted
                self._call = outer

    def _watch(self, asleep: threading.Event) -> None:
        pause = min(self.limit / _LOOKS_PER_LIMIT, self.waiting_limit, _LONGEST_PAUSE)
        while not asleep.wait(pause):
            with self._lock:
                call = self._call
                if call is None:
                    continue
                if self._clock() - call.computed > self.limit:
                    self._interrupt(TookTooLong)
                elif time.monotonic() - call.started > self.waiting_limit:
                    self._interrupt(WaitedTooLong)

    def _interrupt(self, error: type[TookTooLong]) -> None:
        self._call = None
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self._thread), ctypes.py_object(error)
        )
        _wake(self._thread)


def _cpu_clock(thread: int) -> Callable[[], float]:
    """A clock that any thread can read of the seconds for which `thread` has computed."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS, Windows
        return time.process_time
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)


# Python raises an error of another thread's making before its next instruction, which a thread that
# sleeps or waits for input does not reach. A signal ends the waiting; its handler has nothing to
# do. Only the main thread can be woken like this, and not on Windows.


@contextmanager
def _waking_signal() -> Iterator[None]:
    if not _can_be_woken(threading.get_ident()):
        yield
        return
    earlier = signal.signal(signal.SIGURG, _do_nothing)  # ignored by default, and rarely used
    try:
        yield
    finally:
        signal.signal(signal.SIGURG, earlier or signal.SIG_DFL)  # None: not installed by Python


def _wake(thread: int) -> None:
    if _can_be_woken(thread):
        signal.pthread_kill(thread, signal.SIGURG)


def _can_be_woken(thread: int) -> bool:
    return hasattr(signal, "pthread_kill") and thread == threading.main_thread().ident


def _do_nothing(*_: Any) -> None:
    """Runs as Python code, so that the error is raised."""
