"""Compiles the large kernels in processes of their own, while a run is being prepared.

Each takes ten seconds, nearly all of it in Python, so threads would not help. What the processes
compile is found on disk (Numba's cache) when the run calls it. As a program: GAME KERNEL DEVICE.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from tesuji.cuda_compiling import IS_SIMULATED, CudaKernel, upload
from tesuji.devices import choose_device
from tesuji.games.contract import Game
from tesuji.games.registry import make_game
from tesuji.games.rules import register
from tesuji.search import cuda as search_cuda
from tesuji.search.config import SearchConfig
from tesuji.search.device_run import DEVICE
from tesuji.search.options import as_arguments, make_options, resolve
from tesuji.search.scratch import Scratch, make_scratch
from tesuji.search.tree import make_tree, plan_tree
from tesuji.selfplay import cuda
from tesuji.selfplay.config import SelfPlayConfig, resolve_selfplay
from tesuji.selfplay.games import BY_RULES, Games, make_games, make_plan

SELFPLAY: dict[str, CudaKernel] = {"select": cuda.select_turns, "finish": cuda.finish_turns}
"""Of self-play, which a run begins with."""

SEARCH: dict[str, CudaKernel] = {
    "select search": search_cuda.select_games,
    "finish search": search_cuda.finish_games,
}
"""Of searches, by which strength is measured later."""

_PATIENCE = 10  # added to the niceness of what is not needed at once


class Compilers:
    """The processes that compile for a game; none where that was done before.

    As a context, it ends those that still run when it is left.
    """

    def __init__(self, game: Game, name: str, device: str = "cuda:0") -> None:
        """Starts self-play's; `name` is what `make_game` makes the game of."""
        self._tag, self._name, self._device = register(game), name, device
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._start(SELFPLAY)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends those that still run."""
        self.close()

    def start_search(self) -> None:
        """Starts those of searches too; they give way to whatever else there is to do."""
        self._start(SEARCH)

    def wait(self) -> None:
        """Returns once self-play's are done; what one could not compile is compiled when called."""
        self._wait(SELFPLAY)

    def wait_for_search(self) -> None:
        """Returns once those of searches are done, if they were started."""
        self._wait(SEARCH)

    def close(self) -> None:
        """Ends those that still run: nobody needs them."""
        for process in self._processes.values():
            process.terminate()
        self._wait(self._processes)

    def _start(self, kernels: dict[str, CudaKernel]) -> None:
        for kernel, function in kernels.items():
            if not (kernel in self._processes or IS_SIMULATED or function.is_cached(self._tag)):
                self._processes[kernel] = subprocess.Popen(
                    [sys.executable, "-m", __name__, self._name, kernel, self._device],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )

    def _wait(self, kernels: Iterable[str]) -> None:
        for kernel in kernels:
            if kernel in self._processes:
                self._processes[kernel].wait()


def compile_kernel(game: Game, kernel: str) -> None:
    """Compiles a kernel by calling it for one game: its first leaf is selected, or none finished.

    In self-play the game has ended, so that nothing is done at all.
    """
    search = resolve(SearchConfig(simulations=1), lambda planes: planes)
    config = resolve_selfplay(SelfPlayConfig(games=1), game)
    tree = make_tree(game, search, 1, plan_tree(game, search, 1), DEVICE)
    scratch = Scratch(*map(upload, make_scratch(game, search, 1, 0)))
    options = as_arguments(make_options(search, game))
    games = make_games(game, 1)
    games.seats["ending"] = BY_RULES
    on_gpu, plan = Games(*map(upload, games)), upload(make_plan(config, search))

    def floats(*shape: int) -> Any:
        return upload(np.zeros((1, *shape), np.float32))

    planes, answers = floats(*game.observation_shape), (floats(game.num_actions), floats(1))
    arguments: dict[str, tuple[Any, ...]] = {
        "select": (tree, scratch, options, on_gpu, planes),
        "finish": (tree, scratch, on_gpu, plan, options, *answers),
        "select search": (tree, scratch, options, upload(games.states[-1:]), planes),
        "finish search": (tree, scratch, options, *answers),
    }
    (SELFPLAY | SEARCH)[kernel](register(game), *arguments[kernel], 0, 1)


if __name__ == "__main__":
    _game, _kernel, _device = sys.argv[1:]
    if _kernel in SEARCH:
        os.nice(_PATIENCE)
    choose_device(_device)
    compile_kernel(make_game(_game), _kernel)
