"""The same positions searched again and again with an evaluator on the GPU, for benchmarks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig
from plainzero.search.evaluators import GpuEvaluator
from plainzero.search.gpu.runner import GpuRunner
from plainzero.search.gpu.trees import GPU_MEMORY
from plainzero.search.resolve_options import resolve
from plainzero.search.runner import SearchSpec
from plainzero.search.tree_memory import make_tree, plan_whole_tree


class RepeatedSearch:
    """Starts searches of the same positions without waiting for their results.

    Args:
        game: the game.
        evaluator: on the GPU.
        config: with a number of simulations.
        states: [B] where the searches begin.

    Raises:
        ValueError: if there is no room for whole trees, which keep every leaf.
    """

    def __init__(  # noqa: D107
        self, game: Game, evaluator: GpuEvaluator, config: SearchConfig, states: NDArray[Any]
    ) -> None:
        config, games = resolve(config, evaluator, "cuda"), len(states)
        tree = make_tree(game, config, games, plan_whole_tree(game, config, games), GPU_MEMORY)
        self._runner = GpuRunner(SearchSpec(game, evaluator, config), tree, 0, is_repeated=True)
        self._states = states
        self._runner.prepare(states)

    def run(self) -> None:
        """Starts one search of each position."""
        self._runner.restart()

    def observations(self) -> NDArray[np.float32]:
        """[B, *shape] the observations of the positions."""
        game = self._runner.game
        return np.stack([game.observation(state) for state in self._states])
