"""What one option of the search is worth: each value plays the default, and solves positions."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from plainzero.arena.accuracy import Accuracy, evaluate_positions
from plainzero.arena.match import MatchPlan, MatchResult, play_match
from plainzero.opponents.search_agent import SearchAgent
from plainzero.opponents.solved_positions import PositionSet
from plainzero.search.config import parse_option

SweepProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class SweepRow:
    """What came of one value."""

    value: Any
    match: MatchResult | None  # against the default; None for the default itself
    accuracy: Accuracy | None  # None without positions

    def as_dict(self) -> dict[str, Any]:
        """As plain numbers and words."""
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
    plan: MatchPlan,
    positions: PositionSet | None = None,
    progress: SweepProgress | None = None,
) -> list[SweepRow]:
    """Plays each value against the agent as it is, always from the same openings.

    Args:
        agent: with the default value.
        parameter: an option of `SearchConfig`.
        values: of that option.
        plan: of each match.
        positions: solved ones, to measure each value's error rate on.
        progress: called now and then; where it raises StopIteration, the rows so far stand.

    Raises:
        ValueError: for a value that the search refuses, before anything is played.
    """
    agents = [with_option(agent, parameter, value) for value in values]
    plan = dataclasses.replace(plan, openings=tuple(plan.choose_openings(agent.game)))
    rows: list[SweepRow] = []
    for value, changed in zip(values, agents, strict=True):
        row = _measure(agent, changed, value, plan, positions, progress)
        if row is None:
            break
        rows.append(row)
    return rows


def with_option(agent: SearchAgent, parameter: str, value: Any) -> SearchAgent:
    """The agent with another value of an option.

    Raises:
        ValueError: for a value that the search refuses.
    """
    config = dataclasses.replace(agent.config, **{parameter: value})
    changed = SearchAgent(f"{parameter}={value}", agent.game, agent.evaluator, config)
    changed.searcher()
    return changed


def parse_values(parameter: str, text: str) -> list[Any]:
    """The values of an option in `0.5,1,2`.

    Raises:
        ValueError: for an unknown option, a value of the wrong kind, or none.
    """
    values = [parse_option(parameter, part.strip()) for part in text.split(",") if part.strip()]
    if not values:
        raise ValueError(f"there are no values in {text!r}; write e.g. 0.5,1,2")
    return list(dict.fromkeys(values))


def _measure(
    agent: SearchAgent,
    changed: SearchAgent,
    value: Any,
    plan: MatchPlan,
    positions: PositionSet | None,
    progress: SweepProgress | None,
) -> SweepRow | None:
    """One row; None where progress said to stop before it was complete."""
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
            plan,
            progress=lambda done, total: report("games", done, total),
            is_enough=lambda: was_stopped,
        )
    if positions is not None and not was_stopped:
        accuracy = _solve(changed, positions, plan.seed, report, lambda: was_stopped)
    return None if was_stopped else SweepRow(value, match, accuracy)


def _solve(
    agent: SearchAgent,
    positions: PositionSet,
    seed: int,
    report: SweepProgress,
    is_enough: Callable[[], bool],
) -> Accuracy:
    def after_batch(done: int, total: int) -> None:
        report("positions", done, total)
        if is_enough():
            raise StopIteration

    return evaluate_positions(
        agent.game, agent.evaluator, positions, agent.config, seed, progress=after_batch
    )
