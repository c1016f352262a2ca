"""The findings about a run, from its metrics and its settings."""

from collections.abc import Sequence
from typing import Any

from plainzero.games.contract import Game
from plainzero.training.doctor.history import (
    LEAST_GENERATIONS,
    LEAST_STEPS,
    SEVERITIES,
    Finding,
    History,
)
from plainzero.training.doctor.learning import check_learning
from plainzero.training.doctor.selfplay import check_selfplay
from plainzero.training.settings import RunConfig

_FIGURES = {
    "total_games": ("games", ",.0f"),
    "loss": ("loss", ".3f"),
    "policy_kl": ("policy KL", ".3f"),
    "search_agreement": ("agreement with the search", ".0%"),
    "value_explained": ("results explained", ".0%"),
    "draw_rate": ("draws", ".0%"),
    "game_length": ("moves per game", ".1f"),
    "positions_per_second": ("positions/s", ",.0f"),
    "evaluator_share": ("network busy", ".0%"),
    "rating": ("rating", ",.0f"),
    "accuracy": ("accuracy", ".1%"),
    "accuracy_search": ("with search", ".1%"),
}


def diagnose(metrics: Sequence[dict[str, Any]], config: RunConfig, game: Game) -> list[Finding]:
    """The problems of a run, worst first; empty if there are none.

    Args:
        metrics: the run's generations, from `read_metrics`.
        config: its settings, resolved.
        game: its game.
    """
    if not metrics:
        return [_too_early("No generation is complete yet.")]
    history = History(metrics, config, game)
    findings = [*check_learning(history), *check_selfplay(history)]
    if history.is_early:
        findings += [_early(history)]
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def main_figures(metrics: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """The first and the latest value of the most important metrics, by title."""
    figures = {}
    for name, (title, form) in _FIGURES.items():
        numbers = [line[name] for line in metrics if isinstance(line.get(name), int | float)]
        if numbers:
            figures[title] = (format(numbers[0], form), format(numbers[-1], form))
    return figures


def _early(history: History) -> Finding:
    """Says that it is too early to judge, or that the settings give too few steps."""
    seen = f"There are {history.generations} generations and {history.steps} steps so far."
    training = history.config.training
    per_generation = history.steps / history.generations
    if history.generations < LEAST_GENERATIONS or per_generation * 10 > LEAST_STEPS:
        return _too_early(seen)
    smaller = max(32, training.batch_size // 4)
    return Finding(
        "too few steps",
        "warning",
        f"{seen[:-1]}, {per_generation:.0f} per generation.",
        f"Set training.batch_size={smaller} (it is {training.batch_size}), or more "
        "training.generation_positions.",
    )


def _too_early(seen: str) -> Finding:
    return Finding(
        "too early",
        "note",
        seen,
        f"Learning can be judged after {LEAST_GENERATIONS} generations and {LEAST_STEPS} steps.",
    )
