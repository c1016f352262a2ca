"""Compiles what searches need, in a separate thread, while other searches compute.

Compiling a new game takes seconds, a large one half a minute, and cannot be interrupted. So it
takes no slot, and a search that waits for it can be stopped.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from plainzero.opponents.agent import Stopped
from plainzero.search.runner import StopFlag
from plainzero.server.searching.scheduler import Slot

_POLL_SECONDS = 0.05  # between two checks of the stop flag while waiting


class CompileThread:
    """Compiles each key once, before the searches that need it."""

    def __init__(self) -> None:
        """Nothing is compiled yet."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compiling")
        self._known: set[Hashable] = set()  # bounded by the compiled code in memory
        self._jobs: dict[Hashable, _Job] = {}
        self._lock = threading.Lock()

    def ensure(self, key: Hashable, compile_it: Callable[[], object], slot: Slot) -> None:
        """Returns once `compile_it` has run for `key`; other searches use the slot meanwhile.

        An error is raised in all waiting searches, and the next call tries again.

        Raises:
            Stopped: if the search is stopped while it waits. If no other search waits and compiling
                has not begun, it is cancelled.
        """
        if key in self._known:
            return
        with slot.released():
            self._wait(key, compile_it, slot.stop)

    def close(self) -> None:
        """Cancels what has not begun."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _wait(self, key: Hashable, compile_it: Callable[[], object], stop: StopFlag) -> None:
        job = self._join(key, compile_it)
        if job is None:
            return
        try:
            while not job.future.done():
                if stop.is_set():
                    raise Stopped("stopped while the game was being compiled; ask again later")
                wait([job.future], timeout=_POLL_SECONDS)
            job.future.result()
        finally:
            self._leave(key, job)

    def _join(self, key: Hashable, compile_it: Callable[[], object]) -> "_Job | None":
        """The job that compiles `key`; None if that is done."""
        with self._lock:
            if key in self._known:
                return None
            if key not in self._jobs:
                self._jobs[key] = _Job(self._thread.submit(compile_it))
            job = self._jobs[key]
            job.num_waiting += 1
            return job

    def _leave(self, key: Hashable, job: "_Job") -> None:
        with self._lock:
            job.num_waiting -= 1
            if job.is_compiled():
                self._known.add(key)
            if not job.num_waiting:
                job.future.cancel()  # has no effect once it has begun
                del self._jobs[key]


@dataclass
class _Job:
    """A compilation, and the number of searches that wait for it."""

    future: Future[object]
    num_waiting: int = 0

    def is_compiled(self) -> bool:
        """Whether it has succeeded."""
        is_done = self.future.done() and not self.future.cancelled()
        return is_done and self.future.exception() is None
