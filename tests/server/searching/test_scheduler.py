"""The scheduler: searches are bounded, fair, and stopped when no client waits for them."""

import asyncio
import threading
import time

import pytest

from plainzero.search.runner import StopFlag
from plainzero.server.searching.scheduler import Scheduler, Slot, SlotQueue, TooBusy


async def until(is_so):
    """Lets other tasks run until it is so."""
    while not is_so():
        await asyncio.sleep(0.001)


def test_no_more_compute_at_once_than_there_are_slots():
    searches, lock, pair = Scheduler(slots=2), threading.Lock(), threading.Barrier(2)
    now = most = 0

    def work(slot):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        pair.wait()  # two do compute at once
        with lock:
            now -= 1

    async def all_of_them():
        await asyncio.gather(*(searches.run(f"client {i}", work) for i in range(12)))

    asyncio.run(all_of_them())
    assert most == 2


def test_who_asks_for_one_thing_does_not_wait_for_who_asks_for_ten():
    searches, order = Scheduler(slots=1, max_started=1), []

    async def all_of_them():
        let_go = threading.Event()

        def work_of(name):
            def work(slot):
                let_go.wait()
                order.append(name)

            return work

        greedy = [asyncio.create_task(searches.run("greedy", work_of("greedy"))) for _ in range(8)]
        await until(lambda: searches.num_waiting == 7)
        modest = asyncio.create_task(searches.run("modest", work_of("modest")))
        await until(lambda: searches.num_waiting == 8)
        let_go.set()
        await asyncio.gather(*greedy, modest)

    asyncio.run(all_of_them())
    assert order.count("greedy") == 8
    assert order.index("modest") <= 2


def test_a_long_search_gives_way_to_a_short_one():
    searches, ended = Scheduler(slots=1), []

    async def both():
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def long(slot):
            loop.call_soon_threadsafe(started.set)
            while not ended:
                slot.yield_to_others()
            ended.append("long")

        task = asyncio.create_task(searches.run("patient", long))
        await started.wait()
        await searches.run("hasty", lambda slot: ended.append("short"))
        await task

    asyncio.run(both())
    assert ended == ["short", "long"]


def test_a_cancelled_task_sets_the_stop_flag_of_its_search():
    searches, stop = Scheduler(slots=1), StopFlag()

    async def cancel():
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(slot):
            loop.call_soon_threadsafe(started.set)
            while not slot.stop.is_set():
                time.sleep(0.001)

        task = asyncio.create_task(searches.run("one", work, stop))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await searches.run("two", lambda slot: None)  # the slot is free again
        assert not searches.running

    asyncio.run(cancel())
    assert stop.is_set()


def test_a_search_cancelled_while_it_waits_leaves_the_queue_to_others():
    searches = Scheduler(slots=1, max_started=1)

    async def cancel():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda slot: let_go.wait()))
        await until(lambda: searches.running)
        waiting = asyncio.create_task(searches.run("b", lambda slot: "b"))
        last = asyncio.create_task(searches.run("c", lambda slot: "c"))
        await until(lambda: searches.num_waiting == 2)
        waiting.cancel()
        await until(lambda: searches.num_waiting == 1)
        let_go.set()
        assert await first is True
        assert await last == "c"
        assert searches.num_waiting == 0 and not searches._started

    asyncio.run(cancel())


def test_too_many_are_refused():
    searches = Scheduler(slots=1, max_started=1, max_waiting=2, max_of_client=2)

    async def ask():
        let_go = threading.Event()
        tasks = [
            asyncio.create_task(searches.run(client, lambda slot: let_go.wait()))
            for client in ("a", "a", "b")
        ]
        await until(lambda: searches.num_waiting == 2)
        with pytest.raises(TooBusy, match="you have 2 searches open"):
            await searches.run("a", lambda slot: None)
        with pytest.raises(TooBusy, match="too many searches are waiting"):
            await searches.run("c", lambda slot: None)
        let_go.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())


def test_where_all_places_are_taken_who_has_most_gives_one_up():
    searches = Scheduler(slots=1, max_started=1, max_waiting=3)

    async def ask():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda slot: let_go.wait()))
        await until(lambda: searches.running)
        greedy = [asyncio.create_task(searches.run("b", lambda slot: "b")) for _ in range(3)]
        await until(lambda: searches.num_waiting == 3)
        modest = asyncio.create_task(searches.run("c", lambda slot: "c"))
        with pytest.raises(TooBusy, match="too many searches are waiting"):
            await greedy.pop()
        let_go.set()
        assert await asyncio.gather(first, *greedy, modest) == [True, "b", "b", "c"]

    asyncio.run(ask())


def test_long_searches_of_one_client_leave_threads_to_others():
    searches = Scheduler(slots=2, max_started=16)

    async def ask():
        let_go = threading.Event()

        def long(slot):
            while not let_go.is_set():
                slot.yield_to_others()

        greedy = [asyncio.create_task(searches.run("greedy", long)) for _ in range(16)]
        await until(lambda: len(searches.running) == 2 and searches.num_waiting == 14)
        assert await searches.run("modest", lambda slot: "done") == "done"
        assert len(searches.running) == 2 and searches.num_waiting == 14
        let_go.set()
        await asyncio.gather(*greedy)

    asyncio.run(ask())


def test_a_free_thread_goes_to_the_client_with_the_fewest():
    searches, order = Scheduler(slots=3, max_started=3), []

    async def ask():
        let_go, end_first = threading.Event(), threading.Event()
        tasks = [
            asyncio.create_task(searches.run(client, lambda slot, end=end: end.wait()))
            for client, end in (("a", let_go), ("b", end_first), ("b", let_go))
        ]
        await until(lambda: len(searches.running) == 3)
        for client in ("a", "c"):
            work = lambda slot, client=client: order.append(client)  # noqa: E731
            tasks.append(asyncio.create_task(searches.run(client, work)))
        await until(lambda: searches.num_waiting == 2)
        end_first.set()
        await asyncio.gather(*tasks[3:])
        let_go.set()
        await asyncio.gather(*tasks)

    asyncio.run(ask())
    assert order == ["c", "a"]


def test_a_search_stopped_while_it_waits_for_a_thread_begins_at_once():
    searches, stop = Scheduler(slots=1, max_started=1), StopFlag()

    async def ask():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda slot: let_go.wait()))
        await until(lambda: searches.running)
        waiting = asyncio.create_task(searches.run("b", lambda slot: slot.stop.is_set(), stop))
        await until(lambda: searches.num_waiting == 1)
        stop.set()
        assert await waiting is True
        assert not first.done() and searches.num_waiting == 0
        let_go.set()
        await first
        assert await searches.run("c", lambda slot: "c") == "c"
        assert not searches._started and searches._free == 1

    asyncio.run(ask())


def test_closing_goes_over_a_copy_of_what_runs():
    searches = Scheduler(slots=1)

    class Ending(StopFlag):
        def set(self):
            searches.running.discard(self)  # as the event loop does when a search ends

    searches.running = {Ending(), Ending()}
    searches.close()
    assert not searches.running


def test_waiting_is_told():
    searches, told = Scheduler(slots=1, max_started=1), []

    async def ask():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda slot: let_go.wait()))
        await until(lambda: searches.running)
        rest = [
            asyncio.create_task(searches.run(client, lambda slot: None, on_wait=told.append))
            for client in ("b", "c")
        ]
        await until(lambda: searches.num_waiting == 2)
        let_go.set()
        await asyncio.gather(first, *rest)

    asyncio.run(ask())
    assert told == [0, 1]


def test_what_a_search_raises_reaches_whoever_waits_for_it():
    def work(slot):
        raise ValueError("no such move")

    searches = Scheduler(slots=1)
    with pytest.raises(ValueError, match="no such move"):
        asyncio.run(searches.run("a", work))


def test_a_stopped_search_does_not_wait_for_its_turn():
    slots, stop = SlotQueue(1), StopFlag()
    with Slot(slots, "a", StopFlag()):
        threading.Timer(0.05, stop.set).start()
        with Slot(slots, "b", stop):
            assert stop.is_set()
    assert not slots.has_waiters()
    assert slots.acquire("c", StopFlag()) and not slots.acquire("d", stop)  # one slot


def test_who_waits_aside_lets_others_compute():
    slots, computed = SlotQueue(1), threading.Event()

    def compute():
        with Slot(slots, "b", StopFlag()):
            computed.set()

    with Slot(slots, "a", StopFlag()) as slot:
        thread = threading.Thread(target=compute)
        thread.start()
        assert not computed.wait(0.05)
        with slot.released():
            assert computed.wait()
        thread.join()
    assert slots.acquire("c", StopFlag()) and not slots.has_waiters()
