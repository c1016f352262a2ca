"""The server, put together: routes, the socket, the page, and who may speak to them."""

import asyncio
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from plainzero import __version__
from plainzero.compiler.bind_rules import RuleError
from plainzero.search.runner import RuleFault
from plainzero.server.api import page_files as pages
from plainzero.server.api.access_control import Guard
from plainzero.server.api.errors import FAULT, describe_invalid, is_refusal
from plainzero.server.api.game_routes import make_game_routes
from plainzero.server.api.openapi import message_schemas
from plainzero.server.api.run_routes import make_run_routes
from plainzero.server.api.search_routes import make_search_routes
from plainzero.server.api.socket import Connection
from plainzero.server.options import ServerOptions
from plainzero.server.searching.scheduler import Busy
from plainzero.server.services import Services


class Server:
    """A server to start from the command line.

    Args:
        options: what it serves, and to whom.
        page_folder: where the built page is; without it, the server says so and the API works.
        say: tells whoever started it what it does.

    Raises:
        ValueError: when a game or a run that was named does not load.
    """

    def __init__(  # noqa: D107
        self,
        options: ServerOptions,
        page_folder: Path = pages.FOLDER,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.services = Services(options, say)
        self.app = make_app(self.services, page_folder)
        self.has_page = pages.is_built(page_folder)

    def train(self, minutes: float) -> str:
        """Learns the default game in the background, or goes on with it; says which.

        Raises:
            ValueError: when that cannot be done.
        """
        return self.services.train(minutes)

    def configure(self) -> uvicorn.Config:
        """How uvicorn serves the application."""
        return uvicorn.Config(
            self.app,
            log_level="warning",
            ws_max_size=self.services.options.limits.body_bytes,
            timeout_graceful_shutdown=2,
            proxy_headers=False,  # anybody can write them, and turns go round by address
        )

    def serve(self, listening: socket.socket) -> None:
        """Serves until Ctrl-C, SIGTERM, or the end of its terminal."""
        server = uvicorn.Server(self.configure())
        is_main = threading.current_thread() is threading.main_thread()  # as signals need
        if is_main and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # `nohup` ignores it
            signal.signal(signal.SIGHUP, server.handle_exit)
        server.run([listening])


def make_app(services: Services, page_folder: Path = pages.FOLDER) -> Guard:
    """The whole server as an ASGI application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(services.warm_up())
        yield
        warming.cancel()
        await asyncio.to_thread(services.close)

    app = FastAPI(
        title="PlainZero",
        version=__version__,
        summary="Play, search, analyse and train any game.",
        lifespan=lifespan,
        separate_input_output_schemas=False,
        docs_url=None,  # those of FastAPI come from another host; ours from the page
        redoc_url=None,
    )
    app.include_router(make_game_routes(services), prefix="/api")
    app.include_router(make_search_routes(services), prefix="/api")
    app.include_router(make_run_routes(services), prefix="/api")

    @app.websocket("/api/socket")
    async def connect(socket: WebSocket) -> None:
        await Connection(services, socket).serve()

    app.include_router(pages.make_page_routes(page_folder))
    _answer_errors(app)
    _describe_messages(app)
    return Guard(app, services.options)


def _answer_errors(app: FastAPI) -> None:
    """Every refusal is one sentence, in the same form."""

    def problem(status: int, sentence: str) -> JSONResponse:
        return JSONResponse({"message": sentence}, status)

    @app.exception_handler(ValueError)
    @app.exception_handler(RuleError)
    @app.exception_handler(RuleFault)
    async def refuse(_: Request, error: Exception) -> JSONResponse:
        if not is_refusal(error):
            raise error
        return problem(422, str(error))

    @app.exception_handler(Busy)
    async def put_off(_: Request, error: Busy) -> JSONResponse:
        return problem(429, str(error))

    @app.exception_handler(RequestValidationError)
    async def refuse_form(_: Request, error: RequestValidationError) -> JSONResponse:
        return problem(422, describe_invalid(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def refuse_address(request: Request, error: HTTPException) -> JSONResponse:
        path, allowed = request.url.path, (error.headers or {}).get("Allow", "nothing")
        sentences = {
            400: "the request is not JSON: its bytes are no UTF-8",
            404: f"there is nothing to {request.method.lower()} at {path}",
            405: f"{request.method} is not answered at {path}; allowed: {allowed}",
        }
        return problem(error.status_code, sentences.get(error.status_code, str(error.detail)))

    @app.exception_handler(Exception)
    async def confess(_: Request, __: Exception) -> JSONResponse:
        return problem(500, FAULT)  # it is raised on after this answer, and uvicorn logs it


def _describe_messages(app: FastAPI) -> None:
    """Adds the socket's messages to the OpenAPI document."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        document["components"]["schemas"].update(message_schemas())
        return document

    app.openapi = openapi  # type: ignore[method-assign]
