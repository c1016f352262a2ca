"""The metrics of a run as the checks read them, and the findings that they return."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from plainzero.games.contract import Game
from plainzero.training.settings import RunConfig

Severity = Literal["problem", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("problem", "warning", "note")
"""Worst first. A problem keeps the run from learning, a warning slows it down, a note may be
intended."""

LEAST_GENERATIONS = 6
"""Two for each third of a run; a single generation is too noisy."""

LEAST_STEPS = 100
"""Twice the default warm-up of the learning rate: before, the network has hardly changed."""


class Finding(NamedTuple):
    """Something about a run that its owner should know."""

    kind: str
    severity: Severity
    seen: str  # a sentence with the numbers
    advice: str  # what to set or do

    def __str__(self) -> str:
        """The finding in one line."""
        return f"{self.kind}: {self.seen} {self.advice}"


class History:
    """The metrics of a run, with its settings and its game."""

    def __init__(self, lines: Sequence[dict[str, Any]], config: RunConfig, game: Game) -> None:
        """Takes at least one generation, in order."""
        self.lines, self.config, self.game = lines, config, game

    @property
    def generations(self) -> int:
        """The number of generations."""
        return len(self.lines)

    @property
    def steps(self) -> int:
        """Gradient steps so far."""
        return int(self.lines[-1].get("step", 0))

    @property
    def is_early(self) -> bool:
        """Whether it is too early to judge learning."""
        return self.generations < LEAST_GENERATIONS or self.steps < LEAST_STEPS

    @property
    def budget(self) -> str:
        """The name of the option that limits a search."""
        return "search.visits" if self.config.search.visits else "search.simulations"

    def values(self, name: str) -> list[float]:
        """The finite values of a metric, in order; generations without one are skipped."""
        numbers = [line.get(name) for line in self.lines]
        return [float(n) for n in numbers if isinstance(n, int | float) and math.isfinite(n)]

    def first(self, name: str) -> float | None:
        """The first value of a metric."""
        return next(iter(self.values(name)), None)

    def last(self, name: str) -> float | None:
        """The latest value of a metric."""
        return next(reversed(self.values(name)), None)

    def recent(self, name: str) -> float | None:
        """The mean of a metric over the last third of the run."""
        return mean(last_third(self.values(name)))


def last_third(numbers: Sequence[float]) -> Sequence[float]:
    """The last third of the numbers, rounded up."""
    return numbers[len(numbers) - math.ceil(len(numbers) / 3) :]


def middle_third(numbers: Sequence[float]) -> Sequence[float]:
    """The numbers before the last third, as many as it has, or fewer if there are no more."""
    size = math.ceil(len(numbers) / 3)
    return numbers[max(0, len(numbers) - 2 * size) : len(numbers) - size]


def mean(numbers: Sequence[float]) -> float | None:
    """The mean; None if there are no numbers."""
    return sum(numbers) / len(numbers) if numbers else None
