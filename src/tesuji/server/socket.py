"""The WebSocket of one page: searches that stream, traces to look at, runs to follow."""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter, ValidationError

from tesuji.search.runner import StopFlag
from tesuji.server.messages import runs, searching, thinking
from tesuji.server.messages.base import Message
from tesuji.server.messages.socket import FromPage
from tesuji.server.services import Services
from tesuji.server.trace import Trace
from tesuji.server.turns import Busy, Turn

_READER: TypeAdapter[Any] = TypeAdapter(FromPage)
_MOST_UNSENT = 64  # then progress is left out: the page cannot follow
_MOST_REQUESTS = 16
_LOOKING = 1.0  # seconds between looks at the runs
_numbers = itertools.count(1)


class Connection:
    """Everything that one page has asked for, and what to do when it goes away.

    Args:
        services: shared by all connections.
        socket: not accepted yet.
    """

    def __init__(self, services: Services, socket: WebSocket) -> None:  # noqa: D107
        self._services, self._socket = services, socket
        self._client = f"page {next(_numbers)}"
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[str, StopFlag] = {}
        self._unsent: asyncio.Queue[Message] = asyncio.Queue()

    async def serve(self) -> None:
        """Answers until the page goes away; then nothing of it is left."""
        offered = self._socket.scope.get("subprotocols", [])
        await self._socket.accept(subprotocol="tesuji" if "tesuji" in offered else None)
        sending = asyncio.create_task(self._send_all())
        try:
            while True:
                self._take(await self._socket.receive_text())
        except (WebSocketDisconnect, KeyError):  # KeyError: bytes instead of text
            pass
        finally:
            for task in [sending, *self._tasks.values()]:
                task.cancel()
            self._services.traces.drop(self._client)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it may be gone already
                await self._socket.close()

    async def _send_all(self) -> None:
        while True:
            message = await self._unsent.get()
            await self._socket.send_text(message.model_dump_json())

    def _say(self, message: Message) -> None:
        if isinstance(message, searching.Progress) and self._unsent.qsize() > _MOST_UNSENT:
            return
        self._unsent.put_nowait(message)

    def _take(self, text: str) -> None:
        """Reads a message and begins to answer it."""
        if len(text) > self._services.options.limits.body_bytes:
            self._fail("", "the message is too long")
            return
        try:
            message = _READER.validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"][1:]))
            self._fail(_id_in(text), f"{place}: {first['msg']}".removeprefix(": "))
            return
        if isinstance(message, searching.Stop):
            if message.id in self._stops:
                self._stops[message.id].set()
        elif isinstance(message, searching.Cancel):
            self._cancel(message.id)
        elif isinstance(message, searching.Ask):
            self._begin(message.id, self._ask(message))
        elif isinstance(message, thinking.Think):
            self._begin(message.id, self._think(message))
        elif isinstance(message, runs.Watch):
            self._begin(message.id, self._watch(message))
        else:
            name = f"{message.id} {next(_numbers)}"  # looks do not take each other's place
            self._begin(name, self._look(message), message.id)

    def _begin(self, name: str, work: Coroutine[Any, Any, None], id_: str = "") -> None:
        """Starts a task; a newer request of the same name takes the place of the older."""
        self._cancel_task(name)
        if len(self._tasks) >= _MOST_REQUESTS:
            work.close()
            self._fail(id_ or name, f"{_MOST_REQUESTS} requests are open already; cancel one first")
            return
        task = asyncio.create_task(self._answer(id_ or name, work))
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._forget(name, done))
        task.add_done_callback(lambda _: work.close())  # cancelled before it began

    async def _answer(self, id_: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (ValueError, Busy) as error:
            self._fail(id_, str(error))
        except Exception as error:
            self._fail(id_, f"{type(error).__name__}: {error}")

    def _forget(self, name: str, done: "asyncio.Task[None]") -> None:
        if self._tasks.get(name) is done:
            del self._tasks[name]
            self._stops.pop(name, None)

    def _cancel(self, id_: str) -> None:
        self._cancel_task(id_)
        self._services.traces.drop(self._client, id_)

    def _cancel_task(self, name: str) -> None:
        task = self._tasks.pop(name, None)
        self._stops.pop(name, None)
        if task is not None:
            task.cancel()

    def _fail(self, id_: str, sentence: str) -> None:
        self._say(searching.Failure(id=id_, message=sentence))

    # ---- searches -------------------------------------------------------------------------------

    async def _ask(self, message: searching.Ask) -> None:
        services = self._services
        game, state = await asyncio.to_thread(services.positions.game_and_state, message.position)
        on_progress = self._reporter(message.id)
        answer = await self._search(
            message.id,
            lambda turn: services.players.answer(
                game, state, message.player, message.seed, turn, on_progress
            ),
        )
        self._say(searching.Answer(id=message.id, answer=answer))

    async def _think(self, message: thinking.Think) -> None:
        services = self._services
        services.traces.drop(self._client, message.id)
        game, state = await asyncio.to_thread(services.positions.game_and_state, message.position)
        on_progress = self._reporter(message.id)

        def search(turn: Turn) -> tuple[Trace, thinking.Thought]:
            start = time.perf_counter()
            result, step = services.players.search(
                game, state, message.player, message.seed, turn, on_progress, is_traced=True
            )
            seconds = time.perf_counter() - start
            trace = Trace(result, message.position, step)
            return trace, trace.thought(message.id, seconds)

        trace, thought = await self._search(message.id, search)
        services.traces.put(self._client, message.id, trace)
        self._say(thought)

    async def _search(self, id_: str, work: Callable[[Turn], Any]) -> Any:
        stop = self._stops[id_] = StopFlag()
        return await self._services.searches.run(
            self._client,
            work,
            stop,
            on_wait=lambda ahead: self._say(searching.Queued(id=id_, ahead=ahead)),
        )

    def _reporter(self, id_: str) -> Callable[[searching.Analysis, float], None]:
        """What a search's thread calls to say how far it is."""
        loop = asyncio.get_running_loop()

        def report(analysis: searching.Analysis, seconds: float) -> None:
            message = searching.Progress(id=id_, seconds=seconds, analysis=analysis)
            loop.call_soon_threadsafe(self._say, message)

        return report

    async def _look(
        self, message: thinking.Look | thinking.LookAtStep | thinking.LookAtNode
    ) -> None:
        trace = self._services.traces.get(self._client, message.id)
        if isinstance(message, thinking.Look):
            self._say(await asyncio.to_thread(trace.tree, message))
        elif isinstance(message, thinking.LookAtStep):
            self._say(await asyncio.to_thread(trace.step, message.id, message.simulation))
        else:
            self._say(
                await asyncio.to_thread(trace.node, message.id, message.simulation, message.node)
            )

    # ---- runs -----------------------------------------------------------------------------------

    async def _watch(self, message: runs.Watch) -> None:
        """Tells of every run now, and of each again whenever something has changed."""
        services, known = self._services, dict[str, runs.RunInfo]()
        while True:
            for info in await asyncio.to_thread(services.run_infos):
                before = known.get(info.run)
                if info == before:
                    continue
                known[info.run] = info
                since = before.generation if before is not None else info.generation
                new = await asyncio.to_thread(services.runs.since, info.run, since)
                self._say(runs.RunUpdate(id=message.id, info=info, generations=new))
            await asyncio.sleep(_LOOKING)


def _id_in(text: str) -> str:
    """The id of a message that could not be read whole, if it has one."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    found = found.get("id", "") if isinstance(found, dict) else ""
    return found[:64] if isinstance(found, str) else ""
