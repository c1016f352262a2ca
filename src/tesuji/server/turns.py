"""Whose search runs: a bounded number at once, and everybody in turn.

Each search has a thread of its own, from a bounded number; only as many as there are cores compute
at the same time. One that has computed for a while gives way to those that wait, so a long search
delays a short one by a fraction of a second. Waiting goes round by client: who asks for ten things
waits longer for them than who asks for one.
"""

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tesuji.search.runner import StopFlag

T = TypeVar("T")

_QUANTUM = 0.1  # seconds of computing before a search gives way
_ASKING = 0.05  # seconds between looks at the stop flag while waiting


class Busy(RuntimeError):
    """Too many wait already."""


class Cancelled(Exception):
    """The search was cancelled while it waited for its turn."""


class Turns:
    """The right to compute, handed round among threads, client by client."""

    def __init__(self, slots: int) -> None:
        """At most `slots` threads compute at once."""
        self._free = slots
        self._condition = threading.Condition()
        self._waiting: OrderedDict[str, deque[object]] = OrderedDict()  # next client first

    def take(self, client: str, stop: StopFlag) -> None:
        """Waits for a turn.

        Raises:
            Cancelled: when `stop` is set before it comes.
        """
        ticket = object()
        with self._condition:
            self._waiting.setdefault(client, deque()).append(ticket)
            while not (self._free and self._is_next(client, ticket)):
                if stop.is_set():
                    self._leave(client, ticket)
                    self._condition.notify_all()
                    raise Cancelled
                self._condition.wait(_ASKING)
            self._leave(client, ticket)
            self._free -= 1
            self._condition.notify_all()

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
    """One search's share of the machine; a context within which it may compute."""

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
        if self._has_slot:
            self._turns.give_back()

    def give_way(self) -> None:
        """To be called now and then: pauses for others after a while of computing."""
        if time.monotonic() - self._since > _QUANTUM and self._turns.is_wanted():
            self._turns.give_back()
            self._has_slot = False
            try:
                self._take()
            except Cancelled:  # then it ends by itself, in no time
                return

    def _take(self) -> None:
        self._turns.take(self._client, self.stop)
        self._has_slot = True
        self._since = time.monotonic()


class Searches:
    """Runs searches off the event loop.

    Args:
        slots: that compute at once.
        most_started: that have a thread and a tree.
        most_waiting: beyond those, of all clients together.
        most_of_client: of one client, started and waiting.
    """

    def __init__(  # noqa: D107
        self, slots: int, most_started: int = 16, most_waiting: int = 256, most_of_client: int = 16
    ) -> None:
        self._turns = Turns(slots)
        self._threads = ThreadPoolExecutor(most_started, thread_name_prefix="search")
        self._free = most_started
        self._most_waiting, self._most_of_client = most_waiting, most_of_client
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._of_client: dict[str, int] = {}
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

        Cancelling the task that awaits it sets the stop flag, so the thread ends soon.

        Raises:
            Busy: when too many wait.
        """
        stop = stop or StopFlag()
        await self._admit(client, on_wait)
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
        """Ends all that runs."""
        for stop in self.running:
            stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run_in_turn(self, client: str, work: Callable[[Turn], T], stop: StopFlag) -> T:
        with Turn(self._turns, client, stop) as turn:
            return work(turn)

    async def _admit(self, client: str, on_wait: Callable[[int], None] | None) -> None:
        if self._of_client.get(client, 0) >= self._most_of_client:
            raise Busy(f"{self._most_of_client} searches of yours are running; wait for one to end")
        if self._free:
            self._start(client)
            return
        if self.num_waiting >= self._most_waiting:
            raise Busy("the server is busy: too many searches wait already; try again in a moment")
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(ready)
        self._of_client[client] = self._of_client.get(client, 0) + 1
        if on_wait is not None:
            on_wait(self.num_waiting - 1)
        try:
            await ready
        except asyncio.CancelledError:
            if ready.done() and not ready.cancelled():
                self._release(client)  # its turn had come just now
            else:
                self._drop(client, ready)
                self._forget(client)
            raise

    def _drop(self, client: str, ready: "asyncio.Future[None]") -> None:
        """Takes a request out of the queue, unless it was passed over already."""
        queue = self._waiting.get(client, deque())
        if ready in queue:
            queue.remove(ready)
            if not queue:
                del self._waiting[client]

    def _start(self, client: str) -> None:
        self._free -= 1
        self._of_client[client] = self._of_client.get(client, 0) + 1

    def _finish(self, client: str, stop: StopFlag, done: "asyncio.Future[Any]") -> None:
        self.running.discard(stop)
        if not done.cancelled():
            done.exception()  # whoever awaited it may be gone
        self._release(client)

    def _release(self, client: str) -> None:
        """Frees a thread, and gives it to the next client in the round."""
        self._free += 1
        self._forget(client)
        while self._waiting and self._free:
            next_client, queue = self._waiting.popitem(last=False)
            ready = queue.popleft()
            if queue:
                self._waiting[next_client] = queue
            if not ready.done():
                self._free -= 1
                ready.set_result(None)

    def _forget(self, client: str) -> None:
        self._of_client[client] -= 1
        if not self._of_client[client]:
            del self._of_client[client]
