"""Wald's sequential probability ratio test: play until one of two hypotheses is accepted.

The hypotheses are mean scores: `weaker` (the new agent is not better) and `stronger`. Wins and
losses alone give Wald's original test, w ln(p₁/p₀) + l ln((1 − p₁)/(1 − p₀)). With draws, or with
the mean of a pair of games as the unit, a mean leaves the rest of the distribution open; each
hypothesis then takes the distribution with its mean that makes the results likeliest (the
generalised test, which is the same without draws).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Verdict = Literal["stronger", "weaker", "open"]

_HALVINGS = 200


@dataclass(frozen=True)
class Sprt:
    """A test of mean score `weaker` against mean score `stronger`."""

    weaker: float = 0.5
    stronger: float = 0.55
    false_accept: float = 0.05  # α: how often an equal agent is accepted as stronger
    false_reject: float = 0.05  # β: how often a stronger agent is rejected

    def __post_init__(self) -> None:
        """Refuses scores outside 0 … 1 or in the wrong order."""
        if not 0.0 < self.weaker < self.stronger < 1.0:
            raise ValueError(
                f"weaker is {self.weaker} and stronger is {self.stronger}; "
                "they must lie between 0 and 1, weaker below stronger"
            )
        for rate in (self.false_accept, self.false_reject):
            if not 0.0 < rate < 0.5:
                raise ValueError(f"an error rate is {rate}; it must lie between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """Log-likelihood ratios at which the test ends: ln(β / (1 − α)), ln((1 − β) / α)."""
        low = math.log(self.false_reject / (1.0 - self.false_accept))
        return low, math.log((1.0 - self.false_reject) / self.false_accept)

    def log_likelihood_ratio(self, scores: Sequence[float]) -> float:
        """The log-likelihood ratio of `stronger` to `weaker` for scores, each in 0 … 1."""
        if len(scores) == 0:
            return 0.0
        support, counts = np.unique([0.0, 1.0, *scores], return_counts=True)
        counts[[0, -1]] -= 1  # in the support, but not observed
        strong = _likeliest(support, counts, self.stronger)
        weak = _likeliest(support, counts, self.weaker)
        seen = counts > 0
        return float(counts[seen] @ (np.log(strong[seen]) - np.log(weak[seen])))

    def verdict(self, ratio: float) -> Verdict:
        """The decision for a log-likelihood ratio."""
        low, high = self.bounds
        return "stronger" if ratio >= high else "weaker" if ratio <= low else "open"


def _likeliest(
    support: NDArray[np.float64], counts: NDArray[np.int64], mean: float
) -> NDArray[np.float64]:
    """The likeliest distribution with that mean on `support`, which includes 0 and 1.

    It is share / (1 + θ (x − mean)), with θ such that the mean is right. If even the last θ with
    all terms positive does not reach the mean, the missing mass goes to the end of the support that
    was never observed.
    """
    shares, deviations = counts / counts.sum(), support - mean
    seen = counts > 0
    low, high = -1.0 / deviations[-1], -1.0 / deviations[0]
    for _ in range(_HALVINGS):
        theta = (low + high) / 2.0
        terms = 1.0 + theta * deviations[seen]
        if float((shares[seen] * deviations[seen] / terms).sum()) > 0.0:
            low = theta
        else:
            high = theta
    likeliest = np.zeros(len(support))
    likeliest[seen] = shares[seen] / (1.0 + (low + high) / 2.0 * deviations[seen])
    return likeliest
