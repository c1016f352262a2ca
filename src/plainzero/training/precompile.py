"""What `plainzero train` has compiled for a GPU while the rest of a run is being prepared."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from plainzero.devices import may_have_gpu

if TYPE_CHECKING:
    from plainzero.selfplay.gpu.compile_processes import Compilers
    from plainzero.training.settings import RunConfig

_DEVICE = "run.device="


class CompilingForRun:
    """Started before all else, as it takes longest; a context that ends what is still compiling."""

    def __init__(self) -> None:
        """Compiles nothing yet."""
        self._compilers: Compilers | None = None

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends what is still compiling: the run has ended, or was refused."""
        if self._compilers is not None:
            self._compilers.close()

    def begin(self, what: str, name: str, changes: list[str]) -> None:
        """Starts to compile for a new run where there may be a GPU, before anything is checked.

        Args:
            what: the game, or a run's folder.
            name: the game as other processes can make it.
            changes: of the settings.
        """
        asked = [change.removeprefix(_DEVICE) for change in changes if change.startswith(_DEVICE)]
        device = asked[-1] if asked and asked[-1] != "auto" else "cuda"
        if device == "cpu" or Path(what).is_dir() or not may_have_gpu():
            return
        from plainzero.games.registry import make_game
        from plainzero.selfplay.gpu.compile_processes import Compilers
        from plainzero.selfplay.search_defaults import chosen_search

        game = make_game(what)
        if game.runs_on_gpu:
            with suppress(ValueError):  # which is told once the settings are checked
                search = chosen_search(game, device, changes)
                self._compilers = Compilers(game, name, search, device)

    def go_on(self, game: Any, name: str, config: "RunConfig", device: str) -> "Compilers | None":
        """What compiles, now that it is known what the run needs: nothing on the CPU."""
        if device == "cpu":
            if self._compilers is not None:
                self._compilers.close()
            return None
        if self._compilers is not None and not self._compilers.suit(config.search):
            self._compilers.close()  # begun for a new run, but the one in the folder goes on
            self._compilers = None
        if self._compilers is None:
            from plainzero.selfplay.gpu.compile_processes import Compilers

            self._compilers = Compilers(game, name, config.search, device)
        if config.run.gate:  # by matches on the GPU
            from plainzero.training.saved_run import STRENGTH_SIMULATIONS, playing_search

            self._compilers.want_search(playing_search(config.search, STRENGTH_SIMULATIONS))
        return self._compilers
