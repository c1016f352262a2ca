"""The server assembled: routes, the socket, the page, and access control."""

import asyncio
import socket
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
from plainzero.games.contract import RuleFault
from plainzero.operating_system import on_hang_up
from plainzero.server.api import page_files as pages
from plainzero.server.api.access_control import AccessControl
from plainzero.server.api.errors import INTERNAL_ERROR, describe_invalid, is_client_error
from plainzero.server.api.game_routes import make_game_routes
from plainzero.server.api.ladder_routes import make_ladder_routes
from plainzero.server.api.openapi import message_schemas
from plainzero.server.api.run_routes import make_run_routes
from plainzero.server.api.search_routes import make_search_routes
from plainzero.server.api.socket import Connection
from plainzero.server.options import ServerOptions
from plainzero.server.searching.scheduler import TooBusy
from plainzero.server.services import Services


class Server:
    """The server that the command line starts.

    Args:
        options: what it serves, and to whom.
        page_folder: of the built page; without one, only the API works.
        echo: prints progress messages.

    Raises:
        ValueError: if a game or run in `options` does not load.
    """

    def __init__(  # noqa: D107
        self,
        options: ServerOptions,
        page_folder: Path = pages.FOLDER,
        echo: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.services = Services(options, echo)
        self.app = make_app(self.services, page_folder)
        self.has_page = pages.is_built(page_folder)

    def train(self, minutes: float) -> str:
        """Starts or resumes training of the default game; returns what was done, as a sentence.

        Raises:
            ValueError: if that is not possible.
        """
        return self.services.train(minutes)

    def configure(self) -> uvicorn.Config:
        """The configuration of uvicorn."""
        return uvicorn.Config(
            self.app,
            log_level="warning",
            ws_max_size=self.services.options.limits.body_bytes,
            timeout_graceful_shutdown=2,
            proxy_headers=False,  # anybody can forge them, and limits are per address
        )

    def serve(self, listening: socket.socket) -> None:
        """Serves until Ctrl-C, SIGTERM or SIGHUP."""
        server = uvicorn.Server(self.configure())
        on_hang_up(server.handle_exit)
        server.run([listening])


def make_app(services: Services, page_folder: Path = pages.FOLDER) -> AccessControl:
    """The whole server as an ASGI application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        warm_up = asyncio.create_task(services.warm_up())
        yield
        warm_up.cancel()
        await asyncio.to_thread(services.close)

    app = FastAPI(
        title="PlainZero",
        version=__version__,
        summary="Play, search, analyse and train any game.",
        lifespan=lifespan,
        separate_input_output_schemas=False,
        docs_url=None,  # FastAPI's own load scripts from another host
        redoc_url=None,
    )
    app.include_router(make_game_routes(services), prefix="/api")
    app.include_router(make_search_routes(services), prefix="/api")
    app.include_router(make_run_routes(services), prefix="/api")
    app.include_router(make_ladder_routes(services), prefix="/api")

    @app.websocket("/api/socket")
    async def connect(socket: WebSocket) -> None:
        await Connection(services, socket).serve()

    app.include_router(pages.make_page_routes(page_folder))
    _answer_errors(app)
    _describe_messages(app)
    return AccessControl(app, services.options)


def _answer_errors(app: FastAPI) -> None:
    """Answers every error with one sentence in the same form."""

    def problem(status: int, message: str) -> JSONResponse:
        return JSONResponse({"message": message}, status)

    @app.exception_handler(ValueError)
    @app.exception_handler(RuleError)
    @app.exception_handler(RuleFault)
    async def client_error(_: Request, error: Exception) -> JSONResponse:
        if not is_client_error(error):
            raise error
        return problem(422, str(error))

    @app.exception_handler(TooBusy)
    async def too_busy(_: Request, error: TooBusy) -> JSONResponse:
        return problem(429, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
        if isinstance(error.body, bytes):  # FastAPI parses only what is declared to be JSON
            return problem(415, "the request body must have Content-Type: application/json")
        return problem(422, describe_invalid(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        path, allowed = request.url.path, (error.headers or {}).get("Allow", "nothing")
        messages = {
            400: "the request is not valid JSON: its bytes are not UTF-8",
            404: f"not found: {request.method} {path}",
            405: f"{request.method} is not allowed for {path}; allowed: {allowed}",
        }
        return problem(error.status_code, messages.get(error.status_code, str(error.detail)))

    @app.exception_handler(Exception)
    async def internal_error(_: Request, __: Exception) -> JSONResponse:
        return problem(
            500, INTERNAL_ERROR
        )  # Starlette raises it again after this answer, and uvicorn logs it


def _describe_messages(app: FastAPI) -> None:
    """Adds the socket's messages to the OpenAPI document."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        document["components"]["schemas"].update(message_schemas())
        return document

    app.openapi = openapi  # type: ignore[method-assign]
