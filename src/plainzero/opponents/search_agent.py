"""Agents that play by a search or by a network alone, and the functions they share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game, State
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig
from plainzero.search.evaluators import Evaluator, evaluate

_RAW_BATCH = 1024  # positions per call of a network


@dataclass(eq=False)
class SearchAgent:
    """Plays the move that a search chooses; searches positions in parallel."""

    name: str
    game: Game
    evaluator: Evaluator
    config: SearchConfig

    def choose(self, states: Sequence[State], seed: int) -> list[int]:
        """The move for each position."""
        searcher = self.searcher()
        actions: list[int] = []
        step = side_by_side(searcher)
        for first in range(0, len(states), step):
            batch = list(states[first : first + step])
            results = searcher.search(batch, child_seed(seed, first))
            actions += [int(result.action) for result in results]
        return actions

    def searcher(self) -> Searcher:
        """A searcher with the agent's evaluator and options."""
        return Searcher(self.game, self.evaluator, self.config)


@dataclass(eq=False)
class NetworkAgent:
    """Plays the legal move with the largest logit, without a search."""

    name: str
    game: Game
    evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]]

    def choose(self, states: Sequence[State], seed: int) -> list[int]:
        """The move for each position; ties go to the lowest action."""
        logits, _ = evaluate_states(self.game, self.evaluator, states)
        return best_legal(self.game, states, logits)


def side_by_side(searcher: Searcher) -> int:
    """The number of whole trees that fit in memory; 1 if the clock ends a search."""
    if searcher.config.seconds:
        return 1
    return max(1, searcher.config.max_bytes // max(1, searcher.planned_bytes(1)))


def evaluate_states(
    game: Game,
    evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]],
    states: Sequence[State],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Logits [n, A] and values [n, 1 or players] of positions, computed in batches."""
    logits, values = [], []
    for first in range(0, len(states), _RAW_BATCH):
        planes = np.stack([game.observation(state) for state in states[first : first + _RAW_BATCH]])
        batch_logits, batch_values = evaluate(evaluator, planes, game)
        logits.append(batch_logits)
        values.append(batch_values)
    return np.concatenate(logits), np.concatenate(values)


def best_legal(game: Game, states: Sequence[State], logits: NDArray[np.float32]) -> list[int]:
    """The legal action with the largest logit in each position; ties go to the lowest action."""
    chosen = []
    for state, row in zip(states, logits, strict=True):
        legal = sorted(game.legal(state))
        chosen.append(legal[int(row[legal].argmax())])
    return chosen


def child_seed(*numbers: int) -> int:
    """A seed derived from the numbers, each 0 or more."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
