"""One WebSocket connection: streamed searches, views of traces, and followed runs."""

import asyncio
import contextlib
import itertools
import json
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import TypeAdapter, ValidationError

from plainzero.opponents.agent import Stopped
from plainzero.search.runner import StopFlag
from plainzero.server.api.errors import INTERNAL_ERROR, describe_invalid, is_client_error
from plainzero.server.api.schemas import runs, searching, traces
from plainzero.server.api.schemas.socket import FromClient
from plainzero.server.api.send_queue import SendQueue
from plainzero.server.runs.catalogue import UnknownRun
from plainzero.server.searching.scheduler import Slot, TooBusy
from plainzero.server.services import Services
from plainzero.server.traces.trace import Trace

_READER: TypeAdapter[Any] = TypeAdapter(FromClient)
_MAX_CONNECTIONS = 64  # per address
_MAX_REQUESTS = 16  # open at the same time, per connection
_POLL_SECONDS = 1.0  # between two looks at the runs
_TRY_AGAIN_LATER = 1013  # WebSocket close code
_numbers = itertools.count(1)
_log = logging.getLogger(__name__)


class Request:
    """A request of the client."""

    def __init__(self, id_: str) -> None:
        """A request that was just read."""
        self.id = id_
        self.stop = StopFlag()
        self.is_open = True  # whether anything may still be sent about it


Result = TypeVar("Result")
Work = Callable[[Request], Coroutine[Any, Any, None]]


class Connection:
    """All requests of one client; disconnecting releases their resources.

    Args:
        services: shared by all connections.
        socket: not yet accepted.
    """

    def __init__(self, services: Services, socket: WebSocket) -> None:  # noqa: D107
        self._services, self._socket = services, socket
        self._client = f"socket {next(_numbers)}"
        self._requests: dict[str, tuple[Request, asyncio.Task[None]]] = {}
        self._queue = SendQueue(socket.send_text)

    async def serve(self) -> None:
        """Serves until the client disconnects; refuses it if its address has too many open."""
        address = self._socket.client.host if self._socket.client else ""
        open_sockets = self._services.open_sockets
        if open_sockets[address] >= _MAX_CONNECTIONS:
            reason = f"{_MAX_CONNECTIONS} connections are open already"
            await self._socket.close(_TRY_AGAIN_LATER, reason)
            return
        open_sockets[address] += 1
        try:
            await self._serve()
        finally:
            open_sockets[address] -= 1
            if not open_sockets[address]:
                del open_sockets[address]

    async def _serve(self) -> None:
        """Reads and sends until either ends, then releases everything."""
        offered = self._socket.scope.get("subprotocols", [])
        await self._socket.accept(subprotocol="plainzero" if "plainzero" in offered else None)
        tasks = [
            asyncio.create_task(_log_errors(self._read_all())),
            asyncio.create_task(_log_errors(self._queue.send_all())),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for name in list(self._requests):
                self._cancel(name)
            for task in tasks:
                task.cancel()
            self._services.traces.drop(self._client)
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # it may be closed already
                await self._socket.close()

    async def _read_all(self) -> None:
        """Handles messages until the client disconnects or sends something other than text."""
        while (text := (await self._socket.receive()).get("text")) is not None:
            await self._handle(text)

    async def _handle(self, text: str) -> None:
        """Parses a message and starts to answer it."""
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
            self._cancel(message.id)
            self._services.traces.drop(self._client, message.id)
        elif isinstance(message, searching.Search):
            await self._start(message.id, lambda request: self._search(request, message))
        elif isinstance(message, traces.TraceRequest):
            await self._start(message.id, lambda request: self._trace(request, message))
        elif isinstance(message, runs.FollowRuns):
            await self._start(message.id, lambda request: self._follow_runs(request))
        else:
            name = f"{message.id} {next(_numbers)}"  # views do not replace one another
            await self._start(message.id, lambda request: self._view(message), name)

    async def _start(self, id_: str, work: Work, name: str | None = None) -> None:
        """Starts a task, which replaces an older one of the same name."""
        name = name or id_
        self._cancel(name)
        if len(self._requests) >= _MAX_REQUESTS:
            await self._fail(id_, f"{_MAX_REQUESTS} requests are open already; cancel one first")
            return
        request = Request(id_)
        task = asyncio.create_task(self._answer(request, work))
        self._requests[name] = request, task
        task.add_done_callback(lambda _: self._forget(name, request))

    async def _answer(self, request: Request, work: Work) -> None:
        try:
            await work(request)
        except Exception as error:
            if isinstance(error, TooBusy | Stopped) or is_client_error(error):
                await self._fail(request.id, str(error))
                return
            _log.exception("a request failed")
            await self._fail(request.id, INTERNAL_ERROR)

    def _forget(self, name: str, request: Request) -> None:
        request.is_open = False
        if name in self._requests and self._requests[name][0] is request:
            del self._requests[name]

    def _cancel(self, name: str) -> None:
        """Cancels a request; nothing more is sent about it."""
        if name in self._requests:
            request, task = self._requests.pop(name)
            request.is_open = False
            task.cancel()

    async def _fail(self, id_: str, sentence: str) -> None:
        await self._queue.put(searching.Failure(id=id_, message=sentence))

    # ---- searches -------------------------------------------------------------------------------

    async def _search(self, request: Request, message: searching.Search) -> None:
        services = self._services
        game, state = await asyncio.to_thread(services.positions.game_and_state, message.position)
        on_progress = self._reporter(request)
        answer = await self._run(
            request,
            lambda slot: services.agents.answer(
                game, state, message.agent, message.seed, slot, on_progress
            ),
        )
        await self._queue.put(searching.Answer(id=request.id, answer=answer))

    async def _trace(self, request: Request, message: traces.TraceRequest) -> None:
        services = self._services
        services.traces.drop(self._client, request.id)
        game, state = await asyncio.to_thread(services.positions.game_and_state, message.position)
        on_progress = self._reporter(request)

        def search(slot: Slot) -> tuple[Trace, traces.Traced]:
            start = time.perf_counter()
            result, step = services.agents.search(
                game, state, message.agent, message.seed, slot, on_progress, is_traced=True
            )
            seconds = time.perf_counter() - start
            trace = Trace(result, message.position, step)
            return trace, trace.summary(request.id, seconds)

        trace, traced = await self._run(request, search)
        services.traces.put(self._client, request.id, trace)
        await self._queue.put(traced)

    async def _run(self, request: Request, work: Callable[[Slot], Result]) -> Result:
        def on_wait(ahead: int) -> None:
            self._queue.put_if_room(searching.Queued(id=request.id, ahead=ahead))

        return await self._services.scheduler.run(self._client, work, request.stop, on_wait)

    def _reporter(self, request: Request) -> Callable[[searching.Analysis, float], None]:
        """The callback with which a search's thread reports progress."""
        loop = asyncio.get_running_loop()

        def send(message: searching.Progress) -> None:
            if request.is_open:
                self._queue.put_if_room(message)

        def report(analysis: searching.Analysis, seconds: float) -> None:
            message = searching.Progress(id=request.id, seconds=seconds, analysis=analysis)
            loop.call_soon_threadsafe(send, message)

        return report

    async def _view(
        self, message: traces.TreeRequest | traces.SimulationRequest | traces.NodeRequest
    ) -> None:
        trace = self._services.traces.get(self._client, message.id)
        view: traces.TreeView | traces.SimulationView | traces.NodeView
        if isinstance(message, traces.TreeRequest):
            view = await asyncio.to_thread(trace.tree, message)
        elif isinstance(message, traces.SimulationRequest):
            view = await asyncio.to_thread(trace.simulation, message.id, message.simulation)
        else:
            view = await asyncio.to_thread(trace.node, message.id, message.simulation, message.node)
        await self._queue.put(view)

    # ---- runs -----------------------------------------------------------------------------------

    async def _follow_runs(self, request: Request) -> None:
        """Reports every run now, and each again whenever it changes."""
        services, known = self._services, dict[str, runs.RunInfo]()
        while True:
            infos = await asyncio.to_thread(services.run_infos)
            for removed in known.keys() - {info.run for info in infos}:
                del known[removed]
                await self._queue.put(runs.RunRemoved(id=request.id, run=removed))
            for info in infos:
                before = known.get(info.run)
                if info == before:
                    continue
                since = before.generation if before is not None else info.generation
                try:
                    new = await asyncio.to_thread(services.runs.since, info.run, since)
                except (UnknownRun, OSError):
                    continue  # it was removed just now, which the next look reports
                known[info.run] = info
                update = runs.RunUpdate(id=request.id, info=info, generations=new)
                await self._queue.put(update)
            await asyncio.sleep(_POLL_SECONDS)


async def _log_errors(task: Coroutine[Any, Any, None]) -> None:
    """Runs one half of a connection and logs its internal errors."""
    try:
        await task
    except (WebSocketDisconnect, TimeoutError, RuntimeError):
        return  # the client disconnected, or does not read
    except Exception:
        _log.exception("a socket failed")


def _id_in(text: str) -> str:
    """The id of a message that could not be parsed, if any."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    found = found.get("id", "") if isinstance(found, dict) else ""
    return found[:64] if isinstance(found, str) else ""
