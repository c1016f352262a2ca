"""A process that compiles kernels for a run; see compile_processes.py.

Its arguments are GAME KERNELS DEVICE SEARCH, the last in JSON. Kernels on disk are left alone.
"""

import json
import math
import os
import sys
from typing import Any

import numpy as np

from plainzero.compiler.gpu_kernels import GpuKernel
from plainzero.devices import choose_device
from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.games.rules import register
from plainzero.operating_system import lower_priority
from plainzero.search.config import SearchConfig
from plainzero.search.evaluators import LeafArrays
from plainzero.search.gpu import kernels as search_kernels
from plainzero.search.gpu.trees import GPU_MEMORY
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import edges_per_node
from plainzero.search.resolve_options import as_arguments, make_options, resolve
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.tree_memory import Memory, TreeSize, make_tree
from plainzero.selfplay.config import SelfPlayConfig, resolve_selfplay
from plainzero.selfplay.games_in_progress import (
    BY_RULES,
    Games,
    make_games,
    make_play_options,
    move_dtype,
    status_dtype,
)
from plainzero.selfplay.gpu import kernels
from plainzero.selfplay.gpu.harvest import NUM_COUNTS, Harvest
from plainzero.targets.all_targets import Rows, decays_of, row_shapes
from plainzero.targets.target import USUAL_CHOICE

SELFPLAY: dict[str, tuple[GpuKernel, ...]] = {
    "select": (kernels.select_turns,),
    "finish": (kernels.finish_turns,),
    "others": (
        kernels.begin_games,
        kernels.begin_searches,
        kernels.count_games,
        kernels.take_games,
        kernels.observe_positions,
    ),
}
"""The kernels of self-play, which a run needs first, by the process that compiles them."""

SEARCH: dict[str, tuple[GpuKernel, ...]] = {
    "search": (search_kernels.play_round, search_kernels.report_games)
}
"""The kernels of searches, with which a gate tests new weights."""

_NODES = 8  # of the tree that the kernels are called with
_NICENESS = 10  # added for kernels that are not needed at once


def options_of(game: Game, search: SearchConfig) -> Options:
    """The options that kernels for searches with a network are specialised for."""
    return as_arguments(make_options(_resolved(search), game))


def _resolved(search: SearchConfig) -> SearchConfig:
    """The options as a search with a network resolves them."""
    return resolve(search, lambda planes: planes)


def compile_kernels(game: Game, name: str, search: SearchConfig) -> None:
    """Compiles kernels for these searches by calling each with one game."""
    arguments = kernel_arguments(game, search, GPU_MEMORY)
    for kernel in (SELFPLAY | SEARCH)[name]:
        kernel(register(game), *arguments[kernel])


def kernel_arguments(
    game: Game, search: SearchConfig, memory: Memory
) -> dict[GpuKernel, tuple[Any, ...]]:
    """Arguments of each kernel, for one game in that memory.

    The game of a search selects its first leaf. That of self-play has ended, so that nothing is
    selected or finished; it is started twice, but not harvested.
    """
    search, options = _resolved(search), options_of(game, search)
    config = resolve_selfplay(SelfPlayConfig(games=1), game)
    size = TreeSize(nodes=_NODES, edges=_NODES * edges_per_node(game))
    upload = memory.upload
    tree = make_tree(game, search, 1, size, memory)
    scratch = Scratch(*map(upload, make_scratch(game, search, 1, 0)))
    games = make_games(game, 1)
    games.status["ending"] = BY_RULES
    on_gpu, play_options = Games(*map(upload, games)), upload(make_play_options(config, search))

    def zeros(*shape: int, dtype: Any = np.float32) -> Any:
        return upload(np.zeros((1, *shape), dtype))

    planes, cells = zeros(*game.observation_shape), zeros(math.prod(game.observation_shape))
    leaves = LeafArrays(planes, cells, zeros(game.num_actions), zeros(1))
    counts = upload(np.zeros((NUM_COUNTS, 1), np.int64))
    states = upload(games.states[-1:])
    actions = (zeros(game.num_actions, dtype=dtype) for dtype in (np.int32, np.bool_))
    shapes = row_shapes(game, USUAL_CHOICE, 1).items()
    columns = {name: upload(np.zeros(shape, np.float32)) for name, shape in shapes}
    harvest = Harvest(
        games=zeros(dtype=status_dtype(game)),
        moves=zeros(dtype=move_dtype(game)),
        rows=Rows(states=states, decays=upload(decays_of(USUAL_CHOICE)), **columns),
    )
    all_games = tree, scratch, on_gpu, play_options
    arguments: dict[GpuKernel, tuple[Any, ...]] = {
        kernels.select_turns: (tree, scratch, options, on_gpu, leaves),
        kernels.finish_turns: (*all_games, options, leaves),
        kernels.begin_games: all_games,
        kernels.begin_searches: all_games,
        kernels.count_games: (scratch, on_gpu, counts),
        kernels.take_games: (*all_games, zeros(dtype=np.int8), counts, harvest),
        kernels.observe_positions: (states, zeros(dtype=np.int64), planes, *actions),
        search_kernels.play_round: (tree, scratch, options, states, leaves, False, True),
        search_kernels.report_games: (tree, scratch, options, zeros(4, dtype=np.int64)),
    }
    return {kernel: (*given, 0, 1) for kernel, given in arguments.items()}


def are_compiled(game: Game, name: str, search: SearchConfig) -> bool:
    """Whether the kernels are on disk."""
    tag, options = register(game), options_of(game, search)
    return all(kernel.is_cached(tag, options) for kernel in (SELFPLAY | SEARCH)[name])


def main(name: str, group: str, device: str, search: str) -> None:
    """Compiles kernels that are not on disk yet."""
    game, config = make_game(name), SearchConfig(**json.loads(search))
    if group in SEARCH:
        lower_priority(os.getpid(), _NICENESS, is_added=True)
    choose_device(device)
    if not are_compiled(game, group, config):
        compile_kernels(game, group, config)


if __name__ == "__main__":
    main(*sys.argv[1:])
