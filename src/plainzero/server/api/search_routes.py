"""Routes for one search, one solution, one formula; streams go over the socket."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from fastapi import APIRouter, Request

from plainzero.server.api.game_routes import REFUSALS
from plainzero.server.api.schemas import searching as messages
from plainzero.server.api.schemas.base import Problem
from plainzero.server.api.schemas.formula import FormulaAnswer, FormulaRequest
from plainzero.server.searching.formula import answer_formula
from plainzero.server.services import Services

T = TypeVar("T")

_LOOKING = 0.25  # seconds between looks whether the client is still there


def make_search_routes(services: Services) -> APIRouter:
    """What can be asked of players."""
    router = APIRouter(tags=["search"], responses={**REFUSALS, 429: {"model": Problem}})

    @router.post("/search")
    async def search(request: Request, body: messages.SearchRequest) -> messages.SearchAnswer:
        """A player's move in a position, with what it thinks of every move."""
        game, state = await asyncio.to_thread(services.positions.game_and_state, body.position)
        running = services.searches.run(
            client_of(request),
            lambda turn: services.players.answer(game, state, body.player, body.seed, turn),
        )
        return await while_connected(request, running)

    @router.post("/outcomes")
    async def outcomes(request: Request, body: messages.OutcomesRequest) -> messages.Outcomes:
        """What every move leads to with perfect play, where that is known."""
        game, state = await asyncio.to_thread(services.positions.game_and_state, body.position)
        running = services.searches.run(
            client_of(request),
            lambda turn: services.players.outcomes(game, state, body.seconds, turn),
        )
        return await while_connected(request, running)

    @router.post("/formula")
    def formula(body: FormulaRequest) -> FormulaAnswer:
        """What the selection formulas make of some children, by the search's own functions."""
        return answer_formula(body)

    return router


def client_of(request: Request) -> str:
    """Whose turn it takes: requests from one address share theirs."""
    return f"http {request.client.host if request.client else ''}"


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`; a client that goes away cancels it."""
    task: asyncio.Future[Any] = asyncio.ensure_future(work)
    try:
        while True:
            done, _ = await asyncio.wait([task], timeout=_LOOKING)
            if done:
                result: T = task.result()
                return result
            if await request.is_disconnected():
                raise ValueError("the client went away")
    finally:
        task.cancel()
