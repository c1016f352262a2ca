"""The games of a match, in progress and finished."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plainzero.arena.openings import Opening, draw_chance
from plainzero.games.contract import CHANCE, Game, State
from plainzero.opponents.agent import Decision, Forfeit, GameHistory

FIRST, SECOND = 0, 1  # the agents of a match


@dataclass(frozen=True)
class FinishedGame:
    """A finished game: its seats, moves and result."""

    opening: tuple[int, ...]  # actions before the agents began, including chance's
    moves: tuple[int, ...]  # all later actions, including chance's
    seats: tuple[int, ...]  # per player, 0 for the first agent of the match and 1 for the second
    returns: tuple[float, ...]  # per player
    loser: int | None = None  # the player who resigned, or lost by a fault
    fault: str = ""  # why that player failed; empty if it resigned
    transcript: str = dataclasses.field(
        default="", compare=False, repr=False
    )  # of the engine, until the fault

    @property
    def score(self) -> float:
        """The first agent's score: 1 if its seats did better on average, ½ if both did the same."""
        returns, seats = np.array(self.returns), np.array(self.seats)
        mine, theirs = (float(returns[seats == agent].mean()) for agent in (FIRST, SECOND))
        return compare(mine, theirs)


class MatchGame:
    """A game in progress, with its own random stream for chance.

    Args:
        game: the game.
        opening: the opening.
        seating: the agent of each player.
        seed: of chance; equal for all seatings of an opening.
    """

    def __init__(self, game: Game, opening: Opening, seating: tuple[int, ...], seed: int) -> None:  # noqa: D107
        self.game, self.opening, self.seating = game, opening, seating
        self.state: State = game.copy(opening.state)
        self.moves: list[int] = []
        self.movers = _movers(game, opening.actions)
        self.generator = np.random.default_rng(seed)
        self.loser: int | None = None
        self.forfeit = Forfeit()

    @property
    def is_over(self) -> bool:
        """Whether the game is over by the rules or by a forfeit."""
        return bool(self.state.is_over) or self.loser is not None

    @property
    def to_choose(self) -> int:
        """The agent to move."""
        return self.seating[int(self.state.to_play)]

    def history(self, number: int) -> GameHistory:
        """The game so far, with that number."""
        return GameHistory(number, (*self.opening.actions, *self.moves), self.movers, self.state)

    def take(self, decision: Decision) -> None:
        """Plays an agent's action and chance's outcomes after it, or ends the game."""
        if isinstance(decision, Forfeit):
            self.loser, self.forfeit = int(self.state.to_play), decision
            return
        self._apply(int(decision))
        while not self.state.is_over and self.state.to_play == CHANCE:
            self._apply(draw_chance(self.game, self.state, self.generator))

    def record(self) -> FinishedGame:
        """The finished game."""
        returns = tuple(float(value) for value in self.state.returns)
        if self.loser is not None:
            others = self.game.num_players - 1
            returns = tuple(
                -1.0 if player == self.loser else 1.0 / others
                for player in range(self.game.num_players)
            )
        return FinishedGame(
            self.opening.actions,
            tuple(self.moves),
            self.seating,
            returns,
            self.loser,
            *self.forfeit,
        )

    def _apply(self, action: int) -> None:
        mover = int(self.state.to_play)
        self.game.apply(self.state, action)
        self.moves.append(action)
        self.movers.append(mover)


def _movers(game: Game, actions: Sequence[int]) -> list[int]:
    """The player of each action from the start."""
    state, movers = game.new_state(), []
    for action in actions:
        movers.append(int(state.to_play))
        game.apply(state, action)
    return movers


def compare(mine: float, theirs: float) -> float:
    """The score of a result `mine` against a result `theirs`."""
    return 1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
