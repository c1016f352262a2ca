"""What a run's metrics are asked for, and what is said about them."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from plainzero.games.contract import Game
from plainzero.training.settings import RunConfig

Severity = Literal["problem", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
"""Worst first. A problem keeps the run from learning, a warning slows it down, a note may be
known and meant."""

LEAST_GENERATIONS = 6
"""Two for each third of a run; a single generation is too noisy to compare with."""

LEAST_STEPS = 100
"""Twice the warm-up of the learning rate by default: before, the network is still the first one."""


class Finding(NamedTuple):
    """One thing about a run that somebody should know."""

    kind: str
    severity: Severity
    seen: str  # a sentence with the numbers
    advice: str  # what to set or do

    def __str__(self) -> str:
        """The finding in one line."""
        return f"{self.kind}: {self.seen} {self.advice}"


class History:
    """A run as its metrics tell it, with what it was to do."""

    def __init__(self, lines: Sequence[dict[str, Any]], config: RunConfig, game: Game) -> None:
        """Takes the generations in order, at least one."""
        self.lines, self.config, self.game = lines, config, game

    @property
    def generations(self) -> int:
        """How many there are."""
        return len(self.lines)

    @property
    def steps(self) -> int:
        """Gradient steps so far."""
        return int(self.lines[-1].get("step", 0))

    @property
    def is_early(self) -> bool:
        """Whether it is too soon to say that something was not learned."""
        return self.generations < LEAST_GENERATIONS or self.steps < LEAST_STEPS

    @property
    def budget(self) -> str:
        """The option that limits a search."""
        return "search.visits" if self.config.search.visits else "search.simulations"

    def values(self, name: str) -> list[float]:
        """The finite numbers of that name, in order; generations without one are left out."""
        numbers = [line.get(name) for line in self.lines]
        return [float(n) for n in numbers if isinstance(n, int | float) and math.isfinite(n)]

    def first(self, name: str) -> float | None:
        """The first number."""
        return next(iter(self.values(name)), None)

    def last(self, name: str) -> float | None:
        """The latest number."""
        return next(reversed(self.values(name)), None)

    def recent(self, name: str) -> float | None:
        """The mean over the last third."""
        return mean(last_third(self.values(name)))


def last_third(numbers: Sequence[float]) -> Sequence[float]:
    """The last third of the numbers, rounded up."""
    return numbers[len(numbers) - math.ceil(len(numbers) / 3) :]


def middle_third(numbers: Sequence[float]) -> Sequence[float]:
    """As many numbers as in the last third, right before it; fewer where there are no more."""
    size = math.ceil(len(numbers) / 3)
    return numbers[max(0, len(numbers) - 2 * size) : len(numbers) - size]


def mean(numbers: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(numbers) / len(numbers) if numbers else None
