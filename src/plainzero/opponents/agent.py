"""What every opponent can do, and how one that thinks for long is stopped."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import NDArray

from plainzero.games.contract import CHANCE

Stop = Callable[[], bool]
"""Asked now and then, in the thread that works: whether to give up. It may take its time."""


class Stopped(Exception):
    """Raised by what was asked to stop; it can be used again at once."""


class Opponent(Protocol):
    """A player of one game."""

    name: str

    def choose(self, states: Sequence[Any], seed: int) -> list[int]:
        """One legal action for each position; none of them is over or chance's to move.

        Positions come in batches, so that a player with a network can ask it once for all of them.
        The same positions and the same seed give the same actions.
        """
        ...


class PlayedGame(NamedTuple):
    """A game as far as it was played, for players that follow it from its first move."""

    number: int  # tells apart the games of a match, and stays the same from move to move
    moves: Sequence[int]  # all actions from the beginning, those of the opening included
    movers: Sequence[int]  # who played each of them, CHANCE for chance
    state: Any  # where they lead


class GaveUp(NamedTuple):
    """What a player says instead of a move: it has lost the game."""

    fault: str = ""  # what went wrong with it; nothing where it resigned
    transcript: str = ""  # what was said to it and by it until then


Decision = int | GaveUp


@runtime_checkable
class Follower(Protocol):
    """A player that must see every move of a game, such as a program with a board of its own."""

    name: str

    def choose_following(
        self, games: Sequence[PlayedGame], seed: int, stop: Stop | None = None
    ) -> list[Decision]:
        """One legal action for each game, or the end of it.

        Raises:
            Stopped: when `stop` says so, which is asked between games, in any thread.
        """
        ...


def choose_moves(
    player: Opponent, games: Sequence[PlayedGame], seed: int, stop: Stop | None = None
) -> list[Decision]:
    """What the player does in each game, whether it follows games or looks at positions alone.

    Raises:
        Stopped: when `stop` says so; only players that follow games ask it.
    """
    if isinstance(player, Follower):
        return player.choose_following(games, seed, stop)
    return [*player.choose([game.state for game in games], seed)]


def require_choices(states: Sequence[Any] | NDArray[Any]) -> None:
    """Refuses positions in which no player can choose.

    Raises:
        ValueError: when a game is over or it is chance's turn.
    """
    for index, state in enumerate(states):
        if state.is_over or state.to_play == CHANCE:
            reason = "the game is over" if state.is_over else "it is chance's turn"
            raise ValueError(f"no move can be chosen in position {index}: {reason}")


def check_stop(stop: Stop | None) -> None:
    """Goes on unless `stop` says yes.

    Raises:
        Stopped: when it does.
    """
    if stop is not None and stop():
        raise Stopped("stopped before the answer was found; ask again for it")
