"""The share of solved positions in which an agent's move gives away neither a win nor a draw."""

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.accuracy import sample_positions
from plainzero.arena.yardsticks.measurement import Effort, Measurement, share_of
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.search_agent import child_seed
from plainzero.opponents.solved_positions import PositionSet, bundled_positions, read_positions

_POSITIONS_PER_GAME = 25
_BATCH = 128


@dataclass(frozen=True)
class KeptOutcomes:
    """The game's bundled set of decisive positions: in each, some moves are errors."""

    target: float | None = None
    name = "moves that keep the outcome, decisive positions"

    def check(self, game: Game) -> None:
        """Refuses games without a bundled set."""
        _find(game)

    def measure(self, game: Game, agent: Agent, effort: Effort) -> Measurement:
        """The share on a sample of the set."""
        count = effort.games * _POSITIONS_PER_GAME
        known = sample_positions(_read(game), count, effort.seed)
        kept = _keeps_outcome(agent, known, effort)
        return share_of(kept, "positions")


@functools.lru_cache(maxsize=2)
def _read(game: Game) -> PositionSet:
    """The bundled set, which takes some seconds to read; the last two are cached."""
    return read_positions(game, _find(game))


def _find(game: Game) -> Path:
    path = bundled_positions(game)
    if path is None:
        raise ValueError(f"there are no bundled positions of {game.name}")
    return path


def _keeps_outcome(agent: Agent, positions: PositionSet, effort: Effort) -> NDArray[np.bool_]:
    """[n] whether the agent's move has the best outcome."""
    states, outcomes = positions.states, positions.outcomes
    moves: list[int] = []
    while len(moves) < len(states):
        batch = list(states[len(moves) : len(moves) + _BATCH])
        moves += agent.choose(batch, child_seed(effort.seed, len(moves)))
        if effort.progress is not None:
            effort.progress(len(moves), len(states))
    kept: NDArray[np.bool_] = outcomes[np.arange(len(moves)), moves] == outcomes.max(axis=1)
    return kept
