"""Schedules searches fairly among clients.

Each search has one thread of a limited number; only as many threads as there are cores compute at
the same time, each in a slot. A search that has computed for a while yields its slot if others are
waiting, so a long search delays a short one by a fraction of a second. Clients take turns, and each
may have only a few threads: a client with ten searches waits longer than a client with one.
"""

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from plainzero.search.runner import StopFlag

T = TypeVar("T")

_QUANTUM = 0.1  # seconds of computing before a search yields
_SLOT_POLL_SECONDS = 0.05  # between two checks of the stop flag while waiting for a slot
_THREAD_POLL_SECONDS = 0.25  # and while waiting for a thread


class TooBusy(RuntimeError):
    """Too many searches are waiting."""


class SlotQueue:
    """A limited number of slots for computing, assigned to clients in turn."""

    def __init__(self, slots: int) -> None:
        """At most `slots` threads compute at the same time."""
        self._free = slots
        self._condition = threading.Condition()
        self._waiting: OrderedDict[str, deque[object]] = OrderedDict()  # next client first

    def acquire(self, client: str, stop: StopFlag) -> bool:
        """Waits for a slot; returns False if `stop` is set first."""
        ticket = object()
        with self._condition:
            self._waiting.setdefault(client, deque()).append(ticket)
            while not (self._free and self._is_next(client, ticket)):
                if stop.is_set():
                    self._leave(client, ticket)
                    self._condition.notify_all()
                    return False
                self._condition.wait(_SLOT_POLL_SECONDS)
            self._leave(client, ticket)
            self._free -= 1
            self._condition.notify_all()
            return True

    def release(self) -> None:
        """Frees a slot."""
        with self._condition:
            self._free += 1
            self._condition.notify_all()

    def has_waiters(self) -> bool:
        """Whether any thread is waiting."""
        return bool(self._waiting)

    def _is_next(self, client: str, ticket: object) -> bool:
        first = next(iter(self._waiting))
        return client == first and self._waiting[client][0] is ticket

    def _leave(self, client: str, ticket: object) -> None:
        """Removes a ticket; the client's next one goes to the end of the queue."""
        tickets = self._waiting.pop(client)
        tickets.remove(ticket)
        if tickets:
            self._waiting[client] = tickets


class Slot:
    """The slot of one search; a context manager within which it may compute.

    A stopped search does not wait for a slot, because it has hardly anything left to do.
    """

    def __init__(self, slots: SlotQueue, client: str, stop: StopFlag) -> None:
        """A slot that is not acquired yet."""
        self._slots, self._client, self.stop = slots, client, stop
        self._since = 0.0
        self._has_slot = False

    def __enter__(self) -> "Slot":
        """Waits for a slot."""
        self._acquire_slot()
        return self

    def __exit__(self, *_: object) -> None:
        """Frees the slot."""
        self._release_slot()

    def yield_to_others(self) -> None:
        """Pauses if others are waiting and the quantum is over; searches call it regularly."""
        if time.monotonic() - self._since > _QUANTUM and self._slots.has_waiters():
            self._release_slot()
            self._acquire_slot()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Frees the slot within the context, for waiting."""
        self._release_slot()
        try:
            yield
        finally:
            self._acquire_slot()

    def _acquire_slot(self) -> None:
        self._has_slot = self._slots.acquire(self._client, self.stop)
        self._since = time.monotonic()

    def _release_slot(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._slots.release()


class Scheduler:
    """Runs searches outside the event loop.

    Args:
        slots: the number of searches that compute at the same time.
        max_started: the number of searches with a thread and a tree.
        max_started_of_client: the same, per client.
        max_waiting: the number of searches that wait for a thread. Beyond it, the client with the
            most waiting searches loses one.
        max_of_client: the number of searches per client, started and waiting.
    """

    def __init__(  # noqa: D107
        self,
        slots: int,
        max_started: int = 16,
        max_started_of_client: int = 2,
        max_waiting: int = 256,
        max_of_client: int = 16,
    ) -> None:
        self._slots = SlotQueue(slots)
        # A search stopped while it waits gets a thread at once, in addition to `max_started`.
        self._threads = ThreadPoolExecutor(max_started + max_waiting, "search")
        self._free = max_started
        self._max_started_of_client = max_started_of_client
        self._max_waiting, self._max_of_client = max_waiting, max_of_client
        self._started: Counter[str] = Counter()  # by client
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self.running: set[StopFlag] = set()

    @property
    def num_waiting(self) -> int:
        """The number of searches without a thread."""
        return sum(len(queue) for queue in self._waiting.values())

    async def run(
        self,
        client: str,
        work: Callable[[Slot], T],
        stop: StopFlag | None = None,
        on_wait: Callable[[int], None] | None = None,
    ) -> T:
        """The result of `work`, which runs in a thread with a slot.

        Cancelling the awaiting task sets the stop flag, so that the thread ends soon. If the flag
        is set, `work` begins without waiting and must return at once with what it has.

        Raises:
            TooBusy: if too many searches are waiting.
        """
        stop = stop or StopFlag()
        await self._admit(client, stop, on_wait)
        future: asyncio.Future[T]
        future = asyncio.get_running_loop().run_in_executor(
            self._threads, self._run_in_slot, client, work, stop
        )
        self.running.add(stop)
        future.add_done_callback(lambda done: self._finish(client, stop, done))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            raise

    def close(self) -> None:
        """Stops all searches; may be called from any thread."""
        for stop in list(self.running):
            stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run_in_slot(self, client: str, work: Callable[[Slot], T], stop: StopFlag) -> T:
        with Slot(self._slots, client, stop) as slot:
            return work(slot)

    async def _admit(
        self, client: str, stop: StopFlag, on_wait: Callable[[int], None] | None
    ) -> None:
        """Waits for a thread, or for `stop`."""
        num_open = self._started[client] + len(self._waiting.get(client, ()))
        if num_open >= self._max_of_client:
            raise TooBusy(f"you have {num_open} searches open already; wait for one to end")
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(ready)
        self._start_next()
        self._refuse_excess(client)
        if on_wait is not None and not ready.done():
            on_wait(self.num_waiting - 1)
        try:
            while not ready.done() and not stop.is_set():
                await asyncio.wait([ready], timeout=_THREAD_POLL_SECONDS)
        except asyncio.CancelledError:
            if not ready.done():
                self._remove(client, ready)
            elif ready.exception() is None:
                self._release(client)  # it had just been given a thread
            raise
        if not ready.done():
            self._remove(client, ready)
            self._start(client, ready)
        ready.result()

    def _start_next(self) -> None:
        """Gives free threads to waiting clients: first to those with the fewest, then in order."""
        while self._free > 0:
            may_start = [
                client
                for client in self._waiting
                if self._started[client] < self._max_started_of_client
            ]
            if not may_start:
                return
            client = min(may_start, key=lambda client: self._started[client])
            ready = self._waiting[client][0]
            self._remove(client, ready)
            self._start(client, ready)

    def _start(self, client: str, ready: "asyncio.Future[None]") -> None:
        self._free -= 1
        self._started[client] += 1
        ready.set_result(None)

    def _refuse_excess(self, newcomer: str) -> None:
        """Refuses the last search of the client with the most waiting, in a tie the newcomer's."""
        if self.num_waiting <= self._max_waiting:
            return
        client = max(self._waiting, key=lambda name: (len(self._waiting[name]), name == newcomer))
        ready = self._waiting[client][-1]
        self._remove(client, ready)
        ready.set_exception(
            TooBusy("the server is too busy: too many searches are waiting; try again in a moment")
        )

    def _remove(self, client: str, ready: "asyncio.Future[None]") -> None:
        """Removes a search from its queue; the client's next one goes to the end of the round."""
        queue = self._waiting.pop(client)
        queue.remove(ready)
        if queue:
            self._waiting[client] = queue

    def _finish(self, client: str, stop: StopFlag, done: "asyncio.Future[Any]") -> None:
        self.running.discard(stop)
        if not done.cancelled():
            done.exception()  # retrieved, because nobody may be awaiting it any more
        self._release(client)

    def _release(self, client: str) -> None:
        """Frees a thread for the next search."""
        self._free += 1
        self._started[client] -= 1
        self._started += Counter()  # drops zeros
        self._start_next()
