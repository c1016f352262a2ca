"""What a page has yet to receive: bounded, so that whoever has more to say waits until it reads."""

import asyncio
from collections.abc import Awaitable, Callable

from plainzero.server.api.schemas.base import Message

_MOST_UNSENT = 1 << 20  # characters
_PATIENCE = 30.0  # seconds in which each message must go out


class Outgoing:
    """Messages on their way to one page.

    Args:
        send: what sends one; it takes as long as the page takes to make room for it.
        most_unsent: characters; beyond them nothing is added but one more message.
        patience: seconds that `send` may take.
    """

    def __init__(  # noqa: D107
        self,
        send: Callable[[str], Awaitable[None]],
        most_unsent: int = _MOST_UNSENT,
        patience: float = _PATIENCE,
    ) -> None:
        self._send, self._most_unsent, self._patience = send, most_unsent, patience
        self._texts: asyncio.Queue[str] = asyncio.Queue()
        self._was_sent = asyncio.Event()
        self.unsent = 0  # characters

    async def put(self, message: Message) -> None:
        """Adds a message, when there is room."""
        while not self._has_room():
            self._was_sent.clear()
            await self._was_sent.wait()
        self._add(message)

    def offer(self, message: Message) -> None:
        """Adds a message that the page can do without, if there is room."""
        if self._has_room():
            self._add(message)

    async def send_all(self) -> None:
        """Sends, for ever.

        Raises:
            TimeoutError: when the page does not read.
        """
        while True:
            text = await self._texts.get()
            async with asyncio.timeout(self._patience):
                await self._send(text)
            self.unsent -= len(text)
            self._was_sent.set()

    def _has_room(self) -> bool:
        return self.unsent < self._most_unsent

    def _add(self, message: Message) -> None:
        text = message.model_dump_json()
        self.unsent += len(text)
        self._texts.put_nowait(text)
