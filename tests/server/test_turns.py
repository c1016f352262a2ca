"""Searches run in turn: bounded, fair, and gone when nobody wants them."""

import asyncio
import threading
import time

import pytest

from tesuji.search.runner import StopFlag
from tesuji.server.turns import Busy, Cancelled, Searches, Turn, Turns


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
        assert searches.num_waiting == 0 and not searches._of_client

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
        with pytest.raises(Busy, match="of yours are running"):
            await searches.run("a", lambda turn: None)
        with pytest.raises(Busy, match="too many searches wait"):
            await searches.run("c", lambda turn: None)
        let_go.set()
        await asyncio.gather(*tasks)

    run(ask())


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


def test_a_turn_that_never_came_is_given_up_when_it_is_stopped():
    turns, stop = Turns(1), StopFlag()
    with Turn(turns, "a", StopFlag()):
        threading.Timer(0.05, stop.set).start()
        with pytest.raises(Cancelled), Turn(turns, "b", stop):
            pass
    assert not turns.is_wanted()
    with Turn(turns, "c", StopFlag()):
        pass
