"""Routes about training runs: how they go, their games, and starting and stopping them."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from plainzero.opponents.perfect import has_perfect
from plainzero.server.api.game_routes import REFUSALS
from plainzero.server.api.schemas import runs as messages
from plainzero.server.api.schemas.base import RunName
from plainzero.server.api.search_routes import client_of, while_connected
from plainzero.server.position_views import legal_moves
from plainzero.server.runs.position_over_time import find_opinions
from plainzero.server.runs.selfplay_games import MOST_LISTED
from plainzero.server.services import Services

_TRUTH_SECONDS = 1.0  # in which a position is solved, or not at all
Name = Annotated[RunName, Path()]
Count = Annotated[int, Query(ge=0, le=2**31 - 1)]


def make_run_routes(services: Services) -> APIRouter:
    """What can be asked about runs, and done with them."""
    router = APIRouter(tags=["runs"], responses=REFUSALS)
    runs = services.runs

    @router.get("/runs")
    def list_runs() -> list[messages.RunInfo]:
        """All runs."""
        return services.run_infos()

    @router.post("/runs")
    def start(request: messages.StartRun) -> messages.RunInfo:
        """Begins a run."""
        info = runs.start(request)
        services.forget_run_infos()
        return info

    @router.get("/runs/{run}")
    def details(run: Name) -> messages.RunDetails:
        """A run with its curves and settings."""
        return runs.details(run)

    @router.post("/runs/{run}/stop")
    def stop(run: Name) -> messages.RunInfo:
        """Stops a run; it saves what it has."""
        runs.stop(run)
        services.forget_run_infos()
        return runs.info(run)

    @router.post("/runs/{run}/resume")
    def resume(run: Name, request: messages.ResumeRun) -> messages.RunInfo:
        """Goes on with a run."""
        runs.resume(run, request)
        services.forget_run_infos()
        return runs.info(run)

    @router.get("/runs/{run}/games")
    def games(
        run: Name,
        generation: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
        first: Count = 0,
        count: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
    ) -> messages.GameList:
        """Self-play games of a generation; of the newest by default."""
        return runs.games(run, generation, first, count)

    @router.get("/runs/{run}/games/{generation}/{index}")
    def game(
        run: Name,
        generation: Annotated[int, Path(ge=0, le=2**31 - 1)],
        index: Annotated[int, Path(ge=0, le=2**31 - 1)],
    ) -> messages.RecordedGame:
        """A self-play game, with what the search said at each move."""
        return runs.game(run, generation, index)

    @router.post("/runs/{run}/opinions")
    async def opinions(
        run: Name, request: messages.OpinionsRequest, http: Request
    ) -> messages.Opinions:
        """What the networks of a run thought of a position, one after the other, and the truth."""
        return await while_connected(http, _ask(services, client_of(http), run, request))

    return router


async def _ask(
    services: Services, client: str, run: str, request: messages.OpinionsRequest
) -> messages.Opinions:
    """What networks say, and then the truth where it is known; each takes a turn."""
    game, state = await asyncio.to_thread(services.positions.game_and_state, request.position)
    moves = legal_moves(game, state)
    said = await services.searches.run(
        client,
        lambda turn: find_opinions(
            services.weights, run, game, state, moves, request.most_steps, turn
        ),
    )
    if not has_perfect(game):
        return said
    truth = await services.searches.run(
        client, lambda turn: services.players.outcomes(game, state, _TRUTH_SECONDS, turn)
    )
    return said.model_copy(update={"outcomes": truth.moves})
