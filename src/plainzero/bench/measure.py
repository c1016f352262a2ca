"""Measurements compared with a peer: both take turns, and the best repeat of each counts.

Machines are shared and noisy: single timings and ratios of timings minutes apart are unreliable.
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
"""Runs a workload once and returns its rate, or another number in the workload's unit."""


@dataclass(frozen=True)
class Workload:
    """Something to measure, with a peer's version of it if any."""

    name: str
    unit: str
    ours: Rate
    peer: str | None = None
    theirs: Rate | None = None
    is_rate: bool = True  # higher is better; anything else is measured only once


@dataclass(frozen=True)
class Row:
    """The measurements of one workload."""

    work: str
    ours: float
    unit: str
    peer: str | None
    theirs: float | None
    ratio: float | None


@dataclass(frozen=True)
class Report:
    """All rows, and the machine they were measured on."""

    machine: dict[str, Any]
    versions: dict[str, str]
    rows: list[Row]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists."""
        return asdict(self)


def measure_all(workloads: Sequence[Workload], repeats: int, console: Console) -> Report:
    """Measures each workload, with a progress bar on `console`."""
    rows = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(workloads))
        for workload in workloads:
            progress.update(task, description=workload.name)
            rows.append(_measure(workload, repeats))
            progress.advance(task)
    return Report(machine(), versions(), rows)


def _measure(workload: Workload, repeats: int) -> Row:
    workload.ours()  # compiles and warms the caches
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(repeats if workload.is_rate else 1):
        ours.append(workload.ours())
        if workload.theirs is not None:
            theirs.append(workload.theirs())
    best, peer_best = max(ours), max(theirs, default=None)
    ratio = best / peer_best if peer_best else None
    return Row(workload.name, best, workload.unit, workload.peer, peer_best, ratio)


def format_rate(rate: float) -> str:
    """The rate in millions (M), thousands (k) or ones."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.2f} {letter}"
    return f"{rate:.0f}"


def machine() -> dict[str, Any]:
    """The processor, its cores and the operating system."""
    return {"cpu": _cpu_name(), "cores": os.cpu_count(), "system": platform.platform()}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that affect speed."""
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
