"""A quick measurement of a network's strength, for use during training.

The rating is in Elo above random play. The network plays a few dozen games against anchors: random
moves, and plain UCT with increasing budgets. After each round, the anchor nearest in rating is
next. The difference between neighbouring anchors comes from games between them, played once when
first needed. If the game has bundled solved positions, accuracy on a fixed sample of them is
measured too.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.accuracy import evaluate_positions, sample_positions
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match, seatings
from plainzero.arena.openings import QUICK, Opening, draw_openings
from plainzero.arena.ratings import Pairing, fit_ratings, rate_against
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.search_agent import SearchAgent, child_seed
from plainzero.opponents.solved_positions import PositionSet, bundled_positions, read_positions
from plainzero.search.config import SearchConfig

ANCHORS = ("random", "uct:5", "uct:20", "uct:80", "uct:320", "uct:1280")
_ANCHOR_GAMES = 60  # between neighbouring anchors, once
_GAMES = 16  # per round
_ROUNDS = 4
_POSITIONS = 2000  # for the network alone
_POSITIONS_SEARCHED = 256
_SIMULATIONS = 32

Network = Callable[[NDArray[np.float32]], tuple[Any, Any]]


class StrengthMeter:
    """Measures strength repeatedly with the same openings and positions.

    Args:
        game: the game.
        seed: of the openings and the anchors' play.
        anchors: fixed agents, weakest first; the first one is rated 0.
    """

    def __init__(self, game: Game, seed: int = 0, anchors: Sequence[str] = ANCHORS) -> None:  # noqa: D107
        self.game, self.seed = game, seed
        self.anchors: list[Agent] = [parse_agent(anchor, game) for anchor in anchors]
        self._elo = [0.0]  # of the anchors needed so far
        self._nearest = 1  # anchor, at the last measurement

    def measure(
        self, evaluator: Network, search_config: SearchConfig, seconds: float = 5.0
    ) -> dict[str, float]:
        """The network's rating and accuracy, measured in about `seconds` seconds.

        A round of games starts only if it is likely to end in time, and is cut short after twice
        that time. Rating new anchors, and compiling at the first call, take additional time.

        Args:
            evaluator: the network.
            search_config: its search in the games.
            seconds: for games and positions together.

        Returns:
            `rating` and `rating_error` (half its 95 % interval, with the anchors taken as exact)
            if any games were finished; `accuracy` and `accuracy_search`, 1 − error rate, if the
            game has bundled positions.
        """
        start = time.monotonic()
        found = self._accuracies(evaluator, search_config)
        agent = SearchAgent("network", self.game, evaluator, search_config)
        pairings: list[Pairing] = []
        for number in range(_ROUNDS):
            begun = time.monotonic()
            anchor = self._reach(self._nearest, seconds)
            start += time.monotonic() - begun
            pairings += self._play(agent, anchor, self._openings[number], start + 2 * seconds)
            if pairings:
                found["rating"], found["rating_error"] = rate_against(self._elo, pairings)
                self._nearest = self._next_anchor(found["rating"])
            now = time.monotonic()
            if not pairings or now - start + (now - begun) > seconds:
                break
        return found

    def _reach(self, anchor: int, seconds: float) -> int:
        """That anchor after rating it, or the highest one that could be rated in time."""
        while len(self._elo) <= anchor:
            upper = len(self._elo)
            deadline = time.monotonic() + seconds
            result = play_match(
                self.game,
                (self.anchors[upper], self.anchors[upper - 1]),
                MatchSettings(_ANCHOR_GAMES, seed=child_seed(self.seed, upper), balance=QUICK),
                stop=lambda deadline=deadline: time.monotonic() > deadline,  # type: ignore[misc]
            )
            tally = result.tally
            if not tally.games:
                return upper - 1
            pairing = Pairing(1, 0, tally.wins, tally.draws, tally.losses)
            gap = fit_ratings(("lower", "upper"), [pairing]).elo[1]
            self._elo.append(self._elo[-1] + float(gap))
        return anchor

    def _next_anchor(self, rating: float) -> int:
        """The rated anchor nearest to the rating, or the one above all rated ones."""
        if rating > self._elo[-1] and len(self._elo) < len(self.anchors):
            return len(self._elo)
        return int(np.argmin([abs(elo - rating) for elo in self._elo]))

    def _play(
        self, agent: Agent, anchor: int, openings: tuple[Opening, ...], deadline: float
    ) -> list[Pairing]:
        """The result of a round; empty if no opening was finished by the deadline."""
        settings = MatchSettings(seed=child_seed(self.seed, anchor), openings=openings)
        result = play_match(
            self.game,
            (agent, self.anchors[anchor]),
            settings,
            stop=lambda: time.monotonic() > deadline,
        )
        tally = result.tally
        if not tally.games:
            return []
        return [Pairing(-1, anchor, tally.wins, tally.draws, tally.losses)]

    @functools.cached_property
    def _openings(self) -> list[tuple[Opening, ...]]:
        """The openings of each round, all different if the game has enough."""
        needed = -(-_GAMES // len(seatings(self.game.num_players)))
        drawn = draw_openings(self.game, needed * _ROUNDS, self.seed, balance=QUICK)
        chosen = [drawn[i % len(drawn)] for i in range(needed * _ROUNDS)]
        return [tuple(chosen[i * needed :][:needed]) for i in range(_ROUNDS)]

    @functools.cached_property
    def _positions(self) -> PositionSet | None:
        path = bundled_positions(self.game)
        if path is None or not path.is_file():
            return None
        return sample_positions(read_positions(self.game, path), _POSITIONS, self.seed)

    def _accuracies(
        self,
        evaluator: Network,
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
