"""A run as the API describes it: its state, progress and settings."""

import dataclasses
from typing import Any

from plainzero.server.api.schemas.runs import RunInfo, RunState
from plainzero.server.runs.processes import TrainingProcess, TrainingProcesses
from plainzero.server.runs.reader import Opened, RunReader


def describe_run(reader: RunReader, trainings: TrainingProcesses, can_train: bool) -> RunInfo:
    """The current state of a run; for a damaged one, with the reason."""
    opened, problem = _try_to_open(reader)
    state, error = _find_state(reader, opened, trainings)
    training = trainings.find(reader.path)
    minutes, generations = _limits(opened, training)
    latest = reader.latest()
    numbers = latest.numbers if latest is not None else {}
    return RunInfo(
        run=reader.name,
        game=opened.game if opened else training.game if training else "",
        state=state,
        message=error or (problem if state == "failed" else "") or reader.warning(),
        generation=latest.generation if latest is not None else 0,
        generations=generations,
        seconds=numbers.get("seconds", 0.0),
        minutes=minutes,
        games=int(numbers.get("total_games", 0)),
        positions=int(numbers.get("total_positions", 0)),
        steps=reader.steps(),
        can_control=can_train and (opened is not None or training is not None),
        latest=latest,
    )


def describe_settings(reader: RunReader) -> dict[str, dict[str, Any]]:
    """The sections of config.toml, with the game's name in the catalogue; empty if damaged."""
    opened, _ = _try_to_open(reader)
    if opened is None:
        return {}
    plain = {name: text for name, text in opened.about.items() if isinstance(text, str | int)}
    return {"about": plain | {"game": opened.game}, **dataclasses.asdict(opened.saved.config)}


def check_has_time(reader: RunReader, opened: Opened, minutes: float | None) -> None:
    """Refuses to resume a run that has reached its limit.

    Args:
        reader: of the run.
        opened: the run.
        minutes: a new limit that replaces the run's own.
    """
    latest = reader.latest()
    if latest is None:
        return
    seconds = latest.numbers.get("seconds", 0.0)
    limit, generations = opened.saved.config.run.minutes, opened.saved.config.run.generations
    if minutes is not None:
        limit, generations = minutes, 0
    if _is_reached(seconds, limit * 60) or _is_reached(latest.generation, generations):
        raise ValueError(
            f"{reader.name} has reached its limit ({latest.generation} "
            f"generation{'s' * (latest.generation != 1)}, {seconds / 60:.1f} minutes); "
            "resume it with more minutes"
        )


def _try_to_open(reader: RunReader) -> tuple[Opened | None, str]:
    """The run, or why it cannot be opened."""
    try:
        return reader.open(), ""
    except ValueError as error:
        return None, str(error)


def _find_state(
    reader: RunReader, opened: Opened | None, trainings: TrainingProcesses
) -> tuple[RunState, str]:
    """The state, and why its process failed."""
    try:
        state, error = trainings.state(reader.folder())
    except ImportError:  # without PyTorch, or with an old one, no process can have been started
        return "failed", ""
    if state is not None:
        return state, reader.without_path(error)
    if opened is not None:
        return ("finished" if _is_finished(reader, opened) else "stopped"), ""
    # A run started here and stopped before it wrote its config can be started again.
    is_unwritten = trainings.find(reader.path) is not None and not reader.folder().exists()
    return ("stopped" if is_unwritten else "failed"), ""


def _is_finished(reader: RunReader, opened: Opened) -> bool:
    """Whether a limit is reached, or too little time is left for another generation's games."""
    latest, limits = reader.latest(), opened.saved.config.run
    if latest is None:
        return False
    numbers = latest.numbers
    speed = numbers.get("games_per_second", 0.0)
    selfplay_seconds = numbers.get("games", 0.0) / speed if speed else 0.0
    is_over = _is_reached(numbers.get("seconds", 0.0) + selfplay_seconds, limits.minutes * 60)
    return is_over or _is_reached(latest.generation, limits.generations)


def _is_reached(count: float, limit: float) -> bool:
    return 0 < limit <= count


def _limits(opened: Opened | None, training: TrainingProcess | None) -> tuple[float, int]:
    """The limits of minutes and generations, also before the run has written its config."""
    if opened is not None:
        options = opened.saved.config.run
    elif training is not None and training.config is not None:
        options = training.config.run
    else:
        return 0.0, 0
    return options.minutes, options.generations
