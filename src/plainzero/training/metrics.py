"""The metrics of each generation: one line of JSON, and events for TensorBoard if installed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.selfplay.games_in_progress import BY_PROOF, BY_RESIGNATION, ENDINGS
from plainzero.selfplay.worker import Timing
from plainzero.targets.all_targets import TARGETS

# TensorBoard's group of each metric; all others are in the group "run".
_GROUPS = {
    "learning": (
        "loss",
        *(f"{target.name}_loss" for target in TARGETS if target.loss is not None),
        "policy_entropy",
        "target_entropy",
        "policy_kl",
        "search_agreement",
        "value_mean",
        "value_calibration_error",
        "value_spread",
        "value_explained",
        "gradient_norm",
        "learning_rate",
    ),
    "games": (
        "draw_rate",
        "first_player_score",
        "game_length",
        "resign_rate",
        "false_resign_rate",
        "proof_rate",
    ),
    "speed": (
        "games_per_second",
        "positions_per_second",
        "evaluations_per_second",
        "simulations_per_second",
        "evaluator_share",
        "selfplay_share",
        "cache_hit_rate",
        "evaluations_per_position",
    ),
    "replay": ("replay_positions", "replay_age", "replay_uses", "reanalysed_positions"),
    "strength": ("rating", "rating_error", "accuracy", "accuracy_search", "assessed_step"),
}


def describe_games(
    columns: Mapping[str, NDArray[Any]], lengths: NDArray[np.integer[Any]]
) -> dict[str, float]:
    """The metrics of a generation's games: their columns per game, and their lengths [G]."""
    returns, endings, resigned = (columns[n] for n in ("returns", "ending", "would_resign"))
    found = {
        "games": float(len(returns)),
        "draw_rate": float((np.ptp(returns, axis=1) == 0).mean()) if returns.shape[1] > 1 else 0.0,
        "first_player_score": float(returns[:, 0].mean()),
        "game_length": float(lengths.mean()),
        "proof_rate": float((endings == ENDINGS[BY_PROOF]).mean()),
        "resign_rate": float((endings == ENDINGS[BY_RESIGNATION]).mean()),
    }
    checked = np.flatnonzero(resigned >= 0)
    if len(checked):
        theirs = returns[checked, resigned[checked]]
        found["false_resign_rate"] = float((theirs > -1).mean())
    return found


def describe_speed(timings: Sequence[Timing], games: int, seconds: float) -> dict[str, float]:
    """The speed of a generation's self-play."""
    total = {name: sum(getattr(timing, name) for timing in timings) for name in Timing._fields}
    seconds = max(seconds, 1e-9)
    found = {
        "games_per_second": games / seconds,
        "positions_per_second": total["positions"] / seconds,
        "evaluations_per_second": total["evaluations"] / seconds,
        "simulations_per_second": total["simulations"] / seconds,
        "evaluator_share": total["network_seconds"] / max(total["seconds"], 1e-9),
        "evaluations_per_position": total["evaluations"] / max(1, total["positions"]),
    }
    if total["cache_lookups"]:
        found["cache_hit_rate"] = total["cache_hits"] / total["cache_lookups"]
    return found


class MetricsLog:
    """Appends to metrics.jsonl and to TensorBoard's event files."""

    def __init__(self, path: Path, events: Path, size: int) -> None:
        """Resumes a log whose first `size` bytes were committed; cuts off the rest."""
        self._path = path
        if path.exists() and path.stat().st_size > size:
            with open(path, "r+b") as file:
                file.truncate(size)
        self._writer = _make_writer(events)

    def write(self, metrics: dict[str, Any]) -> int:
        """Adds a line; returns the size of the file."""
        rounded = {
            name: float(f"{value:.6g}") if isinstance(value, float) else value
            for name, value in metrics.items()
        }
        with open(self._path, "ab") as file:
            file.write((json.dumps(rounded) + "\n").encode())
            size = file.tell()
        if self._writer is not None:
            for name, value in metrics.items():
                if isinstance(value, int | float):
                    self._writer.add_scalar(f"{_group(name)}/{name}", value, metrics["step"])
            self._writer.flush()
        return size

    def close(self) -> None:
        """Closes the event file."""
        if self._writer is not None:
            self._writer.close()


def _group(name: str) -> str:
    return next((group for group, names in _GROUPS.items() if name in names), "run")


def _make_writer(events: Path) -> Any:
    """TensorBoard's writer, or None if the package is missing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(events))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The metrics of all generations so far, without an incomplete last line."""
    if not path.exists():
        return []
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return lines
