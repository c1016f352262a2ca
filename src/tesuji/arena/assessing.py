"""A cheap look at how strong a network has become, for use while it trains.

The rating is in Elo above random play, from games against fixed anchors: random moves and plain
UCT. The anchors' own ratings come from games among themselves, played once. Where solved positions
ship with the game, the accuracy on a fixed sample of them is measured as well.
"""

import dataclasses
import functools
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tesuji.arena.accuracy import evaluate_positions, sample_positions
from tesuji.arena.agents import SearchAgent, child_seed, parse_agent
from tesuji.arena.match import MatchPlan, play_match, seatings
from tesuji.arena.openings import Opening, draw_openings
from tesuji.arena.ratings import Pairing, fit_ratings
from tesuji.games.contract import Game
from tesuji.opponents.positions import PositionSet, read_positions, shipped_positions
from tesuji.opponents.protocol import Opponent
from tesuji.search.config import SearchConfig

ANCHORS = ("random", "uct:50", "uct:500")
_ANCHOR_GAMES = 40  # of each pairing, once
_GAMES = 16  # against each anchor
_POSITIONS = 2000  # for the network alone
_POSITIONS_SEARCHED = 256
_SIMULATIONS = 32


class Assessor:
    """Measures strength now and then, always by the same openings and positions.

    Args:
        game: the game.
        seed: of the openings and of the anchors' play.
        anchors: agents that stay as they are; the first one stands at 0.
    """

    def __init__(self, game: Game, seed: int = 0, anchors: Sequence[str] = ANCHORS) -> None:  # noqa: D107
        self.game, self.seed = game, seed
        self.anchors: list[Opponent] = [parse_agent(anchor, game) for anchor in anchors]
        self._pairings: list[Pairing] | None = None  # of the anchors among themselves

    def assess(
        self,
        evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]],
        search_config: SearchConfig,
        seconds: float = 5.0,
    ) -> dict[str, float]:
        """What there is to say after at most about so many seconds.

        The anchors' games among themselves, at the first call, may take as long again.

        Args:
            evaluator: the network.
            search_config: how it plays in the games.
            seconds: games that are not finished by then do not count; neither do their openings.

        Returns:
            `rating` and `rating_error` (half of its 95 % interval) where games were finished;
            `accuracy` and `accuracy_search`, 1 − error rate, where positions ship with the game.
        """
        if self._pairings is None:
            self._pairings = self._play_anchors(seconds)
        deadline = time.monotonic() + seconds
        found = self._accuracies(evaluator, search_config)
        agent = SearchAgent("network", self.game, evaluator, search_config)
        pairings = list(self._pairings)
        me = len(self.anchors)
        for number, anchor in reversed(list(enumerate(self.anchors))):
            share = (deadline - time.monotonic()) / (number + 1)
            plan = MatchPlan(seed=child_seed(self.seed, number), openings=self._openings)
            pairings += self._play((me, agent), (number, anchor), plan, share)
        if any(pairing.first == me for pairing in pairings):
            found |= self._rate(pairings)
        return found

    def _rate(self, pairings: Sequence[Pairing]) -> dict[str, float]:
        """The network's rating; anchors that nobody has met stay out of it."""
        met = sorted({player for p in pairings for player in (p.first, p.second)})
        place = {player: index for index, player in enumerate(met)}
        moved = [
            dataclasses.replace(p, first=place[p.first], second=place[p.second]) for p in pairings
        ]
        try:
            ratings = fit_ratings([str(player) for player in met], moved)
        except ValueError:  # too few games to connect the network with random play
            return {}
        return {"rating": float(ratings.elo[-1]), "rating_error": float(ratings.errors[-1])}

    def _play_anchors(self, seconds: float) -> list[Pairing]:
        couples = list(itertools.combinations(enumerate(self.anchors), 2))
        deadline, played = time.monotonic() + seconds, list[Pairing]()
        for left, (first, second) in zip(range(len(couples), 0, -1), couples, strict=True):
            share = (deadline - time.monotonic()) / left
            plan = MatchPlan(_ANCHOR_GAMES, seed=child_seed(self.seed, first[0], second[0]))
            played += self._play(first, second, plan, share)
        return played

    def _play(
        self,
        first: tuple[int, Opponent],
        second: tuple[int, Opponent],
        plan: MatchPlan,
        seconds: float,
    ) -> list[Pairing]:
        """The result of a match that ends with the clock; nothing where no opening was finished."""
        deadline = time.monotonic() + seconds
        result = play_match(
            self.game,
            (first[1], second[1]),
            plan,
            is_enough=lambda: time.monotonic() > deadline,
        )
        tally = result.tally
        if not tally.games:
            return []
        return [Pairing(first[0], second[0], tally.wins, tally.draws, tally.losses)]

    @functools.cached_property
    def _openings(self) -> tuple[Opening, ...]:
        per_opening = len(seatings(self.game.num_players))
        return tuple(draw_openings(self.game, -(-_GAMES // per_opening), self.seed))

    @functools.cached_property
    def _positions(self) -> PositionSet | None:
        path = shipped_positions(self.game)
        if path is None or not path.is_file():
            return None
        return sample_positions(read_positions(self.game, path), _POSITIONS, self.seed)

    def _accuracies(
        self,
        evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]],
        search_config: SearchConfig,
    ) -> dict[str, float]:
        if self._positions is None:
            return {}
        few = sample_positions(self._positions, _POSITIONS_SEARCHED, self.seed)
        config = dataclasses.replace(search_config, simulations=_SIMULATIONS)
        alone = evaluate_positions(self.game, evaluator, self._positions)
        searched = evaluate_positions(self.game, evaluator, few, config, self.seed)
        return {
            "accuracy": 1.0 - (alone.total.error_rate.mean or 0.0),
            "accuracy_search": 1.0 - (searched.total.error_rate.mean or 0.0),
        }
