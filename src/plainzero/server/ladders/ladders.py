"""The service behind the routes about ladders."""

from pathlib import Path

from plainzero.arena.ladder_files import BUNDLED, bundled_ladder, ladder_file_name
from plainzero.server.api.schemas.ladders import Ladder, PlaceRun
from plainzero.server.game_catalogue import Catalogue
from plainzero.server.ladders.placements import Placements
from plainzero.server.ladders.reader import describe_ladder, find_ladder
from plainzero.server.runs.catalogue import Runs


class Ladders:
    """Reads ladders, and places runs on them.

    Args:
        folder: of the user's own ladders; it need not exist.
        catalogue: of games.
        runs: of which can be placed.
        niceness: of the process that plays.
        can_place: whether clients may place runs.
    """

    def __init__(  # noqa: D107
        self, folder: Path, catalogue: Catalogue, runs: Runs, niceness: int, can_place: bool
    ) -> None:
        self._folder, self._catalogue, self._runs = folder, catalogue, runs
        self._can_place = can_place
        self._placements = Placements(niceness)

    def games(self) -> list[str]:
        """The games of the catalogue that have a ladder with their default parameters."""
        return [info.name for info in self._catalogue.infos() if self._has_ladder(info.name)]

    def show(self, name: str) -> Ladder | None:
        """The ladder of a game, if there is one.

        Raises:
            ValueError: if the game is unknown, or its ladder damaged.
        """
        game = self._catalogue.game(name)
        ladder, is_bundled = find_ladder(game, self._folder)
        if ladder is None:
            return None
        described = describe_ladder(ladder, is_bundled, self._runs.name_of_folder)
        found = {"placement": self._placements.find(game.name), "can_place": self._can_place}
        return described.model_copy(update=found)

    def place(self, request: PlaceRun) -> Ladder:
        """Starts the games that place a run; the ladder shows them as they are played.

        Raises:
            ValueError: if that is not allowed, or the run cannot play the game.
        """
        if not self._can_place:
            raise ValueError("training is disabled on this server, and so is placing runs")
        game, shown = self._catalogue.game(request.game), self.show(request.game)
        if shown is None:
            raise ValueError(
                f"there is no ladder of {game.name} yet; `plainzero rate {game.name}` makes one"
            )
        saved = self._runs.saved(request.run)
        if saved.game != game:
            raise ValueError(f"{request.run} is a run of {saved.game.name}, not of {game.name}")
        saved.playing_step()
        folder = _shown(self._runs.reader(request.run).path)
        arguments = [
            self._catalogue.spec(request.game),
            f"run:{folder}:{request.simulations}",
            *("--minutes", f"{request.minutes:g}"),
            *("--ladder", str(self._folder / ladder_file_name(game))),
        ]
        self._placements.start(game.name, request.run, arguments)
        return shown.model_copy(update={"placement": self._placements.find(game.name)})

    def close(self) -> None:
        """Ends a process that plays."""
        self._placements.close()

    def _has_ladder(self, name: str) -> bool:
        game = self._catalogue.game(name)
        if (self._folder / ladder_file_name(game)).is_file():
            return True
        return (BUNDLED / f"{game.title()}.json").is_file() and bundled_ladder(game) is not None


def _shown(path: Path) -> Path:
    """Relative to the working folder if possible, as it would be typed."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
