"""A yardstick's interface: it measures an agent by one figure, of which 1 is the best possible."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.elo import wilson_interval
from plainzero.arena.openings import Opening, play_randomly
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent

Interval = tuple[float, float]
"""The ends of a 95 % interval."""


@dataclass(frozen=True)
class Measurement:
    """What a yardstick says about an agent."""

    figure: float
    interval: Interval | None  # 95 %; None if the sample allows none
    sample: str  # what was measured, as in "40 games from 20 openings"
    more: dict[str, float] = field(default_factory=dict)  # further numbers by name


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    games: int = 40  # of a match; other yardsticks multiply it, see docs/strength.md
    seed: int = 0
    progress: Callable[[int, int], None] | None = None  # called with what is done and to do


class Yardstick(Protocol):
    """A measurement that can be repeated for any agent of a game."""

    @property
    def name(self) -> str:
        """What the figure means, in a few words."""
        ...

    @property
    def target(self) -> float | None:
        """The figure that a good network reaches; None if there is no target."""
        ...

    def check(self, game: Game) -> None:
        """Refuses a game that it does not fit, before anything is measured.

        Raises:
            ValueError: if so.
        """
        ...

    def measure(self, game: Game, agent: Agent, effort: Effort) -> Measurement:
        """The agent's figure.

        Raises:
            ValueError: for a game or an agent that it does not fit.
        """
        ...


def beginnings(game: Game, count: int, seed: int) -> list[Opening]:
    """The start of the game, with chance's first outcomes, `count` times."""
    generator = np.random.default_rng(seed)
    found: list[Opening] = []
    while len(found) < count:
        opening = play_randomly(game, 0, generator)
        if opening is not None:
            found.append(opening)
    return found


def share_of(hits: Sequence[bool] | NDArray[np.bool_], what: str) -> Measurement:
    """The share of hits among positions or games, with Wilson's interval."""
    share, count = float(np.mean(hits)), len(hits)
    return Measurement(share, wilson_interval(share, count), f"{count:,} {what}")


def spread_of_mean(numbers: Sequence[float], seed: int = 0) -> Interval | None:
    """The 95 % bootstrap interval of a mean; None for fewer than two numbers."""
    if len(numbers) < 2:
        return None
    drawn = np.random.default_rng(seed).choice(np.asarray(numbers), (1000, len(numbers)))
    low, high = np.quantile(drawn.mean(axis=1), (0.025, 0.975))
    return float(low), float(high)
