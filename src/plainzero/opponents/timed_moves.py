"""A move by the clock: how agents are kept to a number of seconds, and made ready beforehand."""

import dataclasses
import time

from plainzero.games.contract import State
from plainzero.opponents.agent import Decision, Opponent, PlayedGame, choose_moves
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.opponents.search_agent import SearchAgent
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig

_SHORTEST = 0.001  # seconds; a search looks at one move at least


def choose_in_time(
    agent: Opponent, played: PlayedGame, seed: int, seconds: float | None
) -> Decision:
    """The agent's move, after about so many seconds; None: by its own budget.

    A search goes on until the time is over, whatever number of simulations it was given; alpha-beta
    stops at its depth or in time. Other agents answer at once, or keep their own time.
    """
    if seconds is None:
        return choose_moves(agent, [played], seed)[0]
    if isinstance(agent, SearchAgent):
        config = limit_by_clock(agent.config, seconds)
        result = Searcher(agent.game, agent.evaluator, config).search(played.state, seed)
        return int(result.action)
    if isinstance(agent, AlphaBeta):
        deadline = time.monotonic() + seconds
        return agent.choose([played.state], seed, stop=lambda: time.monotonic() > deadline)[0]
    return choose_moves(agent, [played], seed)[0]


def limit_by_clock(config: SearchConfig, seconds: float) -> SearchConfig:
    """The same search with time as its only budget; halving needs its simulations as well."""
    seconds = max(_SHORTEST, seconds)
    if config.selection == "gumbel":
        return dataclasses.replace(config, seconds=seconds)
    return dataclasses.replace(config, simulations=0, visits=0, nodes=0, seconds=seconds)


def make_ready(agent: Opponent, state: State) -> None:
    """Compiles what the agent needs, so that no clock runs meanwhile."""
    if isinstance(agent, SearchAgent):
        config = dataclasses.replace(agent.config, simulations=1, visits=0, nodes=0, seconds=0.0)
        Searcher(agent.game, agent.evaluator, config).search(state)
    elif isinstance(agent, AlphaBeta):
        agent.choose([state], 0, stop=lambda: True)
