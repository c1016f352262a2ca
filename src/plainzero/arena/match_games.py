"""The tables of a match: games in progress, and what is kept of those that are finished."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plainzero.arena.openings import Opening, draw_chance
from plainzero.games.contract import CHANCE, Game, State
from plainzero.opponents.agent import Decision, GaveUp, PlayedGame

FIRST, SECOND = 0, 1  # the agents of a match


@dataclass(frozen=True)
class GameRecord:
    """One finished game: who sat where, what was played, and how it ended."""

    opening: tuple[int, ...]  # actions before the agents began, chance's included
    moves: tuple[int, ...]  # all that followed, chance's included
    seats: tuple[int, ...]  # per player, 0 for the first agent of the match and 1 for the second
    returns: tuple[float, ...]  # per player
    loser: int | None = None  # the player who resigned, or lost by a fault
    fault: str = ""  # what went wrong with that player; nothing where it resigned
    transcript: str = dataclasses.field(default="", compare=False, repr=False)  # until the fault

    @property
    def score(self) -> float:
        """The first agent's: 1 where its seats did better on average, ½ where both did alike."""
        returns, seats = np.array(self.returns), np.array(self.seats)
        mine, theirs = (float(returns[seats == agent].mean()) for agent in (FIRST, SECOND))
        return compare(mine, theirs)


class Table:
    """A game in progress, with its own luck: the same for all seatings of an opening.

    Args:
        game: what is played.
        opening: how it begins.
        seating: per player, which agent plays it.
        luck: the seed of chance.
    """

    def __init__(self, game: Game, opening: Opening, seating: tuple[int, ...], luck: int) -> None:  # noqa: D107
        self.game, self.opening, self.seating = game, opening, seating
        self.state: State = game.copy(opening.state)
        self.moves: list[int] = []
        self.movers = _movers(game, opening.actions)
        self.generator = np.random.default_rng(luck)
        self.loser: int | None = None
        self.gave_up = GaveUp()

    @property
    def is_over(self) -> bool:
        """Whether the rules ended the game, or a player gave it up."""
        return bool(self.state.is_over) or self.loser is not None

    @property
    def to_choose(self) -> int:
        """The agent whose turn it is."""
        return self.seating[int(self.state.to_play)]

    def played(self, number: int) -> PlayedGame:
        """The game so far, under that number."""
        return PlayedGame(number, (*self.opening.actions, *self.moves), self.movers, self.state)

    def take(self, decision: Decision) -> None:
        """Plays an agent's action, and then what chance does; or ends the game."""
        if isinstance(decision, GaveUp):
            self.loser, self.gave_up = int(self.state.to_play), decision
            return
        self._apply(int(decision))
        while not self.state.is_over and self.state.to_play == CHANCE:
            self._apply(draw_chance(self.game, self.state, self.generator))

    def record(self) -> GameRecord:
        """The finished game."""
        returns = tuple(float(value) for value in self.state.returns)
        if self.loser is not None:
            others = self.game.num_players - 1
            returns = tuple(
                -1.0 if player == self.loser else 1.0 / others
                for player in range(self.game.num_players)
            )
        return GameRecord(
            self.opening.actions,
            tuple(self.moves),
            self.seating,
            returns,
            self.loser,
            *self.gave_up,
        )

    def _apply(self, action: int) -> None:
        mover = int(self.state.to_play)
        self.game.apply(self.state, action)
        self.moves.append(action)
        self.movers.append(mover)


def _movers(game: Game, actions: Sequence[int]) -> list[int]:
    """Who plays each of the actions from the beginning."""
    state, movers = game.new_state(), []
    for action in actions:
        movers.append(int(state.to_play))
        game.apply(state, action)
    return movers


def compare(mine: float, theirs: float) -> float:
    """The score of one who got `mine` against one who got `theirs`."""
    return 1.0 if mine > theirs else 0.5 if mine == theirs else 0.0
