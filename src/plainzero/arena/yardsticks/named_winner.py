"""The share of positions with a known winner in which an agent's value has the right sign."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.yardsticks.measurement import Effort, Measurement, share_of
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.search_agent import (
    NetworkAgent,
    SearchAgent,
    child_seed,
    evaluate_states,
    side_by_side,
)
from plainzero.opponents.won_positions import bundled_won_positions, read_won_positions


@dataclass(frozen=True)
class NamedWinner:
    """The game's bundled positions with a known winner, half of them won for the mover."""

    target: float | None = None
    name = "winner named right by the value"

    def check(self, game: Game) -> None:
        """Refuses games without such positions."""
        bundled_won_positions(game)

    def measure(self, game: Game, agent: Agent, effort: Effort) -> Measurement:
        """The share on all positions, whatever the number of games."""
        known = read_won_positions(game, bundled_won_positions(game))
        return share_of(names_winner(agent, known.states, known.outcomes, effort), "positions")


def names_winner(
    agent: Agent, states: Sequence[Any] | NDArray[Any], outcomes: NDArray[np.int8], effort: Effort
) -> NDArray[np.bool_]:
    """[n] whether the agent's value of each position has the sign of its outcome for the mover.

    Raises:
        ValueError: for an agent that has no value.
    """
    values: list[float] = []
    step = side_by_side(agent.searcher()) if isinstance(agent, SearchAgent) else len(states)
    while len(values) < len(states):
        batch = list(states[len(values) : len(values) + step])
        values += _values(agent, batch, child_seed(effort.seed, len(values)))
        if effort.progress is not None:
            effort.progress(len(values), len(states))
    named: NDArray[np.bool_] = np.sign(values) == outcomes
    return named


def _values(agent: Agent, states: list[Any], seed: int) -> list[float]:
    """The value of each position for its mover."""
    if isinstance(agent, SearchAgent):
        return [result.value for result in agent.searcher().search(states, seed)]
    if isinstance(agent, NetworkAgent):
        _, found = evaluate_states(agent.game, agent.evaluator, states)
        return [float(value) for value in found[:, 0]]
    raise ValueError(f"{agent.name} gives no value; name a run, bundled:N, uct:N or puct:N")
