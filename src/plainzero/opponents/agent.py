"""The interface of agents, and how a long computation is stopped."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import NDArray

from plainzero.games.contract import CHANCE

Stop = Callable[[], bool]
"""Called regularly, in the thread that computes: whether to stop. It may be slow."""


class Stopped(Exception):
    """Raised by a computation that was stopped; the object can be used again at once."""


class Agent(Protocol):
    """Whatever chooses moves in one game."""

    name: str

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """One legal action for each position, in which a player is to move.

        Positions come in batches, so that a network can evaluate them together. The same positions
        and the same seed give the same actions.
        """
        ...


class GameHistory(NamedTuple):
    """A game so far, for agents that need all of its moves."""

    number: int  # identifies the game within a match
    moves: Sequence[int]  # all actions from the start, including the opening's
    movers: Sequence[int]  # the player of each, CHANCE for chance
    state: Any  # the position after them


class Forfeit(NamedTuple):
    """A lost game in place of a move: the agent resigned or failed."""

    fault: str = ""  # why it failed; empty if it resigned
    transcript: str = ""  # the exchange with the engine until then


Decision = int | Forfeit


@runtime_checkable
class HistoryAgent(Protocol):
    """An agent that must see every move of a game, such as an engine with its own board."""

    name: str

    def choose_with_history(
        self, games: Sequence[GameHistory], seed: int, stop: Stop | None = None
    ) -> list[Decision]:
        """One legal action for each game, or a forfeit.

        Raises:
            Stopped: when `stop` returns true; it is called between games, in any thread.
        """
        ...


def choose_moves(
    agent: Agent, games: Sequence[GameHistory], seed: int, stop: Stop | None = None
) -> list[Decision]:
    """The agent's decision in each game, from its history or from the position alone.

    Raises:
        Stopped: when `stop` returns true; only agents that need the history call it.
    """
    if isinstance(agent, HistoryAgent):
        return agent.choose_with_history(games, seed, stop)
    return [*agent.choose([game.state for game in games], seed)]


def require_choices(states: Sequence[Any] | NDArray[Any]) -> None:
    """Refuses positions in which no player is to move.

    Raises:
        ValueError: when the game is over or chance is to move.
    """
    for index, state in enumerate(states):
        if state.is_over or state.to_play == CHANCE:
            reason = "the game is over" if state.is_over else "chance is to move"
            raise ValueError(f"no move can be chosen in position {index}: {reason}")


def check_stop(stop: Stop | None) -> None:
    """Raises `Stopped` if `stop` returns true.

    Raises:
        Stopped: if so.
    """
    if stop is not None and stop():
        raise Stopped("stopped before the result was found")
