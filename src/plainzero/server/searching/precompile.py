"""Compiling what searches need: one thing at a time, in a thread of its own, while others compute.

A game that was never played here takes seconds to compile, a large one half a minute, and nothing
can end that before it is done. So it has no part in the turns, and whoever waits for it can leave.
"""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from plainzero.opponents.agent import Stopped
from plainzero.search.runner import StopFlag
from plainzero.server.searching.scheduler import Turn

_ASKING = 0.05  # seconds between looks at the stop flag while waiting


class CompilingAhead:
    """Compiles each thing once, before the searches that need it go on."""

    def __init__(self) -> None:
        """Nothing is compiled yet."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="compiling")
        self._known: set[Hashable] = set()  # as many as there is compiled code in memory
        self._jobs: dict[Hashable, _Job] = {}
        self._lock = threading.Lock()

    def finish(self, key: Hashable, compile_it: Callable[[], object], turn: Turn) -> None:
        """Returns when `compile_it` has run for `key`, now or before; others compute meanwhile.

        What it raises, it raises for all who wait, and is tried again for the next.

        Raises:
            Stopped: when the turn's search is stopped before. If nobody else waits and compiling
                has not begun, it never does.
        """
        if key in self._known:
            return
        with turn.aside():
            self._wait(key, compile_it, turn.stop)

    def close(self) -> None:
        """Begins nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _wait(self, key: Hashable, compile_it: Callable[[], object], stop: StopFlag) -> None:
        job = self._join(key, compile_it)
        if job is None:
            return
        try:
            while not job.future.done():
                if stop.is_set():
                    raise Stopped("stopped while the game was being compiled; ask again later")
                wait([job.future], timeout=_ASKING)
            job.future.result()
        finally:
            self._leave(key, job)

    def _join(self, key: Hashable, compile_it: Callable[[], object]) -> "_Job | None":
        """What is being compiled for `key`; None where that is done."""
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
                job.future.cancel()  # without effect once it has begun
                del self._jobs[key]


@dataclass
class _Job:
    """Something to compile, and how many searches wait for it."""

    future: Future[object]
    num_waiting: int = 0

    def is_compiled(self) -> bool:
        """Whether it was done, and without a fault."""
        is_done = self.future.done() and not self.future.cancelled()
        return is_done and self.future.exception() is None
