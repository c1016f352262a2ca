"""An assessor that calls a function, while the run waits."""

from collections.abc import Callable

from plainzero.networks.network_evaluators import NetworkEvaluator
from plainzero.search.config import SearchConfig
from plainzero.training.saved_run import STRENGTH_SIMULATIONS, SavedRun

MeasureStrength = Callable[[NetworkEvaluator, SearchConfig], dict[str, float]]
"""The strength of a network that searches in this way, as metrics."""


class FunctionAssessor:
    """Measures the weights of a run with a function; see `Assessor`."""

    is_busy = False

    def __init__(self, measure: MeasureStrength, run: SavedRun) -> None:
        """Measures nothing yet."""
        self._measure, self._run = measure, run
        self._found: dict[str, float] = {}

    def ask(self, step: int) -> None:
        """Measures the weights of a step."""
        search = self._run.search_config(STRENGTH_SIMULATIONS)
        self._found = self._measure(self._run.evaluator(step), search)

    def found(self, waits: bool = False) -> dict[str, float]:
        """What the latest `ask` since the last call found."""
        found, self._found = self._found, {}
        return found
