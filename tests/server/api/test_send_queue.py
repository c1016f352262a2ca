"""A page that does not read: nothing piles up for it, and in the end it is given up."""

import asyncio

import pytest

from plainzero.server.api.schemas.searching import Failure
from plainzero.server.api.send_queue import Outgoing

LINE = Failure(id="a", message="x" * 1000)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def test_who_has_more_to_say_waits_until_the_page_reads():
    async def talk():
        may_read, read = asyncio.Event(), []

        async def send(text):
            await may_read.wait()
            read.append(text)

        outgoing = Outgoing(send, most_unsent=5000)
        sending = asyncio.create_task(outgoing.send_all())
        talking = [asyncio.create_task(outgoing.put(LINE)) for _ in range(100)]
        for _ in range(10):
            await asyncio.sleep(0)
            outgoing.offer(LINE)  # is left out
        assert outgoing.unsent < 5000 + 1100
        assert sum(task.done() for task in talking) < 10
        may_read.set()
        await asyncio.gather(*talking)
        while outgoing.unsent:
            await asyncio.sleep(0)
        assert len(read) == 100
        sending.cancel()

    run(talk())


def test_a_page_that_stalls_is_given_up():
    async def talk():
        outgoing = Outgoing(lambda text: asyncio.sleep(1000), patience=0.01)
        await outgoing.put(LINE)
        with pytest.raises(TimeoutError):
            await outgoing.send_all()

    run(talk())
