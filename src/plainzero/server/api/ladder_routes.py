"""Routes about ladders."""

from typing import Annotated

from fastapi import APIRouter, Query

from plainzero.server.api.game_routes import ERROR_RESPONSES
from plainzero.server.api.schemas import ladders as messages
from plainzero.server.api.schemas.base import GameName
from plainzero.server.services import Services


def make_ladder_routes(services: Services) -> APIRouter:
    """Routes that read ladders, and place runs on them."""
    router = APIRouter(tags=["ladders"], responses=ERROR_RESPONSES)
    ladders = services.ladders

    @router.get("/ladders")
    def games() -> list[str]:
        """The games that have a ladder."""
        return ladders.games()

    @router.get("/ladder")
    def ladder(game: Annotated[GameName, Query()]) -> messages.Ladder | None:
        """A game's ladder: the user's own, or the bundled one; null if there is none."""
        return ladders.show(game)

    @router.post("/ladder")
    def place(request: messages.PlaceRun) -> messages.Ladder:
        """Plays games that place a run on the ladder."""
        return ladders.place(request)

    return router
