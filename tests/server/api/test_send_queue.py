"""A client that does not read: messages do not pile up, and it is disconnected in the end."""

import asyncio

import pytest

from plainzero.server.api.schemas.searching import Failure
from plainzero.server.api.send_queue import SendQueue

LINE = Failure(id="a", message="x" * 1000)


def test_who_has_more_to_say_waits_until_the_page_reads():
    async def talk():
        may_read, read = asyncio.Event(), []

        async def send(text):
            await may_read.wait()
            read.append(text)

        queue = SendQueue(send, max_unsent=5000)
        sending = asyncio.create_task(queue.send_all())
        talking = [asyncio.create_task(queue.put(LINE)) for _ in range(100)]
        for _ in range(10):
            await asyncio.sleep(0)
            queue.put_if_room(LINE)  # is left out
        assert queue.unsent < 5000 + 1100
        assert sum(task.done() for task in talking) < 10
        may_read.set()
        await asyncio.gather(*talking)
        while queue.unsent:
            await asyncio.sleep(0)
        assert len(read) == 100
        sending.cancel()

    asyncio.run(talk())


def test_a_page_that_stalls_is_given_up():
    async def talk():
        queue = SendQueue(lambda text: asyncio.sleep(1000), seconds=0.01)
        await queue.put(LINE)
        with pytest.raises(TimeoutError):
            await queue.send_all()

    asyncio.run(talk())
