"""Reanalysis: old positions are searched again with the newest weights (MuZero Reanalyse)."""

from typing import Any

import numpy as np
from torch import nn

from plainzero.games.contract import Game
from plainzero.networks.network_evaluators import NetworkEvaluator, make_evaluator
from plainzero.search.api import search
from plainzero.training.interfaces import Replay
from plainzero.training.settings import RunConfig

_AT_ONCE = 256  # positions searched side by side
_LARGEST_SEED = 2**31


class Reanalyser:
    """Renews the targets of positions in a replay, on the CPU.

    The search is that of self-play. Its policy and its values replace those of the game; so does
    the outcome where the search proves the position.
    """

    def __init__(self, game: Game, config: RunConfig, threads: int) -> None:
        """Searches with the options of a resolved config."""
        self.game, self.config, self._threads = game, config, threads
        self._evaluator: NetworkEvaluator | None = None

    def renew(
        self, replay: Replay, network: nn.Module, count: int, random: np.random.Generator
    ) -> int:
        """Searches up to `count` positions of earlier generations again; returns their number."""
        if self._evaluator is None:
            self._evaluator = make_evaluator(network, self.game, self.config.run.backend)
        self._evaluator.load(network)
        rows = replay.draw_old(count, random)
        for first in range(0, len(rows), _AT_ONCE):
            some = rows[first : first + _AT_ONCE]
            states = replay.states_of(some)
            replay.replace(some, self._search(states, int(random.integers(_LARGEST_SEED))))
        return len(rows)

    def _search(self, states: Any, seed: int) -> dict[str, Any]:
        """The columns that a search gives to each position; NaN for an outcome left as it is."""
        assert self._evaluator is not None
        settings = self.config.search, seed
        results = search(self.game, states, self._evaluator, *settings, threads=self._threads)
        values = np.array([np.roll(r.values, -r.to_play) for r in results], np.float32)
        is_proven = np.array([[result.proven] for result in results])
        return {
            "policies": np.array([result.policy_target for result in results], np.float32),
            "values": values,
            "outcomes": np.where(is_proven, values, np.float32(np.nan)),
        }
