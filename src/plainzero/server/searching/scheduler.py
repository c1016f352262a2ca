"""Whose search runs: a bounded number at once, and everybody in turn.

Each search has a thread of its own, from a bounded number; only as many as there are cores compute
at the same time. One that has computed for a while gives way to those that wait, so a long search
delays a short one by a fraction of a second. Waiting goes round by client, and each client has only
a few of the threads: who asks for ten things waits longer for them than who asks for one.
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

_QUANTUM = 0.1  # seconds of computing before a search gives way
_ASKING = 0.05  # seconds between looks at the stop flag while waiting for a turn
_LOOKING = 0.25  # and while waiting for a thread


class Busy(RuntimeError):
    """Too many wait already."""


class Turns:
    """The right to compute, handed round among threads, client by client."""

    def __init__(self, slots: int) -> None:
        """At most `slots` threads compute at once."""
        self._free = slots
        self._condition = threading.Condition()
        self._waiting: OrderedDict[str, deque[object]] = OrderedDict()  # next client first

    def take(self, client: str, stop: StopFlag) -> bool:
        """Waits for a turn; False when `stop` is set before it comes."""
        ticket = object()
        with self._condition:
            self._waiting.setdefault(client, deque()).append(ticket)
            while not (self._free and self._is_next(client, ticket)):
                if stop.is_set():
                    self._leave(client, ticket)
                    self._condition.notify_all()
                    return False
                self._condition.wait(_ASKING)
            self._leave(client, ticket)
            self._free -= 1
            self._condition.notify_all()
            return True

    def give_back(self) -> None:
        """Ends a turn."""
        with self._condition:
            self._free += 1
            self._condition.notify_all()

    def is_wanted(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

    def _is_next(self, client: str, ticket: object) -> bool:
        first = next(iter(self._waiting))
        return client == first and self._waiting[client][0] is ticket

    def _leave(self, client: str, ticket: object) -> None:
        """Takes the ticket out; the client's next one goes to the end of the round."""
        tickets = self._waiting.pop(client)
        tickets.remove(ticket)
        if tickets:
            self._waiting[client] = tickets


class Turn:
    """One search's share of the machine; a context within which it may compute.

    A search that is stopped waits for no turn: what is left for it to do takes no time.
    """

    def __init__(self, turns: Turns, client: str, stop: StopFlag) -> None:
        """A turn that has not come yet."""
        self._turns, self._client, self.stop = turns, client, stop
        self._since = 0.0
        self._has_slot = False

    def __enter__(self) -> "Turn":
        """Waits until it may compute."""
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        """Lets the next one compute."""
        self._give_back()

    def give_way(self) -> None:
        """To be called now and then: pauses for others after a while of computing."""
        if time.monotonic() - self._since > _QUANTUM and self._turns.is_wanted():
            self._give_back()
            self._take()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within, others compute: for waiting."""
        self._give_back()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        self._has_slot = self._turns.take(self._client, self.stop)
        self._since = time.monotonic()

    def _give_back(self) -> None:
        if self._has_slot:
            self._has_slot = False
            self._turns.give_back()


class Searches:
    """Runs searches off the event loop.

    Args:
        slots: that compute at once.
        most_started: that have a thread and a tree.
        most_started_of_client: of those, of one client.
        most_waiting: beyond those, of all clients together. Whoever has most of them gives up one
            when another client comes.
        most_of_client: of one client, started and waiting.
    """

    def __init__(  # noqa: D107
        self,
        slots: int,
        most_started: int = 16,
        most_started_of_client: int = 2,
        most_waiting: int = 256,
        most_of_client: int = 16,
    ) -> None:
        self._turns = Turns(slots)
        # A search that is stopped while it waits gets a thread at once, beyond `most_started`.
        self._threads = ThreadPoolExecutor(most_started + most_waiting, "search")
        self._free = most_started
        self._most_started_of_client = most_started_of_client
        self._most_waiting, self._most_of_client = most_waiting, most_of_client
        self._started: Counter[str] = Counter()  # by client
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self.running: set[StopFlag] = set()

    @property
    def num_waiting(self) -> int:
        """Those without a thread."""
        return sum(len(queue) for queue in self._waiting.values())

    async def run(
        self,
        client: str,
        work: Callable[[Turn], T],
        stop: StopFlag | None = None,
        on_wait: Callable[[int], None] | None = None,
    ) -> T:
        """The result of `work`, run in a thread when its turn comes.

        Cancelling the task that awaits it sets the stop flag, so the thread ends soon. With the
        flag set, `work` begins without waiting any longer, and is to end at once with what it has.

        Raises:
            Busy: when too many wait.
        """
        stop = stop or StopFlag()
        await self._admit(client, stop, on_wait)
        future: asyncio.Future[T]
        future = asyncio.get_running_loop().run_in_executor(
            self._threads, self._run_in_turn, client, work, stop
        )
        self.running.add(stop)
        future.add_done_callback(lambda done: self._finish(client, stop, done))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            raise

    def close(self) -> None:
        """Ends all that runs; may be called from any thread."""
        for stop in list(self.running):
            stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run_in_turn(self, client: str, work: Callable[[Turn], T], stop: StopFlag) -> T:
        with Turn(self._turns, client, stop) as turn:
            return work(turn)

    async def _admit(
        self, client: str, stop: StopFlag, on_wait: Callable[[int], None] | None
    ) -> None:
        """Waits for a thread, or for `stop`."""
        num_open = self._started[client] + len(self._waiting.get(client, ()))
        if num_open >= self._most_of_client:
            raise Busy(f"{num_open} searches of yours are open already; wait for one to end")
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(ready)
        self._start_next()
        self._refuse_beyond_places(client)
        if on_wait is not None and not ready.done():
            on_wait(self.num_waiting - 1)
        try:
            while not ready.done() and not stop.is_set():
                await asyncio.wait([ready], timeout=_LOOKING)
        except asyncio.CancelledError:
            if not ready.done():
                self._take_out(client, ready)
            elif ready.exception() is None:
                self._release(client)  # its turn had come just now
            raise
        if not ready.done():
            self._take_out(client, ready)
            self._start(client, ready)
        ready.result()

    def _start_next(self) -> None:
        """Gives free threads to those who wait: who has fewest comes first, then who is next."""
        while self._free > 0:
            may_start = [
                client
                for client in self._waiting
                if self._started[client] < self._most_started_of_client
            ]
            if not may_start:
                return
            client = min(may_start, key=lambda client: self._started[client])
            ready = self._waiting[client][0]
            self._take_out(client, ready)
            self._start(client, ready)

    def _start(self, client: str, ready: "asyncio.Future[None]") -> None:
        self._free -= 1
        self._started[client] += 1
        ready.set_result(None)

    def _refuse_beyond_places(self, newcomer: str) -> None:
        """Refuses the last request of whoever has most; of equals, the newcomer's."""
        if self.num_waiting <= self._most_waiting:
            return
        client = max(self._waiting, key=lambda name: (len(self._waiting[name]), name == newcomer))
        ready = self._waiting[client][-1]
        self._take_out(client, ready)
        ready.set_exception(
            Busy("the server is busy: too many searches wait already; try again in a moment")
        )

    def _take_out(self, client: str, ready: "asyncio.Future[None]") -> None:
        """Takes a request out of its queue; the client's next one goes to the end of the round."""
        queue = self._waiting.pop(client)
        queue.remove(ready)
        if queue:
            self._waiting[client] = queue

    def _finish(self, client: str, stop: StopFlag, done: "asyncio.Future[Any]") -> None:
        self.running.discard(stop)
        if not done.cancelled():
            done.exception()  # whoever awaited it may be gone
        self._release(client)

    def _release(self, client: str) -> None:
        """Frees a thread for the next."""
        self._free += 1
        self._started[client] -= 1
        self._started += Counter()  # keeps only those above 0
        self._start_next()
