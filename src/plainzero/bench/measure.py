"""Measuring beside a peer: both take turns and the best of several repeats of each counts.

Machines are shared and noisy, so a single time says little and a ratio of times minutes apart less.
"""

import importlib.metadata
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

Rate = Callable[[], float]
"""Does the work once and returns its rate, or whatever number the unit names."""


@dataclass(frozen=True)
class Work:
    """Something to measure: ours, and a peer's where there is one."""

    name: str
    unit: str
    ours: Rate
    peer: str | None = None
    theirs: Rate | None = None
    is_rate: bool = True  # more is better; otherwise it is measured once


@dataclass(frozen=True)
class Row:
    """What was measured."""

    work: str
    ours: float
    unit: str
    peer: str | None
    theirs: float | None
    ratio: float | None


@dataclass(frozen=True)
class Report:
    """All rows, and where they were measured."""

    machine: dict[str, Any]
    versions: dict[str, str]
    rows: list[Row]

    def as_dict(self) -> dict[str, Any]:
        """As plain dictionaries and lists."""
        return asdict(self)


def measure_all(works: Sequence[Work], repeats: int, console: Console) -> Report:
    """Measures each work, with a progress bar on `console`."""
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(works))
        for work in works:
            progress.update(task, description=work.name)
            rows.append(_measure(work, repeats))
            progress.advance(task)
    return Report(machine(), versions(), rows)


def _measure(work: Work, repeats: int) -> Row:
    work.ours()  # compiles, and warms the caches
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(repeats if work.is_rate else 1):
        ours.append(work.ours())
        if work.theirs is not None:
            theirs.append(work.theirs())
    best, peer_best = max(ours), max(theirs, default=None)
    ratio = best / peer_best if peer_best else None
    return Row(work.name, best, work.unit, work.peer, peer_best, ratio)


def format_rate(rate: float) -> str:
    """In millions, thousands or ones."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.2f} {letter}"
    return f"{rate:.0f}"


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {"cpu": _cpu_name(), "cores": os.cpu_count(), "system": platform.platform()}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that count."""
    found = {"python": platform.python_version()}
    for package in ("plainzero", "numpy", "numba", "open_spiel"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
