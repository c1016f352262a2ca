"""The WebSocket of one page: searches that stream, traces to look at, runs to follow."""

import asyncio
import contextlib
import itertools
import json
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter, ValidationError

from plainzero.opponents.agent import Stopped
from plainzero.search.runner import StopFlag
from plainzero.server.api.errors import FAULT, describe_invalid, is_refusal
from plainzero.server.api.schemas import runs, searching
from plainzero.server.api.schemas import traces as thinking
from plainzero.server.api.schemas.socket import FromPage
from plainzero.server.api.send_queue import Outgoing
from plainzero.server.runs.catalogue import UnknownRun
from plainzero.server.searching.scheduler import Busy, Turn
from plainzero.server.services import Services
from plainzero.server.traces.trace import Trace

_READER: TypeAdapter[Any] = TypeAdapter(FromPage)
_MOST_PAGES = 64  # of one address
_MOST_REQUESTS = 16
_LOOKING = 1.0  # seconds between looks at the runs
_TRY_AGAIN_LATER = 1013  # a WebSocket's code
_numbers = itertools.count(1)
_log = logging.getLogger(__name__)


class Request:
    """Something that a page has asked for."""

    def __init__(self, id_: str) -> None:
        """A request that was just read."""
        self.id = id_
        self.stop = StopFlag()
        self.is_open = True  # whether the page still wants to hear of it


Work = Callable[[Request], Coroutine[Any, Any, None]]


class Connection:
    """Everything that one page has asked for, and what to do when it goes away.

    Args:
        services: shared by all connections.
        socket: not accepted yet.
    """

    def __init__(self, services: Services, socket: WebSocket) -> None:  # noqa: D107
        self._services, self._socket = services, socket
        self._client = f"page {next(_numbers)}"
        self._requests: dict[str, tuple[Request, asyncio.Task[None]]] = {}
        self._outgoing = Outgoing(socket.send_text)

    async def serve(self) -> None:
        """Answers until the page goes away, unless its address has too many already."""
        address = self._socket.client.host if self._socket.client else ""
        pages = self._services.pages
        if pages[address] >= _MOST_PAGES:
            await self._socket.close(_TRY_AGAIN_LATER, f"{_MOST_PAGES} pages are open already")
            return
        pages[address] += 1
        try:
            await self._serve()
        finally:
            pages[address] -= 1
            if not pages[address]:
                del pages[address]

    async def _serve(self) -> None:
        """Reads and sends until one of them ends; then nothing of the page is left."""
        offered = self._socket.scope.get("subprotocols", [])
        await self._socket.accept(subprotocol="plainzero" if "plainzero" in offered else None)
        parts = [
            asyncio.create_task(_until_it_ends(self._read_all())),
            asyncio.create_task(_until_it_ends(self._outgoing.send_all())),
        ]
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for name in list(self._requests):
                self._end(name)
            for part in parts:
                part.cancel()
            self._services.traces.drop(self._client)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it may be gone already
                await self._socket.close()

    async def _read_all(self) -> None:
        """Begins to answer whatever comes, until nothing or no text does."""
        while (text := (await self._socket.receive()).get("text")) is not None:
            await self._take(text)

    async def _take(self, text: str) -> None:
        """Reads a message and begins to answer it."""
        if len(text) > self._services.options.limits.body_bytes:
            await self._fail("", "the message is too long")
            return
        try:
            message = _READER.validate_json(text)
        except ValidationError as error:
            await self._fail(_id_in(text), describe_invalid(error.errors()[0]))
            return
        if isinstance(message, searching.Stop):
            if message.id in self._requests:
                self._requests[message.id][0].stop.set()
        elif isinstance(message, searching.Cancel):
            self._end(message.id)
            self._services.traces.drop(self._client, message.id)
        elif isinstance(message, searching.Ask):
            await self._begin(message.id, lambda request: self._ask(request, message))
        elif isinstance(message, thinking.Think):
            await self._begin(message.id, lambda request: self._think(request, message))
        elif isinstance(message, runs.Watch):
            await self._begin(message.id, lambda request: self._watch(request))
        else:
            name = f"{message.id} {next(_numbers)}"  # looks do not take each other's place
            await self._begin(message.id, lambda request: self._look(message), name)

    async def _begin(self, id_: str, work: Work, name: str | None = None) -> None:
        """Starts a task; a newer request of the same name takes the place of the older."""
        name = name or id_
        self._end(name)
        if len(self._requests) >= _MOST_REQUESTS:
            await self._fail(id_, f"{_MOST_REQUESTS} requests are open already; cancel one first")
            return
        request = Request(id_)
        task = asyncio.create_task(self._answer(request, work))
        self._requests[name] = request, task
        task.add_done_callback(lambda _: self._forget(name, request))

    async def _answer(self, request: Request, work: Work) -> None:
        try:
            await work(request)
        except Exception as error:
            if isinstance(error, Busy | Stopped) or is_refusal(error):
                await self._fail(request.id, str(error))
                return
            _log.exception("a page's request failed")
            await self._fail(request.id, FAULT)

    def _forget(self, name: str, request: Request) -> None:
        request.is_open = False
        if name in self._requests and self._requests[name][0] is request:
            del self._requests[name]

    def _end(self, name: str) -> None:
        """Ends a request: nothing is said about it any more."""
        if name in self._requests:
            request, task = self._requests.pop(name)
            request.is_open = False
            task.cancel()

    async def _fail(self, id_: str, sentence: str) -> None:
        await self._outgoing.put(searching.Failure(id=id_, message=sentence))

    # ---- searches -------------------------------------------------------------------------------

    async def _ask(self, request: Request, message: searching.Ask) -> None:
        services = self._services
        game, state = await asyncio.to_thread(services.positions.game_and_state, message.position)
        on_progress = self._reporter(request)
        answer = await self._search(
            request,
            lambda turn: services.players.answer(
                game, state, message.player, message.seed, turn, on_progress
            ),
        )
        await self._outgoing.put(searching.Answer(id=request.id, answer=answer))

    async def _think(self, request: Request, message: thinking.Think) -> None:
        services = self._services
        services.traces.drop(self._client, request.id)
        game, state = await asyncio.to_thread(services.positions.game_and_state, message.position)
        on_progress = self._reporter(request)

        def search(turn: Turn) -> tuple[Trace, thinking.Thought]:
            start = time.perf_counter()
            result, step = services.players.search(
                game, state, message.player, message.seed, turn, on_progress, is_traced=True
            )
            seconds = time.perf_counter() - start
            trace = Trace(result, message.position, step)
            return trace, trace.thought(request.id, seconds)

        trace, thought = await self._search(request, search)
        services.traces.put(self._client, request.id, trace)
        await self._outgoing.put(thought)

    async def _search(self, request: Request, work: Callable[[Turn], Any]) -> Any:
        def on_wait(ahead: int) -> None:
            self._outgoing.offer(searching.Queued(id=request.id, ahead=ahead))

        return await self._services.searches.run(self._client, work, request.stop, on_wait)

    def _reporter(self, request: Request) -> Callable[[searching.Analysis, float], None]:
        """What a search's thread calls to say how far it is."""
        loop = asyncio.get_running_loop()

        def say(message: searching.Progress) -> None:
            if request.is_open:
                self._outgoing.offer(message)

        def report(analysis: searching.Analysis, seconds: float) -> None:
            message = searching.Progress(id=request.id, seconds=seconds, analysis=analysis)
            loop.call_soon_threadsafe(say, message)

        return report

    async def _look(
        self, message: thinking.Look | thinking.LookAtStep | thinking.LookAtNode
    ) -> None:
        trace = self._services.traces.get(self._client, message.id)
        view: thinking.TreeView | thinking.StepView | thinking.NodeView
        if isinstance(message, thinking.Look):
            view = await asyncio.to_thread(trace.tree, message)
        elif isinstance(message, thinking.LookAtStep):
            view = await asyncio.to_thread(trace.step, message.id, message.simulation)
        else:
            view = await asyncio.to_thread(trace.node, message.id, message.simulation, message.node)
        await self._outgoing.put(view)

    # ---- runs -----------------------------------------------------------------------------------

    async def _watch(self, request: Request) -> None:
        """Tells of every run now, and of each again whenever something has changed."""
        services, known = self._services, dict[str, runs.RunInfo]()
        while True:
            infos = await asyncio.to_thread(services.run_infos)
            for gone in known.keys() - {info.run for info in infos}:
                del known[gone]
                await self._outgoing.put(runs.RunGone(id=request.id, run=gone))
            for info in infos:
                before = known.get(info.run)
                if info == before:
                    continue
                since = before.generation if before is not None else info.generation
                try:
                    new = await asyncio.to_thread(services.runs.since, info.run, since)
                except (UnknownRun, OSError):
                    continue  # it has just gone; the next look tells
                known[info.run] = info
                update = runs.RunUpdate(id=request.id, info=info, generations=new)
                await self._outgoing.put(update)
            await asyncio.sleep(_LOOKING)


async def _until_it_ends(part: Coroutine[Any, Any, None]) -> None:
    """Half of a connection, and a line in the log where it fails by our fault."""
    try:
        await part
    except (WebSocketDisconnect, TimeoutError, RuntimeError):
        return  # the page went away, or does not read
    except Exception:
        _log.exception("a page's socket failed")


def _id_in(text: str) -> str:
    """The id of a message that could not be read whole, if it has one."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    found = found.get("id", "") if isinstance(found, dict) else ""
    return found[:64] if isinstance(found, str) else ""
