"""Compiles kernels in processes of their own, while a run is being prepared.

Each of the large ones takes ten to twenty seconds, and the small ones together half of that, nearly
all of it in Python, so threads would not help. What the processes compile is found on disk (Numba's
cache) when the run calls it. As a program: GAME KERNELS DEVICE SEARCH, the last in JSON.
"""

import dataclasses
import json
import math
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
from tesuji.search.evaluators import LeafArrays
from tesuji.search.options import Options, as_arguments, make_options, resolve
from tesuji.search.scratch import Scratch, make_scratch
from tesuji.search.tree import TreeSize, edges_per_node, make_tree
from tesuji.selfplay import cuda
from tesuji.selfplay.config import SelfPlayConfig, resolve_selfplay
from tesuji.selfplay.games import BY_RULES, Games, make_games, make_plan, move_dtype
from tesuji.selfplay.harvest import NUM_COUNTS, Harvest, finished_dtype

SELFPLAY: dict[str, tuple[CudaKernel, ...]] = {
    "select": (cuda.select_turns,),
    "finish": (cuda.finish_turns,),
    "others": (
        cuda.begin_games,
        cuda.begin_searches,
        cuda.count_games,
        cuda.take_games,
        cuda.observe_positions,
    ),
}
"""Of self-play, which a run begins with: what each process compiles."""

SEARCH: dict[str, tuple[CudaKernel, ...]] = {
    "search": (search_cuda.play_round, search_cuda.report_games)
}
"""Of searches, by which a gate measures new weights."""

_NODES = 8  # of the tree for which kernels are called
_PATIENCE = 10  # added to the niceness of what is not needed at once


class Compilers:
    """The processes that compile for a game; none where that was done before.

    As a context, it ends those that still run when it is left.
    """

    def __init__(self, game: Game, name: str, search: SearchConfig, device: str = "cuda:0") -> None:
        """Starts self-play's, with such searches; `name` is what `make_game` makes the game of."""
        self._game, self._name, self._device = game, name, device
        self._known = _options_of(game, search).known()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._later: SearchConfig | None = None
        self._start(SELFPLAY, search)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends those that still run."""
        self.close()

    def suit(self, search: SearchConfig) -> bool:
        """Whether what is compiled for self-play is what such searches need."""
        return self._known == _options_of(self._game, search).known()

    def want_search(self, search: SearchConfig) -> None:
        """Has those of such searches compiled too, once self-play's are done."""
        self._later = search

    def wait(self) -> None:
        """Returns once self-play's are done; what one could not compile is compiled when called."""
        self._wait(SELFPLAY)
        if self._later is not None:
            self._start(SEARCH, self._later)

    def wait_for_search(self) -> None:
        """Returns once those of searches are done, if they were started."""
        self._wait(SEARCH)

    def close(self) -> None:
        """Ends those that still run: nobody needs them."""
        for process in self._processes.values():
            process.terminate()
        self._wait(self._processes)

    def _start(self, work: dict[str, tuple[CudaKernel, ...]], search: SearchConfig) -> None:
        tag, options = register(self._game), _options_of(self._game, search)
        for name, kernels in work.items():
            is_done = IS_SIMULATED or all(kernel.is_cached(tag, options) for kernel in kernels)
            if not (name in self._processes or is_done):
                given = (self._name, name, self._device, json.dumps(dataclasses.asdict(search)))
                self._processes[name] = subprocess.Popen(
                    [sys.executable, "-m", __name__, *given],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )

    def _wait(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._processes:
                self._processes[name].wait()


def _options_of(game: Game, search: SearchConfig) -> Options:
    return as_arguments(make_options(_resolved(search), game))


def _resolved(search: SearchConfig) -> SearchConfig:
    """As a search with a network resolves it."""
    return resolve(search, lambda planes: planes)


def compile_kernels(game: Game, name: str, search: SearchConfig) -> None:
    """Compiles kernels for such searches by calling each for one game.

    That of a search selects its first leaf. That of self-play has ended, so that nothing is
    selected or finished; it is begun, and begun again, but not taken.
    """
    search, options = _resolved(search), _options_of(game, search)
    config = resolve_selfplay(SelfPlayConfig(games=1), game)
    size = TreeSize(nodes=_NODES, edges=_NODES * edges_per_node(game))
    tree = make_tree(game, search, 1, size, DEVICE)
    scratch = Scratch(*map(upload, make_scratch(game, search, 1, 0)))
    games = make_games(game, 1)
    games.seats["ending"] = BY_RULES
    on_gpu, plan = Games(*map(upload, games)), upload(make_plan(config, search))

    def zeros(*shape: int, dtype: Any = np.float32) -> Any:
        return upload(np.zeros((1, *shape), dtype))

    planes, cells = zeros(*game.observation_shape), zeros(math.prod(game.observation_shape))
    leaves = LeafArrays(planes, cells, zeros(game.num_actions), zeros(1))
    counts = upload(np.zeros((NUM_COUNTS, 1), np.int64))
    states = upload(games.states[-1:])
    harvest = Harvest(
        games=zeros(dtype=finished_dtype(game)),
        moves=zeros(dtype=move_dtype(game)),
        states=states,
        policies=zeros(game.num_actions),
        outcomes=zeros(game.num_players),
        values=zeros(game.num_players),
    )
    all_games = tree, scratch, on_gpu, plan
    arguments: dict[CudaKernel, tuple[Any, ...]] = {
        cuda.select_turns: (tree, scratch, options, on_gpu, leaves),
        cuda.finish_turns: (*all_games, options, leaves),
        cuda.begin_games: all_games,
        cuda.begin_searches: all_games,
        cuda.count_games: (scratch, on_gpu, counts),
        cuda.take_games: (*all_games, zeros(dtype=np.int8), counts, harvest),
        cuda.observe_positions: (states, zeros(dtype=np.int64), planes),
        search_cuda.play_round: (tree, scratch, options, states, leaves, False, True),
        search_cuda.report_games: (tree, scratch, options, zeros(4, dtype=np.int64)),
    }
    for kernel in (SELFPLAY | SEARCH)[name]:
        kernel(register(game), *arguments[kernel], 0, 1)


if __name__ == "__main__":
    _game, _name, _device, _search = sys.argv[1:]
    if _name in SEARCH:
        os.nice(_PATIENCE)
    choose_device(_device)
    compile_kernels(make_game(_game), _name, SearchConfig(**json.loads(_search)))
