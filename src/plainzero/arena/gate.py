"""The gate: new weights replace the old ones only if they prove stronger.

A fixed threshold of 55 % of 40 games accepts an equal challenger one time in three. Here the
sequential test of `sprt.py` decides when there are enough games. Its unit is an opening played from
all seats, so the first move helps neither side, and no opening is used twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.match import MatchSettings, play_match, seatings
from plainzero.arena.openings import QUICK, draw_openings
from plainzero.arena.sprt import Sprt, Verdict
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.search_agent import NetworkAgent, SearchAgent, child_seed
from plainzero.search.config import SearchConfig

NetworkEvaluator = Callable[[NDArray[np.float32]], tuple[Any, Any]]


@dataclass(frozen=True)
class GateConfig:
    """When the gate decides."""

    weaker: float = 0.5
    """Mean score of a challenger that is not better."""
    stronger: float = 0.55
    """Mean score of a challenger that is better."""
    false_accept: float = 0.05
    """α of the test."""
    false_reject: float = 0.05
    """β of the test."""
    games: int = 400
    """Maximum number of games; then the likelier hypothesis wins."""
    games_at_once: int = 64
    """Games between evaluations of the test."""
    plies: int | None = None
    """Random plies of an opening; None: the fewest that give enough openings."""


@dataclass(frozen=True)
class GateResult:
    """Whether the challenger passed, and the evidence."""

    passed: bool
    games: int
    score: float
    llr: float
    verdict: Verdict  # open: the maximum number of games was reached

    def __bool__(self) -> bool:
        """Whether the challenger passed."""
        return self.passed


class Gate(Protocol):
    """Plays new weights against old ones."""

    def __call__(
        self,
        new: NetworkEvaluator,
        old: NetworkEvaluator,
        search_config: SearchConfig | None,
        seed: int = 0,
    ) -> GateResult:
        """Whether `new` is stronger than `old`; `search_config` None: networks alone."""
        ...


def make_gate(game: Game, limits: GateConfig = GateConfig()) -> Gate:  # noqa: B008 (frozen)
    """A gate for that game; another seed gives other openings."""
    test = Sprt(limits.weaker, limits.stronger, limits.false_accept, limits.false_reject)

    def gate(
        new: NetworkEvaluator,
        old: NetworkEvaluator,
        search_config: SearchConfig | None,
        seed: int = 0,
    ) -> GateResult:
        agents = (
            _agent("new", game, new, search_config),
            _agent("old", game, old, search_config),
        )
        return _decide(game, agents, limits, test, seed)

    return gate


def _agent(
    name: str, game: Game, evaluator: NetworkEvaluator, config: SearchConfig | None
) -> Agent:
    if config is None:
        return NetworkAgent(name, game, evaluator)
    return SearchAgent(name, game, evaluator, config)


def _decide(
    game: Game, agents: tuple[Agent, Agent], limits: GateConfig, test: Sprt, seed: int
) -> GateResult:
    """Plays batches of openings until the test ends or the maximum is reached."""
    per_opening = len(seatings(game.num_players))
    needed = max(1, limits.games // per_opening)
    openings = draw_openings(game, needed, seed, limits.plies, QUICK)
    at_once = max(1, limits.games_at_once // per_opening)
    units: list[float] = []
    games, ratio, verdict = 0, 0.0, test.verdict(0.0)
    for first in range(0, len(openings), at_once):
        settings = MatchSettings(
            seed=child_seed(seed, first), openings=tuple(openings[first:][:at_once])
        )
        result = play_match(game, agents, settings)
        units += [float(np.mean(scores)) for scores in result.scores_by_opening]
        games += len(result.records)
        ratio = test.log_likelihood_ratio(units)
        verdict = test.verdict(ratio)
        if verdict != "open":
            break
    passed = verdict == "stronger" or (verdict == "open" and ratio > 0.0)
    return GateResult(passed, games, float(np.mean(units)), ratio, verdict)
