"""The effect of one search option: each value plays the default and solves positions."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plainzero.arena.accuracy import Accuracy, evaluate_positions
from plainzero.arena.match import MatchResult, MatchSettings, play_match
from plainzero.opponents.search_agent import SearchAgent
from plainzero.opponents.solved_positions import PositionSet
from plainzero.search.config import parse_option

SweepProgress = Callable[[str, int, int], None]
"""Called with the current task, and its units done and to do."""


@dataclass(frozen=True)
class SweepRow:
    """The results of one value."""

    value: Any
    match: MatchResult | None  # against the default; None for the default itself
    accuracy: Accuracy | None  # None without positions

    def as_dict(self) -> dict[str, Any]:
        """As JSON-compatible values."""
        return {
            "value": self.value,
            "is_default": self.match is None,
            "match": None if self.match is None else self.match.as_dict(),
            "accuracy": None if self.accuracy is None else self.accuracy.as_dict(),
        }


def sweep(
    agent: SearchAgent,
    parameter: str,
    values: Sequence[Any],
    settings: MatchSettings,
    positions: PositionSet | None = None,
    progress: SweepProgress | None = None,
) -> list[SweepRow]:
    """Plays each value against the unchanged agent, always from the same openings.

    Args:
        agent: the agent with the default value.
        parameter: an option of `SearchConfig`.
        values: its values.
        settings: of each match.
        positions: solved positions, to measure each value's error rate.
        progress: called regularly; StopIteration ends the sweep with the rows so far.

    Raises:
        ValueError: for an invalid value, before anything is played.
    """
    agents = [with_option(agent, parameter, value) for value in values]
    settings = dataclasses.replace(settings, openings=tuple(settings.choose_openings(agent.game)))
    rows: list[SweepRow] = []
    for value, changed in zip(values, agents, strict=True):
        row = _measure(agent, changed, value, settings, positions, progress)
        if row is None:
            break
        rows.append(row)
    return rows


def with_option(agent: SearchAgent, parameter: str, value: Any) -> SearchAgent:
    """The agent with another value of an option.

    Raises:
        ValueError: for an invalid value.
    """
    config = dataclasses.replace(agent.config, **{parameter: value})
    changed = SearchAgent(f"{parameter}={value}", agent.game, agent.evaluator, config)
    changed.searcher()
    return changed


def parse_values(parameter: str, text: str) -> list[Any]:
    """The values of an option in `0.5,1,2`.

    Raises:
        ValueError: for an unknown option, a value of the wrong type, or no values.
    """
    values = [parse_option(parameter, part.strip()) for part in text.split(",") if part.strip()]
    if not values:
        raise ValueError(f"no values in {text!r}; write e.g. 0.5,1,2")
    return list(dict.fromkeys(values))


def _measure(
    agent: SearchAgent,
    changed: SearchAgent,
    value: Any,
    settings: MatchSettings,
    positions: PositionSet | None,
    progress: SweepProgress | None,
) -> SweepRow | None:
    """One row; None if progress stopped it early."""
    was_stopped = False

    def report(what: str, done: int, total: int) -> None:
        nonlocal was_stopped
        if progress is not None:
            try:
                progress(f"{changed.name}: {what}", done, total)
            except StopIteration:
                was_stopped = True

    match = accuracy = None
    if changed.config != agent.config:
        match = play_match(
            agent.game,
            (changed, agent),
            settings,
            progress=lambda done, total: report("games", done, total),
            stop=lambda: was_stopped,
        )
    if positions is not None and not was_stopped:
        accuracy = _solve(changed, positions, settings.seed, report, lambda: was_stopped)
    return None if was_stopped else SweepRow(value, match, accuracy)


def _solve(
    agent: SearchAgent,
    positions: PositionSet,
    seed: int,
    report: SweepProgress,
    stop: Callable[[], bool],
) -> Accuracy:
    def after_batch(done: int, total: int) -> None:
        report("positions", done, total)
        if stop():
            raise StopIteration

    return evaluate_positions(
        agent.game, agent.evaluator, positions, agent.config, seed, progress=after_batch
    )
