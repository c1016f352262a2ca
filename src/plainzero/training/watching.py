"""Who watches a run: those who are told how it goes, and those who judge its weights."""

from collections.abc import Callable
from typing import Any, Protocol

from plainzero.networks.network_evaluators import NetworkEvaluator
from plainzero.search.config import SearchConfig

Assess = Callable[[NetworkEvaluator, SearchConfig], dict[str, float]]
"""Measures the strength of an evaluator; what it returns goes into the metrics."""


class AssessApart(Protocol):
    """Measures strength elsewhere, while the run goes on."""

    @property
    def is_busy(self) -> bool:
        """Whether something that was asked is not answered yet."""

    def ask(self, step: int) -> None:
        """Has the weights of a step measured, which are in the run's folder."""

    def found(self, waits: bool = False) -> dict[str, float]:
        """The latest answer since the last time; `waits` for what was asked, within bounds."""


Gate = Callable[[NetworkEvaluator, NetworkEvaluator, SearchConfig, int], bool]
"""Whether new weights (the first) may replace those that play (the second); the last is a seed."""


class Listener(Protocol):
    """Who is told how a run goes."""

    def on_selfplay(self, generation: int, positions: int, wanted: int) -> None:
        """Self-play has made so many of the positions wanted."""

    def on_learning(self, generation: int, steps: int) -> None:
        """The network begins to learn from them."""

    def on_generation(self, metrics: dict[str, Any], progress: float) -> None:
        """A generation is whole and saved."""
