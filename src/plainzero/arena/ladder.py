"""A game's ladder: agents rated by games that were spent where they tell most.

Unlike a round robin, only some agents meet, and games can be added at any time. The interval of a
rating is that of its difference from the anchor. Intervals widen if the games of an opening are
alike, and if the results of pairs do not fit one number per agent.
"""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.elo import NORMAL_95
from plainzero.arena.match import MatchResult
from plainzero.arena.openings import Opening
from plainzero.arena.ratings import ELO, Pairing, Ratings, fit_ratings
from plainzero.games.contract import Game


@dataclass(frozen=True)
class Pair:
    """All games between two agents, from the first one's point of view."""

    first: str
    second: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    rounds: int = 0  # openings played, each from all seats
    squares: float = 0.0  # the sum over rounds of the squared points

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Wins, and half of the draws."""
        return self.wins + self.draws / 2

    def plus(self, result: MatchResult) -> "Pair":
        """With the games of a match between the same agents in the same order."""
        points = [sum(scores) for scores in result.scores_by_round]
        return dataclasses.replace(
            self,
            wins=self.wins + result.tally.wins,
            draws=self.draws + result.tally.draws,
            losses=self.losses + result.tally.losses,
            rounds=self.rounds + len(points),
            squares=self.squares + sum(point**2 for point in points),
        )


@dataclass(frozen=True)
class Rung:
    """An agent with its rating."""

    agent: str
    elo: float
    error: float  # half the 95 % interval of the difference from the anchor
    games: int
    score: float  # share of the points


@dataclass(frozen=True, eq=False)
class Ladder:
    """The games played so far, and the ratings that follow from them."""

    game: str
    anchor: str
    seed: int
    openings: tuple[tuple[int, ...], ...]  # the actions of each
    agents: dict[str, str]  # with the identity of each: see identity_of
    pairs: tuple[Pair, ...] = ()
    seconds: float = 0.0  # of play
    made: dict[str, Any] = field(default_factory=dict)  # command, date, machine, versions

    @functools.cached_property
    def rated(self) -> tuple[str, ...]:
        """The agents that games connect with the anchor, the anchor first."""
        reached = {self.anchor}
        while True:
            more = {
                name
                for pair in self.pairs
                if pair.games and {pair.first, pair.second} & reached
                for name in (pair.first, pair.second)
            }
            if more <= reached:
                break
            reached |= more
        others = (agent for agent in self.agents if agent in reached and agent != self.anchor)
        return (self.anchor, *others)

    @functools.cached_property
    def ratings(self) -> Ratings:
        """The ratings of `rated`; their errors are those of the model alone.

        Raises:
            ValueError: if the anchor has no games.
        """
        if len(self.rated) < 2:
            raise ValueError(f"{self.anchor}, which is to be rated 0, has not finished any game")
        index = {name: number for number, name in enumerate(self.rated)}
        pairings = [
            Pairing(
                index[pair.first],
                index[pair.second],
                pair.wins,
                pair.draws,
                pair.losses,
                self._virtual(pair),
            )
            for pair in self._counted
        ]
        return fit_ratings(self.rated, pairings)

    @functools.cached_property
    def dispersion(self) -> float:
        """How much more the points of rounds vary than those of independent games; 1 or more."""
        found, expected, rounds = 0.0, 0.0, 0
        for pair in self._counted:
            score, variance = self.predict(pair.first, pair.second)
            mean = pair.games / pair.rounds * score
            found += pair.squares - 2 * mean * pair.points + pair.rounds * mean**2
            expected += pair.games * variance
            rounds += pair.rounds
        freedom = max(1, rounds - len(self.rated))
        return max(1.0, found / expected * rounds / freedom)

    @functools.cached_property
    def misfit(self) -> float:
        """How much more the points of pairs vary than by chance; about 1 if strength is one number.

        1 if there are too few pairs to tell.
        """
        found, expected = 0.0, 0.0
        for pair in self._counted:
            score, variance = self.predict(pair.first, pair.second)
            found += (pair.points - pair.games * score) ** 2
            expected += pair.games * variance
        count, freedom = len(self._counted), len(self._counted) - len(self.rated)
        return max(1.0, found / expected * count / freedom) if freedom > 0 else 1.0

    @functools.cached_property
    def errors(self) -> NDArray[np.float64]:
        """Half the 95 % interval of each of `rated`: by the model, or by its misfit if larger.

        The second is the sandwich estimator with pairs as clusters: what the ratings would vary by
        if each pair had an own deviation of the size found. It needs more pairs than agents.
        """
        by_model = np.diag(self.ratings.covariance) * self.dispersion
        scale = self.ratings.covariance / ELO
        by_misfit = np.zeros(len(self.rated))
        for pair in self._counted:
            first, second = self.rated.index(pair.first), self.rated.index(pair.second)
            residual = pair.points - pair.games * self.predict(pair.first, pair.second)[0]
            by_misfit += ((scale[:, first] - scale[:, second]) * residual) ** 2
        freedom = len(self._counted) - len(self.rated)
        by_misfit *= len(self._counted) / freedom if freedom > 0 else 0.0
        found: NDArray[np.float64] = NORMAL_95 * np.sqrt(np.maximum(by_model, by_misfit))
        return found

    @functools.cached_property
    def rungs(self) -> tuple[Rung, ...]:
        """The rated agents, strongest first."""
        rungs = [
            Rung(name, float(elo), float(error), *self._record(name))
            for name, elo, error in zip(self.rated, self.ratings.elo, self.errors, strict=True)
        ]
        return tuple(sorted(rungs, key=lambda rung: -rung.elo))

    @property
    def unrated(self) -> list[str]:
        """The agents without games that connect them with the anchor."""
        return [agent for agent in self.agents if agent not in self.rated]

    @property
    def games(self) -> int:
        """The number of games."""
        return sum(pair.games for pair in self.pairs)

    def predict(self, first: str, second: str) -> tuple[float, float]:
        """The expected score of a game between two rated agents, and its variance."""
        return self.ratings.predict(self.rated.index(first), self.rated.index(second))

    def pair(self, first: str, second: str) -> Pair:
        """The games of two agents; none if they have not met."""
        found = (p for p in self.pairs if (p.first, p.second) == (first, second))
        return next(found, Pair(first, second))

    def with_pair(self, pair: Pair, seconds: float = 0.0) -> "Ladder":
        """With that pair's games in place of the earlier ones."""
        others = [p for p in self.pairs if (p.first, p.second) != (pair.first, pair.second)]
        return dataclasses.replace(self, pairs=(*others, pair), seconds=self.seconds + seconds)

    def with_agents(self, identities: dict[str, str]) -> tuple["Ladder", list[str]]:
        """With these agents, and those whose games are dropped because their network changed."""
        changed = [a for a, now in identities.items() if self.agents.get(a, now) != now]
        kept = [p for p in self.pairs if not {p.first, p.second} & set(changed)]
        ladder = dataclasses.replace(self, agents={**self.agents, **identities}, pairs=tuple(kept))
        return ladder, changed

    def states(self, game: Game) -> list[Opening]:
        """The openings with their positions."""
        return [Opening(actions, _play(game, actions)) for actions in self.openings]

    @functools.cached_property
    def _counted(self) -> list[Pair]:
        """The pairs with games between rated agents."""
        return [pair for pair in self.pairs if pair.games and pair.first in self.rated]

    def _virtual(self, pair: Pair) -> float:
        """The virtual games of a pair: each agent has one, shared among its opponents by games."""
        return sum(pair.games / self._record(name)[0] for name in (pair.first, pair.second)) / 2

    def _record(self, name: str) -> tuple[int, float]:
        """An agent's games, and its share of the points."""
        games, points = 0, 0.0
        for pair in self.pairs:
            if name in (pair.first, pair.second):
                games += pair.games
                points += pair.points if name == pair.first else pair.games - pair.points
        return games, points / games if games else 0.0


def _play(game: Game, actions: Sequence[int]) -> Any:
    state = game.new_state()
    for action in actions:
        game.apply(state, action)
    return state
