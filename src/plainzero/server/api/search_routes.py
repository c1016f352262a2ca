"""Routes for searches, solutions and selection formulas that do not stream."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from fastapi import APIRouter, Request

from plainzero.server.api.game_routes import ERROR_RESPONSES
from plainzero.server.api.schemas import searching as messages
from plainzero.server.api.schemas.base import Problem
from plainzero.server.api.schemas.formula import FormulaAnswer, FormulaRequest
from plainzero.server.searching.formula import answer_formula
from plainzero.server.services import Services

T = TypeVar("T")

_POLL_SECONDS = 0.25  # between two checks that the client is still connected


def make_search_routes(services: Services) -> APIRouter:
    """Routes that run agents."""
    router = APIRouter(tags=["search"], responses={**ERROR_RESPONSES, 429: {"model": Problem}})

    @router.post("/search")
    async def search(request: Request, body: messages.SearchRequest) -> messages.SearchAnswer:
        """An agent's move in a position, with statistics of every move."""
        game, state = await asyncio.to_thread(services.positions.game_and_state, body.position)
        running = services.scheduler.run(
            client_of(request),
            lambda slot: services.agents.answer(game, state, body.agent, body.seed, slot),
        )
        return await while_connected(request, running)

    @router.post("/outcomes")
    async def outcomes(request: Request, body: messages.OutcomesRequest) -> messages.Outcomes:
        """The result of every move under perfect play, for games with a solver."""
        game, state = await asyncio.to_thread(services.positions.game_and_state, body.position)
        running = services.scheduler.run(
            client_of(request),
            lambda slot: services.agents.outcomes(game, state, body.seconds, slot),
        )
        return await while_connected(request, running)

    @router.post("/formula")
    def formula(body: FormulaRequest) -> FormulaAnswer:
        """The selection formulas applied to given children."""
        return answer_formula(body)

    return router


def client_of(request: Request) -> str:
    """The client for the scheduler: all requests from one address count as one."""
    return f"http {request.client.host if request.client else ''}"


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, which is cancelled if the client disconnects."""
    task: asyncio.Future[Any] = asyncio.ensure_future(work)
    try:
        while True:
            done, _ = await asyncio.wait([task], timeout=_POLL_SECONDS)
            if done:
                result: T = task.result()
                return result
            if await request.is_disconnected():
                raise ValueError("the client disconnected")
    finally:
        task.cancel()
