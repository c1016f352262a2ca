"""Compiles kernels for a GPU while `plainzero train` prepares the rest of a run."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from plainzero.devices import may_have_gpu

if TYPE_CHECKING:
    from plainzero.selfplay.gpu.compile_processes import CompileProcesses
    from plainzero.training.interfaces import Compilers
    from plainzero.training.settings import RunConfig

_DEVICE = "run.device="


class Precompiler:
    """Starts compiling first of all, as it takes longest; a context manager that ends it."""

    def __init__(self) -> None:
        """Compiles nothing yet."""
        self._compilers: CompileProcesses | None = None

    def __enter__(self) -> Self:
        """The same object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends what still compiles: the run has ended, or was refused."""
        if self._compilers is not None:
            self._compilers.close()

    def begin(self, what: str, changes: list[str]) -> None:
        """Starts to compile for a new run if there may be a GPU, before anything is checked.

        Args:
            what: the game, or a run's folder.
            changes: settings of the run.
        """
        asked = [change.removeprefix(_DEVICE) for change in changes if change.startswith(_DEVICE)]
        device = asked[-1] if asked and asked[-1] != "auto" else "cuda"
        if device == "cpu" or Path(what).is_dir() or not may_have_gpu():
            return
        from plainzero.games.registry import GameSpec, make_game
        from plainzero.selfplay.gpu.compile_processes import CompileProcesses
        from plainzero.selfplay.search_defaults import chosen_search

        with suppress(ValueError):  # reported when the folder, the game and settings are checked
            game = make_game(what)
            if game.runs_on_gpu:
                search = chosen_search(game, device, changes)
                name = str(GameSpec.parse(what).absolute())
                self._compilers = CompileProcesses(game, name, search, device)

    def for_run(self, game: Any, name: str, config: "RunConfig", device: str) -> "Compilers | None":
        """The processes that compile what the run needs; None on the CPU."""
        if device == "cpu":
            if self._compilers is not None:
                self._compilers.close()
            return None
        if self._compilers is not None and not self._compilers.is_for(config.search):
            self._compilers.close()  # started for a new run, but the folder has one to resume
            self._compilers = None
        if self._compilers is None:
            from plainzero.selfplay.gpu.compile_processes import CompileProcesses

            self._compilers = CompileProcesses(game, name, config.search, device)
        if config.run.gate:  # with matches on the GPU
            from plainzero.training.saved_run import STRENGTH_SIMULATIONS, playing_search

            search = playing_search(game, config.search, STRENGTH_SIMULATIONS)
            self._compilers.request_search(search)
        return self._compilers
