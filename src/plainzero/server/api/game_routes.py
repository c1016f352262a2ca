"""Routes about games, positions and saved games."""

import contextlib
from typing import Annotated, Any

from fastapi import APIRouter, Query

from plainzero.games.contract import Game
from plainzero.games.formats.saved_games import SavedGame, read_saved, to_json, to_sgf
from plainzero.server.api.errors import explaining_rule_errors
from plainzero.server.api.schemas import games as messages
from plainzero.server.api.schemas.base import GameName, Problem
from plainzero.server.services import Services

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem} for code in (400, 401, 403, 413, 415, 422)
}


def make_game_routes(services: Services) -> APIRouter:
    """Routes about games. They run in threads, because rules are plain Python."""
    router = APIRouter(tags=["games"], responses=ERROR_RESPONSES)
    positions = services.positions

    @router.get("/about")
    def about() -> messages.About:
        """The server's version and limits, and what to show first."""
        return services.about()

    @router.get("/health")
    async def health() -> messages.Health:
        """The server's load."""
        return services.health()

    @router.get("/games")
    def games() -> list[messages.GameInfo]:
        """All games, with their parameters."""
        return services.catalogue.infos()

    @router.post("/position")
    def position(position: messages.Position) -> messages.View:
        """A position with its board, legal moves and result."""
        return positions.view(position)

    @router.post("/play")
    def play(request: messages.PlayRequest) -> messages.View:
        """The position after a move and the chance moves that follow it."""
        return positions.play(request)

    @router.get("/setup")
    def setup(game: Annotated[GameName, Query()]) -> messages.SetupOptions:
        """What each cell can contain when a position is set up by hand."""
        return positions.setup_options(game)

    @router.post("/export")
    def export(request: messages.ExportRequest) -> messages.ExportedGame:
        """A game as a JSON or SGF file."""
        return _export(services, request)

    @router.post("/import")
    def import_game(request: messages.ImportRequest) -> messages.ImportedGame:
        """A game from a file."""
        return _import(services, request)

    return router


def _export(services: Services, request: messages.ExportRequest) -> messages.ExportedGame:
    position = request.position
    game, _ = services.positions.game_and_state(position)
    setup = position.setup
    saved = SavedGame(
        game=services.catalogue.name_of(position.game, game),
        cells=setup.cells if setup else None,
        to_play=setup.to_play if setup else 0,
        moves=list(position.moves),
        players=list(request.players),
        resigned=request.resigned,
    )
    with explaining_rule_errors(game):
        content = to_sgf(game, saved) if request.format == "sgf" else to_json(game, saved)
    name = "".join(c if c.isalnum() or c == "-" else "_" for c in saved.game).strip("_")
    return messages.ExportedGame(file_name=f"{name}.{request.format}", content=content)


def _import(services: Services, request: messages.ImportRequest) -> messages.ImportedGame:
    with contextlib.ExitStack() as reading:

        def make_game(name: str) -> Game:
            game = services.catalogue.game(name)
            reading.enter_context(explaining_rule_errors(game))
            return game

        saved = read_saved(request.content, make_game)
    setup = None
    if saved.cells is not None:
        setup = messages.Setup(cells=saved.cells, to_play=saved.to_play)
    position = messages.Position(game=saved.game, setup=setup, moves=saved.moves)
    return messages.ImportedGame(
        view=services.positions.view(position), players=saved.players, resigned=saved.resigned
    )
