"""Processes that compile a run's kernels for a GPU, while the run is being prepared.

Each of the large kernels takes ten to twenty seconds, and the small ones together half of that,
nearly all of it in Python, so that threads would not help. The run finds the compiled kernels in
Numba's cache on disk. The processes are started first of all, so that this module does not import
Numba, which takes seconds.
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


class CompileProcesses:
    """Compile the kernels for a game, and exit at once if they are on disk.

    As a context manager, it ends the processes that still run.
    """

    def __init__(self, game: Game, name: str, search: SearchConfig, device: str = "cuda:0") -> None:
        """Starts to compile self-play with these searches; `name` is the game's for `make_game`."""
        self._game, self._name, self._device = game, name, device
        self._search = search
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._later: SearchConfig | None = None
        self._start(_SELFPLAY, search)

    def __enter__(self) -> Self:
        """The same object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the processes that still run."""
        self.close()

    def is_for(self, search: SearchConfig) -> bool:
        """Whether the kernels of self-play are those that these searches need."""
        from plainzero.selfplay.gpu.compile_worker import options_of

        begun, needed = (options_of(self._game, config) for config in (self._search, search))
        return begun.compile_time_values() == needed.compile_time_values()

    def request_search(self, search: SearchConfig) -> None:
        """Requests the kernels of searches too, once those of self-play are compiled."""
        self._later = search

    def wait(self) -> None:
        """Returns once self-play is compiled; a kernel that failed is compiled when called."""
        self._wait(_SELFPLAY)
        if self._later is not None:
            self._start(_SEARCH, self._later)

    def wait_for_search(self) -> None:
        """Returns once those of searches are compiled, if they were started."""
        self._wait(_SEARCH)

    def close(self) -> None:
        """Ends the processes that still run."""
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
