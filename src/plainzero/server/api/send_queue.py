"""Messages waiting to be sent to one client; bounded, so that senders wait for slow readers."""

import asyncio
from collections.abc import Awaitable, Callable

from plainzero.server.api.schemas.base import Message

_MAX_UNSENT = 1 << 20  # characters
_SEND_SECONDS = 30.0  # to send one message


class SendQueue:
    """The messages to one client that are not sent yet.

    Args:
        send: sends one message; waits while the client's buffer is full.
        max_unsent: characters; `put` waits while there are as many or more.
        seconds: that `send` may take.
    """

    def __init__(  # noqa: D107
        self,
        send: Callable[[str], Awaitable[None]],
        max_unsent: int = _MAX_UNSENT,
        seconds: float = _SEND_SECONDS,
    ) -> None:
        self._send, self._max_unsent, self._seconds = send, max_unsent, seconds
        self._texts: asyncio.Queue[str] = asyncio.Queue()
        self._was_sent = asyncio.Event()
        self.unsent = 0  # characters

    async def put(self, message: Message) -> None:
        """Adds a message as soon as there is room."""
        while not self._has_room():
            self._was_sent.clear()
            await self._was_sent.wait()
        self._add(message)

    def put_if_room(self, message: Message) -> None:
        """Adds a message if there is room; otherwise drops it."""
        if self._has_room():
            self._add(message)

    async def send_all(self) -> None:
        """Sends messages until cancelled.

        Raises:
            TimeoutError: if the client does not read.
        """
        while True:
            text = await self._texts.get()
            async with asyncio.timeout(self._seconds):
                await self._send(text)
            self.unsent -= len(text)
            self._was_sent.set()

    def _has_room(self) -> bool:
        return self.unsent < self._max_unsent

    def _add(self, message: Message) -> None:
        text = message.model_dump_json()
        self.unsent += len(text)
        self._texts.put_nowait(text)
