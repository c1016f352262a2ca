"""A model card: how a bundled network was trained and how strong it is, in Markdown.

The figures come from the report of `plainzero bench learning --json` that trained and measured the
run, and from the run's metrics.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.opponents.network_files import NetworkFile
from plainzero.training.metrics import read_metrics
from plainzero.training.saved_run import SavedRun

_CURVE_POINTS = 12
_CURVE = {
    "minutes": "",
    "generation": ",.0f",
    "total_games": ",.0f",
    "total_positions": ",.0f",
    "policy_loss": ".3f",
    "value_loss": ".3f",
    "rating": "+.0f",
}
Row = dict[str, Any]


def read_report(path: Path, run: SavedRun) -> Row:
    """The row of a report of `bench learning` for the run's game.

    Raises:
        ValueError: when the file cannot be read, or has not measured this run.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        rows = {row["game"]: row | {"training": row["training"]} for row in report["rows"]}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{path} is not what `plainzero bench learning --json` prints: {error}"
        ) from error
    row: Row | None = rows.get(run.game.name)
    steps = {line["step"] for line in read_metrics(run.folder.metrics_file)}
    if row is None or not {at["step"] for at in row["strengths"]} <= steps:
        raise ValueError(f"{path} has no measurement of {run.folder.path}")
    return row


def summarise(row: Row) -> str:
    """The command, the date and the strength at the end, in one line."""
    strength = f"{row['yardstick']}: {_final(row) or 'not measured'}"
    training = row["training"]
    return f"{training['command']}; {training['date']}; {strength}" if training else strength


def model_card(run: SavedRun, file: NetworkFile, row: Row) -> str:
    """The card of a network file that was exported from a measured run."""
    metrics = read_metrics(run.folder.metrics_file)
    last = next(line for line in metrics if line["step"] >= file.step)
    network = resolve_network(run.config.network, run.game)
    facts = {
        **_training_facts(row["training"]),
        "Time": f"{last['seconds'] / 60:.1f} minutes of the run's clock",
        "Self-play": f"{last['total_games']:,} games, {last['total_positions']:,} positions",
        "Network": f"{_size(network)}; step {file.step:,}; {file.path.stat().st_size / 1e6:.1f} MB",
    }
    return "\n".join(
        [
            f"# {run.game.name}",
            "",
            f"The network that plays {run.game.name} as `bundled:SIMULATIONS`. Written by "
            "`plainzero export --card`.",
            "",
            *_table(["", ""], facts.items()),
            "",
            "## Strength",
            "",
            f"Yardstick: {row['yardstick']}{_target(row)}. In parentheses: 95 % intervals.",
            "",
            *_strength_lines(row),
            "",
            "## Learning curve",
            "",
            *_curve_lines(metrics),
            "",
        ]
    )


def _training_facts(training: Row | None) -> dict[str, str]:
    """When, where and by which command a run was trained, if known."""
    if training is None:
        return {"Command": "unknown"}
    machine, versions = training["machine"], training["versions"].items()
    processor = f"{machine['cores']} cores of {machine['cpu']}"
    return {
        "Command": f"`{training['command']}`",
        "Date": training["date"],
        "Machine": ", ".join([*filter(None, [machine.get("gpu")]), processor]),
        "Versions": ", ".join(f"{name} {v}" for name, v in versions if name != "open_spiel"),
        "Wall clock": f"{training['wall_seconds'] / 60:.1f} minutes for the whole command",
    }


def _size(network: NetworkConfig) -> str:
    if network.kind == "mlp":
        return f"mlp, {network.layers} layers of {network.width} units"
    return f"{network.kind}, {network.blocks} blocks of {network.channels} channels"


def _target(row: Row) -> str:
    return "" if row["target"] is None else f", target {100 * row['target']:g} %"


def _strength_lines(row: Row) -> list[str]:
    lines = []
    for at in row["strengths"]:
        for simulations, found in at["measured"].items():
            lines.append([f"{at['seconds']:,.0f}", simulations, _figure(found), found["sample"]])
    if not lines:
        return ["Not measured."]
    found = row["strengths"][-1]["measured"]
    more = [f"{_count(sims)}: {_more(m)}" for sims, m in found.items() if m["more"]]
    table = _table(["seconds", "simulations", "figure", "sample"], lines)
    return [*table, *(f"\nAt the end, {line}." for line in more)]


def _curve_lines(metrics: Sequence[Row]) -> list[str]:
    """A table of generations, evenly spaced in time."""
    end = metrics[-1]["seconds"]
    times = [end * (number + 1) / _CURVE_POINTS for number in range(_CURVE_POINTS)]
    chosen = {
        min(range(len(metrics)), key=lambda i: abs(metrics[i]["seconds"] - time)) for time in times
    }
    names = [name for name in _CURVE if name == "minutes" or any(name in m for m in metrics)]
    lines = [
        [
            f"{metrics[i]['seconds'] / 60:.2f}" if name == "minutes" else _cell(metrics[i], name)
            for name in names
        ]
        for i in sorted(chosen)
    ]
    return _table([name.removeprefix("total_").replace("_", " ") for name in names], lines)


def _cell(line: Row, name: str) -> str:
    return format(line[name], _CURVE[name]) if name in line else ""


def _final(row: Row) -> str:
    """The figures at the end, by simulations."""
    measured = row["strengths"][-1]["measured"] if row["strengths"] else {}
    return ", ".join(f"{_figure(found)} with {_count(sims)}" for sims, found in measured.items())


def _count(simulations: str) -> str:
    return f"{simulations} simulation{'' if simulations == '1' else 's'}"


def _figure(found: Row) -> str:
    interval = found["interval"]
    ends = f" ({100 * interval[0]:.1f}–{100 * interval[1]:.1f})" if interval else ""
    return f"{100 * found['figure']:.1f} %{ends}"


def _more(found: Row) -> str:
    return ", ".join(f"{name} {number:,.4g}" for name, number in found["more"].items())


def _table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> list[str]:
    cells = [list(head), *(list(line) for line in lines)]
    cells.insert(1, ["---"] * len(cells[0]))
    return [f"| {' | '.join(line)} |" for line in cells]
