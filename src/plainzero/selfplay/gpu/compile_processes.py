"""Processes that compile a run's kernels for a GPU, while the run is being prepared.

Each of the large ones takes ten to twenty seconds, and the small ones together half of that, nearly
all of it in Python, so threads would not help. What the processes compile is found on disk (Numba's
cache) when the run calls it. They are started before all else, so this module does without Numba,
which takes seconds to import.
"""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Self

from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig

_PROGRAM = "plainzero.selfplay.gpu.compile_worker"
_SELFPLAY, _SEARCH = ("select", "finish", "others"), ("search",)  # what each process compiles


class Compilers:
    """The processes that compile for a game, and end at once where that was done before.

    As a context, it ends those that still run when it is left.
    """

    def __init__(self, game: Game, name: str, search: SearchConfig, device: str = "cuda:0") -> None:
        """Starts self-play's, with such searches; `name` is what `make_game` makes the game of."""
        self._game, self._name, self._device = game, name, device
        self._search = search
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._later: SearchConfig | None = None
        self._start(_SELFPLAY, search)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends those that still run."""
        self.close()

    def suit(self, search: SearchConfig) -> bool:
        """Whether what is compiled for self-play is what such searches need."""
        from plainzero.selfplay.gpu.compile_worker import options_of

        begun, needed = (options_of(self._game, config) for config in (self._search, search))
        return begun.known() == needed.known()

    def want_search(self, search: SearchConfig) -> None:
        """Has those of such searches compiled too, once self-play's are done."""
        self._later = search

    def wait(self) -> None:
        """Returns once self-play's are done; what one could not compile is compiled when called."""
        self._wait(_SELFPLAY)
        if self._later is not None:
            self._start(_SEARCH, self._later)

    def wait_for_search(self) -> None:
        """Returns once those of searches are done, if they were started."""
        self._wait(_SEARCH)

    def close(self) -> None:
        """Ends those that still run: nobody needs them."""
        for process in self._processes.values():
            process.terminate()
        self._wait(self._processes)

    def _start(self, names: Iterable[str], search: SearchConfig) -> None:
        if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") != "0":
            return  # the simulator compiles nothing
        for name in names:
            if name not in self._processes:
                given = (self._name, name, self._device, json.dumps(dataclasses.asdict(search)))
                self._processes[name] = subprocess.Popen(
                    [sys.executable, "-m", _PROGRAM, *given],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )

    def _wait(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._processes:
                self._processes[name].wait()
