"""Moves within a time limit, and compilation before the clock starts."""

import dataclasses
import time

from plainzero.games.contract import State
from plainzero.opponents.agent import Agent, Decision, GameHistory, choose_moves
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.opponents.book_agent import BookAgent
from plainzero.opponents.search_agent import SearchAgent
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig

_SHORTEST = 0.001  # seconds; a search always visits at least one move


def choose_in_time(
    agent: Agent, history: GameHistory, seed: int, seconds: float | None
) -> Decision:
    """The agent's move after about `seconds` seconds; None: within its own budget.

    A search runs until the time is up, whatever its number of simulations; alpha-beta stops at its
    depth or when the time is up. Other agents answer at once or keep their own time.
    """
    if seconds is None:
        return choose_moves(agent, [history], seed)[0]
    if isinstance(agent, BookAgent):
        chosen = choose_in_time(agent.agent, history, seed, seconds)
        return agent.correct(history.state, chosen, seed) if isinstance(chosen, int) else chosen
    if isinstance(agent, SearchAgent):
        config = limit_by_clock(agent.config, seconds)
        result = Searcher(agent.game, agent.evaluator, config).search(history.state, seed)
        return int(result.action)
    if isinstance(agent, AlphaBeta):
        deadline = time.monotonic() + seconds
        return agent.choose([history.state], seed, stop=lambda: time.monotonic() > deadline)[0]
    return choose_moves(agent, [history], seed)[0]


def limit_by_clock(config: SearchConfig, seconds: float) -> SearchConfig:
    """The same search with time as its only budget; Gumbel's halving keeps its simulations too."""
    seconds = max(_SHORTEST, seconds)
    if config.selection == "gumbel":
        return dataclasses.replace(config, seconds=seconds)
    return dataclasses.replace(config, simulations=0, visits=0, nodes=0, seconds=seconds)


def make_ready(agent: Agent, state: State) -> None:
    """Compiles what the agent needs, before any clock starts."""
    if isinstance(agent, BookAgent):
        make_ready(agent.agent, state)
    elif isinstance(agent, SearchAgent):
        config = dataclasses.replace(agent.config, simulations=1, visits=0, nodes=0, seconds=0.0)
        Searcher(agent.game, agent.evaluator, config).search(state)
    elif isinstance(agent, AlphaBeta):
        agent.choose([state], 0, stop=lambda: True)
