"""Compiles self-play's two large kernels in processes of their own, while a run is being prepared.

Each takes ten seconds, nearly all of it in Python, so threads would not help. What the processes
compile is found on disk (Numba's cache) when the run calls it. As a program: GAME KERNEL.
"""

import subprocess
import sys
from typing import Any

import numpy as np

from tesuji.cuda_compiling import IS_SIMULATED, CudaKernel, upload
from tesuji.games.contract import Game
from tesuji.games.registry import make_game
from tesuji.games.rules import register
from tesuji.search.config import SearchConfig
from tesuji.search.device_run import DEVICE
from tesuji.search.options import as_arguments, make_options, resolve
from tesuji.search.scratch import Scratch, make_scratch
from tesuji.search.tree import make_tree, plan_tree
from tesuji.selfplay import cuda
from tesuji.selfplay.config import SelfPlayConfig, resolve_selfplay
from tesuji.selfplay.games import BY_RULES, Games, make_games, make_plan

KERNELS: dict[str, CudaKernel] = {"select": cuda.select_turns, "finish": cuda.finish_turns}


class Compilers:
    """The processes that compile for a game; none where that was done before."""

    def __init__(self, game: Game, name: str) -> None:
        """Starts them; `name` is what `make_game` makes the game of."""
        tag = register(game)
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", __name__, name, kernel],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for kernel in KERNELS
            if not (IS_SIMULATED or KERNELS[kernel].is_cached(tag))
        ]

    def wait(self) -> None:
        """Returns once they are done; what one could not compile is compiled when it is called."""
        for process in self._processes:
            process.wait()
        self._processes = []


def compile_kernel(game: Game, kernel: str) -> None:
    """Compiles a kernel by calling it for one game, which has ended, so that nothing is done."""
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

    arguments: dict[str, tuple[Any, ...]] = {
        "select": (tree, scratch, options, on_gpu, floats(*game.observation_shape)),
        "finish": (tree, scratch, on_gpu, plan, options, floats(game.num_actions), floats(1)),
    }
    KERNELS[kernel](register(game), *arguments[kernel], 0, 1)


if __name__ == "__main__":
    compile_kernel(make_game(sys.argv[1]), sys.argv[2])
