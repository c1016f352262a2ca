"""Plots of ratings, ladders, sweeps and learning curves, as SVG and PNG."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plainzero.arena.ladder import Ladder, Rung
from plainzero.arena.ladder_agents import family_of, label_of
from plainzero.arena.ratings import Ratings
from plainzero.arena.sweep import SweepRow

if TYPE_CHECKING:
    from plainzero.arena.error_curve import CurvePoint  # which needs PyTorch

_INK, _SOFT, _ACCENT, _SECOND = "#24292f", "#d0d7de", "#0b63ce", "#b3541e"
_COLOURS = (_ACCENT, _SECOND, "#2b7a5b", "#7a3a96", "#98325a", "#5a5145")
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _SOFT,
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "plainzero",  # the same plot is the same file
}
_LONGEST_LABEL = 44


def check_plottable(path: Path) -> None:
    """Refuses a plot that cannot be written, before anything is measured.

    Raises:
        ValueError: when matplotlib or the folder is missing.
    """
    _import_matplotlib()
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for the plot; create it first")


def plot_ratings(ratings: Ratings, title: str, path: Path) -> list[Path]:
    """Draws a ladder, strongest on top; returns the files written, SVG and PNG."""
    order = np.argsort(ratings.elo, kind="stable")
    with _figure((7.0, 1.2 + 0.42 * len(order))) as figure:
        axes = figure.subplots()
        axes.errorbar(
            ratings.elo[order], range(len(order)), xerr=ratings.errors[order], **_points(_ACCENT)
        )
        axes.set_yticks(range(len(order)), [_label(ratings.names[i]) for i in order])
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(f"Elo above {_label(ratings.names[0])}, 95 % intervals")
        axes.set_title(title)
        return _save(figure, path)


def plot_ladder(ladder: Ladder, title: str, path: Path) -> list[Path]:
    """Draws a ladder, agents that differ only in simulations as lines over their number.

    Returns:
        The files written, SVG and PNG.
    """
    searches: dict[str, list[tuple[int, Rung]]] = {}
    others: list[Rung] = []
    for rung in reversed(ladder.rungs):
        search = family_of(rung.agent)
        if search is None or search[1] == 0:
            others.append(rung)
        else:
            searches.setdefault(search[0], []).append((search[1], rung))
    widths = [3.0, 0.8 + 0.45 * len(others)]
    with _figure((8.0, 4.6)) as figure:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=widths)
        for number, (family, found) in enumerate(searches.items()):
            counts, rungs = zip(*sorted(found, key=lambda pair: pair[0]), strict=True)
            look = _points(_COLOURS[number % len(_COLOURS)]) | {"fmt": "o-", "linewidth": 1.2}
            errors = [rung.error for rung in rungs]
            label = label_of(f"{family}:0").removesuffix(":0")
            left.errorbar(counts, [rung.elo for rung in rungs], yerr=errors, label=label, **look)
        left.set_xscale("log")
        left.set_xticks(*_tick_labels([count for found in searches.values() for count, _ in found]))
        left.minorticks_off()
        left.set_xlabel("simulations per move")
        left.set_ylabel(f"Elo above {label_of(ladder.anchor)}, 95 % intervals")
        left.legend(frameon=False)
        places = range(len(others))
        errors = [rung.error for rung in others]
        right.errorbar(places, [rung.elo for rung in others], yerr=errors, **_points(_INK))
        labels = [_label(label_of(rung.agent)) for rung in others]
        right.set_xticks(places, labels, rotation=40, ha="right", rotation_mode="anchor")
        right.set_xlim(-0.6, len(others) - 0.4)
        right.grid(axis="x", visible=False)
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
        return _save(figure, path)


def plot_sweep(
    rows: Sequence[SweepRow], parameter: str, default: Any, title: str, path: Path
) -> list[Path]:
    """Draws Elo against the default and, if measured, the error rate over the values."""
    has_accuracy = any(row.accuracy is not None for row in rows)
    with _figure((7.0, 5.6 if has_accuracy else 3.4)) as figure:
        panels = figure.subplots(1 + has_accuracy, 1, sharex=True, squeeze=False)[:, 0]
        places = _places(panels[-1], rows, parameter)
        _draw_elo(panels[0], places, rows)
        panels[0].set_title(title)
        if has_accuracy:
            _draw_errors(panels[1], places, rows)
        panels[-1].set_xlabel(f"{parameter} (default {default})")
        return _save(figure, path)


def plot_curve(
    curve: "Sequence[CurvePoint]", names: Sequence[str], title: str, path: Path
) -> list[Path]:
    """Draws error rates over time, one line per set of positions."""
    with _figure((7.0, 3.8)) as figure:
        axes = figure.subplots()
        seconds = [point.seconds for point in curve]
        colours = (_ACCENT, _SECOND, _INK)
        for index, name in enumerate(names):
            rates = [100 * point.errors[index] for point in curve]
            colour = colours[index % len(colours)]
            axes.plot(seconds, rates, marker="o", markersize=3.5, color=colour, label=_label(name))
        axes.set_ylim(bottom=0.0)
        axes.set_xlim(left=0.0)
        axes.set_xlabel("seconds of the run")
        axes.set_ylabel("errors, %")
        axes.set_title(title)
        axes.legend(frameon=False)
        return _save(figure, path)


def _tick_labels(counts: Sequence[int]) -> tuple[list[int], list[str]]:
    """Numbers of simulations that have room beside each other, as places and as texts."""
    places: list[int] = []
    for count in sorted(set(counts)):
        if not places or count >= 1.9 * places[-1]:
            places.append(count)
    return places, [f"{place:,}" for place in places]


def _draw_elo(axes: Any, places: Sequence[float], rows: Sequence[SweepRow]) -> None:
    """Draws points with intervals, arrows for infinite values and a ring for the default."""
    axes.axhline(0.0, color=_INK, linewidth=0.8)
    for place, row in zip(places, rows, strict=True):
        if row.match is None:
            axes.plot([place], [0.0], "o", color="white", markeredgecolor=_ACCENT, markersize=7)
            continue
        estimate = row.match.estimate
        low, high = estimate.low, estimate.high
        middle = estimate.elo if np.isfinite(estimate.elo) else (low if estimate.elo > 0 else high)
        if not estimate.has_interval:
            continue
        if np.isfinite(estimate.elo):
            ends = [[middle - low], [high - middle]]
            axes.errorbar([place], [middle], yerr=ends, **_points(_ACCENT))
        else:
            axes.plot([place], [middle], "^" if estimate.elo > 0 else "v", color=_ACCENT)
    axes.set_ylabel("Elo against the default")


def _draw_errors(axes: Any, places: Sequence[float], rows: Sequence[SweepRow]) -> None:
    for place, row in zip(places, rows, strict=True):
        if row.accuracy is not None and row.accuracy.total.error_rate.mean is not None:
            mean, low, high = (100.0 * (x or 0.0) for x in row.accuracy.total.error_rate)
            axes.errorbar([place], [mean], yerr=[[mean - low], [high - mean]], **_points(_SECOND))
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("errors, % of positions")


def _places(axes: Any, rows: Sequence[SweepRow], parameter: str) -> list[float]:
    """The x coordinate of each value: logarithmic for simulations, else evenly spaced."""
    if parameter == "simulations" and all(row.value > 0 for row in rows):
        axes.set_xscale("log", base=2)
        axes.set_xticks([row.value for row in rows], [f"{row.value:,}" for row in rows])
        axes.minorticks_off()
        return [float(row.value) for row in rows]
    axes.set_xticks(range(len(rows)), [str(row.value) for row in rows])
    return [float(place) for place in range(len(rows))]


def _points(color: str) -> dict[str, Any]:
    return {
        "fmt": "o",
        "color": color,
        "markersize": 6,
        "elinewidth": 1.6,
        "capsize": 3.5,
    }


def _label(name: str) -> str:
    """A name that fits beside a plot; a long one keeps its end, which says most."""
    return name if len(name) <= _LONGEST_LABEL else "…" + name[-_LONGEST_LABEL:]


@contextlib.contextmanager
def _figure(size: tuple[float, float]) -> Iterator[Any]:
    """A figure without a window and without effect on global settings."""
    matplotlib = _import_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with matplotlib.rc_context(_STYLE):
        figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        yield figure


def _save(figure: Any, path: Path) -> list[Path]:
    """Writes SVG and PNG, whichever suffix was given."""
    files = [path.with_suffix(ending) for ending in (".svg", ".png")]
    try:
        figure.savefig(files[0], metadata={"Date": None})
        figure.savefig(files[1], dpi=160)
    except OSError as error:
        raise ValueError(f"cannot save the plot to {path}: {error.strerror}") from error
    return files


def _import_matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError as error:
        raise ValueError(
            "plots need the package matplotlib: pip install 'plainzero[plots]'"
        ) from error
    return matplotlib
