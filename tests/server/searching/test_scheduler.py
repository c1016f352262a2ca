"""Searches run in turn: bounded, fair, and gone when nobody wants them."""

import asyncio
import threading
import time

import pytest

from plainzero.search.runner import StopFlag
from plainzero.server.searching.scheduler import Busy, Searches, Turn, Turns


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def test_no_more_compute_at_once_than_there_are_slots():
    searches, lock = Searches(slots=2), threading.Lock()
    now = most = 0

    def work(turn):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.02)
        with lock:
            now -= 1

    async def all_of_them():
        await asyncio.gather(*(searches.run(f"client {i}", work) for i in range(12)))

    run(all_of_them())
    assert most == 2


def test_who_asks_for_one_thing_does_not_wait_for_who_asks_for_ten():
    searches, order = Searches(slots=1, most_started=1), []

    async def all_of_them():
        def work_of(name):
            def work(turn):
                order.append(name)
                time.sleep(0.01)

            return work

        greedy = [asyncio.create_task(searches.run("greedy", work_of("greedy"))) for _ in range(8)]
        await asyncio.sleep(0)
        modest = asyncio.create_task(searches.run("modest", work_of("modest")))
        await asyncio.gather(*greedy, modest)

    run(all_of_them())
    assert order.count("greedy") == 8
    assert order.index("modest") <= 2


def test_a_long_search_gives_way_to_a_short_one():
    searches, ended = Searches(slots=1), []

    async def both():
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def long(turn):
            loop.call_soon_threadsafe(started.set)
            for _ in range(100):
                time.sleep(0.01)
                turn.give_way()
            ended.append("long")

        task = asyncio.create_task(searches.run("patient", long))
        await started.wait()
        await searches.run("hasty", lambda turn: ended.append("short"))
        await task

    run(both())
    assert ended == ["short", "long"]


def test_a_cancelled_task_sets_the_stop_flag_of_its_search():
    searches, stop = Searches(slots=1), StopFlag()

    async def cancel():
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work(turn):
            loop.call_soon_threadsafe(started.set)
            while not turn.stop.is_set():
                time.sleep(0.005)

        task = asyncio.create_task(searches.run("one", work, stop))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await searches.run("two", lambda turn: None)  # the slot is free again
        assert not searches.running

    run(cancel())
    assert stop.is_set()


def test_a_search_cancelled_while_it_waits_leaves_the_queue_to_others():
    searches = Searches(slots=1, most_started=1)

    async def cancel():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda turn: let_go.wait(10)))
        await asyncio.sleep(0.01)
        waiting = asyncio.create_task(searches.run("b", lambda turn: "b"))
        last = asyncio.create_task(searches.run("c", lambda turn: "c"))
        await asyncio.sleep(0.01)
        assert searches.num_waiting == 2
        waiting.cancel()
        await asyncio.sleep(0.01)
        assert searches.num_waiting == 1
        let_go.set()
        assert await first is True
        assert await last == "c"
        assert searches.num_waiting == 0 and not searches._started

    run(cancel())


def test_too_many_are_refused():
    searches = Searches(slots=1, most_started=1, most_waiting=2, most_of_client=2)

    async def ask():
        let_go = threading.Event()
        tasks = [
            asyncio.create_task(searches.run(client, lambda turn: let_go.wait(10)))
            for client in ("a", "a", "b")
        ]
        await asyncio.sleep(0.01)
        with pytest.raises(Busy, match="2 searches of yours are open"):
            await searches.run("a", lambda turn: None)
        with pytest.raises(Busy, match="too many searches wait"):
            await searches.run("c", lambda turn: None)
        let_go.set()
        await asyncio.gather(*tasks)

    run(ask())


def test_where_all_places_are_taken_who_has_most_gives_one_up():
    searches = Searches(slots=1, most_started=1, most_waiting=3)

    async def ask():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda turn: let_go.wait(10)))
        await asyncio.sleep(0.01)
        greedy = [asyncio.create_task(searches.run("b", lambda turn: "b")) for _ in range(3)]
        await asyncio.sleep(0.01)
        modest = asyncio.create_task(searches.run("c", lambda turn: "c"))
        with pytest.raises(Busy, match="too many searches wait"):
            await greedy.pop()
        let_go.set()
        assert await asyncio.gather(first, *greedy, modest) == [True, "b", "b", "c"]

    run(ask())


def test_long_searches_of_one_client_leave_threads_to_others():
    searches = Searches(slots=2, most_started=16)

    async def ask():
        let_go = threading.Event()

        def long(turn):
            while not let_go.is_set():
                time.sleep(0.005)
                turn.give_way()

        greedy = [asyncio.create_task(searches.run("greedy", long)) for _ in range(16)]
        await asyncio.sleep(0.05)
        assert len(searches.running) == 2 and searches.num_waiting == 14
        assert await searches.run("modest", lambda turn: "done") == "done"
        assert len(searches.running) == 2 and searches.num_waiting == 14
        let_go.set()
        await asyncio.gather(*greedy)

    run(ask())


def test_a_free_thread_goes_to_the_client_with_the_fewest():
    searches, order = Searches(slots=3, most_started=3), []

    async def ask():
        let_go, end_first = threading.Event(), threading.Event()
        tasks = [
            asyncio.create_task(searches.run(client, lambda turn, end=end: end.wait(10)))
            for client, end in (("a", let_go), ("b", end_first), ("b", let_go))
        ]
        await asyncio.sleep(0.01)
        for client in ("a", "c"):
            work = lambda turn, client=client: order.append(client)  # noqa: E731
            tasks.append(asyncio.create_task(searches.run(client, work)))
        await asyncio.sleep(0.01)
        end_first.set()
        await asyncio.gather(*tasks[3:])
        let_go.set()
        await asyncio.gather(*tasks)

    run(ask())
    assert order == ["c", "a"]


def test_a_search_stopped_while_it_waits_for_a_thread_begins_at_once():
    searches, stop = Searches(slots=1, most_started=1), StopFlag()

    async def ask():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda turn: let_go.wait(20)))
        await asyncio.sleep(0.01)
        waiting = asyncio.create_task(searches.run("b", lambda turn: turn.stop.is_set(), stop))
        await asyncio.sleep(0.01)
        stop.set()
        assert await waiting is True
        assert not first.done() and searches.num_waiting == 0
        let_go.set()
        await first
        assert await searches.run("c", lambda turn: "c") == "c"
        assert not searches._started and searches._free == 1

    run(ask())


def test_closing_goes_over_a_copy_of_what_runs():
    searches = Searches(slots=1)

    class Ending(StopFlag):
        def set(self):
            searches.running.discard(self)  # as the event loop does when a search ends

    searches.running = {Ending(), Ending()}
    searches.close()
    assert not searches.running


def test_waiting_is_told():
    searches, told = Searches(slots=1, most_started=1), []

    async def ask():
        let_go = threading.Event()
        first = asyncio.create_task(searches.run("a", lambda turn: let_go.wait(10)))
        await asyncio.sleep(0.01)
        rest = [
            asyncio.create_task(searches.run(client, lambda turn: None, on_wait=told.append))
            for client in ("b", "c")
        ]
        await asyncio.sleep(0.01)
        let_go.set()
        await asyncio.gather(first, *rest)

    run(ask())
    assert told == [0, 1]


def test_what_a_search_raises_reaches_whoever_waits_for_it():
    def work(turn):
        raise ValueError("no such move")

    searches = Searches(slots=1)
    with pytest.raises(ValueError, match="no such move"):
        run(searches.run("a", work))


def test_a_stopped_search_does_not_wait_for_its_turn():
    turns, stop = Turns(1), StopFlag()
    with Turn(turns, "a", StopFlag()):
        threading.Timer(0.05, stop.set).start()
        with Turn(turns, "b", stop):
            assert stop.is_set()
    assert not turns.is_wanted()
    assert turns.take("c", StopFlag()) and not turns.take("d", stop)  # there is one slot still


def test_who_waits_aside_lets_others_compute():
    turns, computed = Turns(1), threading.Event()

    def compute():
        with Turn(turns, "b", StopFlag()):
            computed.set()

    with Turn(turns, "a", StopFlag()) as turn:
        thread = threading.Thread(target=compute)
        thread.start()
        assert not computed.wait(0.05)
        with turn.aside():
            assert computed.wait(10)
        thread.join()
    assert turns.take("c", StopFlag()) and not turns.is_wanted()
