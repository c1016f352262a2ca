"""Elo differences from scores, with intervals that are also valid at 0 % and 100 %.

A score is wins plus half the draws, as a share of the games. The games of one opening are not
independent, because the same two agents play them with seats exchanged, so the sample consists of
openings, not games. The interval is Wilson's, which stays within 0 … 1, for the number of
*effective* games that would give the variance seen between openings. One virtual opening that
deviates by half a point keeps that variance above zero; without it, ten draws in a row would give
certainty. At 100 % the upper end is infinite. One opening is no sample, so its interval is 0 … 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

NORMAL_95 = 1.959963984540054  # two-sided 95 % of the normal distribution


@dataclass(frozen=True)
class EloEstimate:
    """A score and its Elo difference, each with a 95 % interval."""

    score: float
    score_low: float
    score_high: float

    @property
    def elo(self) -> float:
        """The difference; ±infinity if every game was won or lost."""
        return elo_difference(self.score)

    @property
    def low(self) -> float:
        """The lower end of the difference."""
        return elo_difference(self.score_low)

    @property
    def high(self) -> float:
        """The upper end of the difference."""
        return elo_difference(self.score_high)

    @property
    def has_interval(self) -> bool:
        """Whether the games say anything about other games."""
        return (self.score_low, self.score_high) != (0.0, 1.0)

    @property
    def score_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the score; None if the games give none."""
        return (self.score_low, self.score_high) if self.has_interval else None

    def as_dict(self) -> dict[str, Any]:
        """As JSON-compatible values; None for infinite ones and for missing intervals."""
        interval = self.score_interval
        return {
            "score": self.score,
            "score_interval": list(interval) if interval else None,
            "elo": _finite(self.elo),
            "elo_interval": [_finite(self.low), _finite(self.high)] if interval else None,
        }

    def __str__(self) -> str:
        """The difference as text: `+35 (+10 to +61)`, `above +212`, `unknown`."""
        if not self.has_interval:
            return "unknown"
        if math.isinf(self.elo):
            return f"above {self.low:+.0f}" if self.elo > 0 else f"below {self.high:+.0f}"
        return f"{self.elo:+.0f} ({self.low:+.0f} to {self.high:+.0f})"


def elo_difference(score: float) -> float:
    """400 log₁₀(s / (1 − s)): .55 is +34.9; 0 and 1 are −∞ and +∞."""
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"the score is {score}; it must be from 0 to 1")
    if score in (0.0, 1.0):
        return math.inf if score else -math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def expected_score(difference: float) -> float:
    """1 / (1 + 10^(−d / 400)), the score that an Elo difference predicts."""
    return 1.0 / (1.0 + math.pow(10.0, -difference / 400.0))


def estimate_elo(samples: Sequence[Sequence[float]]) -> EloEstimate:
    """The score over all games and its 95 % interval.

    Args:
        samples: for each opening the scores (1, ½, 0) of its games.
    """
    groups = [np.asarray(scores, float) for scores in samples if len(scores)]
    if not groups:
        return EloEstimate(0.5, 0.0, 1.0)
    games = sum(len(group) for group in groups)
    total = float(sum(group.sum() for group in groups))
    score = total / games
    if len(groups) == 1:
        return EloEstimate(score, 0.0, 1.0)
    spread = sum(float((group - score).sum()) ** 2 for group in groups)
    virtual = (0.5 * games / len(groups)) ** 2
    variance = (spread + virtual) / games**2  # of the mean, openings as units
    shrunk = (total + 1.0) / (games + 2.0)
    effective_games = shrunk * (1.0 - shrunk) / variance
    return EloEstimate(score, *wilson_interval(score, effective_games))


def wilson_interval(share: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share in `count` trials."""
    z = NORMAL_95**2 / count
    middle = (share + z / 2.0) / (1.0 + z)
    half = math.sqrt(share * (1.0 - share) * z + z * z / 4.0) / (1.0 + z)
    low = 0.0 if share == 0.0 else max(0.0, middle - half)
    high = 1.0 if share == 1.0 else min(1.0, middle + half)
    return low, high


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
