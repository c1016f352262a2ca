"""Routes about training runs: progress, games, and starting and stopping them."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from plainzero.opponents.perfect import has_perfect
from plainzero.server.api.game_routes import ERROR_RESPONSES
from plainzero.server.api.schemas import runs as messages
from plainzero.server.api.schemas.base import RunName
from plainzero.server.api.search_routes import client_of, while_connected
from plainzero.server.position_views import legal_moves
from plainzero.server.runs.position_over_time import evaluate_checkpoints
from plainzero.server.runs.selfplay_games import MAX_LISTED
from plainzero.server.services import Services

_SOLVER_SECONDS = 1.0  # after which the position counts as unsolved
Name = Annotated[RunName, Path()]
FirstGame = Annotated[int, Query(ge=0, le=2**31 - 1)]


def make_run_routes(services: Services) -> APIRouter:
    """Routes that read and control runs."""
    router = APIRouter(tags=["runs"], responses=ERROR_RESPONSES)
    runs = services.runs

    @router.get("/runs")
    def list_runs() -> list[messages.RunInfo]:
        """All runs."""
        return services.run_infos()

    @router.post("/runs")
    def start(request: messages.StartRun) -> messages.RunInfo:
        """Starts a run."""
        info = runs.start(request)
        services.forget_run_infos()
        return info

    @router.get("/runs/{run}")
    def details(run: Name) -> messages.RunDetails:
        """A run with its curves and settings."""
        return runs.details(run)

    @router.post("/runs/{run}/stop")
    def stop(run: Name) -> messages.RunInfo:
        """Stops a run, which saves its state."""
        runs.stop(run)
        services.forget_run_infos()
        return runs.info(run)

    @router.post("/runs/{run}/resume")
    def resume(run: Name, request: messages.ResumeRun) -> messages.RunInfo:
        """Resumes a run."""
        runs.resume(run, request)
        services.forget_run_infos()
        return runs.info(run)

    @router.get("/runs/{run}/games")
    def games(
        run: Name,
        generation: Annotated[int | None, Query(ge=0, le=2**31 - 1)] = None,
        first: FirstGame = 0,
        count: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    ) -> messages.GameList:
        """Self-play games of a generation, by default the newest."""
        return runs.games(run, generation, first, count)

    @router.get("/runs/{run}/games/{generation}/{index}")
    def game(
        run: Name,
        generation: Annotated[int, Path(ge=0, le=2**31 - 1)],
        index: Annotated[int, Path(ge=0, le=2**31 - 1)],
    ) -> messages.RecordedGame:
        """A self-play game, with the result of the search at each move."""
        return runs.game(run, generation, index)

    @router.post("/runs/{run}/position-over-time")
    async def position_over_time(
        run: Name, request: messages.PositionOverTimeRequest, http: Request
    ) -> messages.PositionOverTime:
        """How a run's checkpoints evaluate a position, and the result under perfect play."""
        return await while_connected(http, _evaluate(services, client_of(http), run, request))

    return router


async def _evaluate(
    services: Services, client: str, run: str, request: messages.PositionOverTimeRequest
) -> messages.PositionOverTime:
    """Evaluates checkpoints, then solves the position if possible; each takes a slot."""
    game, state = await asyncio.to_thread(services.positions.game_and_state, request.position)
    moves = legal_moves(game, state)
    evaluated = await services.scheduler.run(
        client,
        lambda slot: evaluate_checkpoints(
            services.networks, run, game, state, moves, request.max_steps, slot
        ),
    )
    if not has_perfect(game):
        return evaluated
    solved = await services.scheduler.run(
        client, lambda slot: services.agents.outcomes(game, state, _SOLVER_SECONDS, slot)
    )
    return evaluated.model_copy(update={"outcomes": solved.moves})
