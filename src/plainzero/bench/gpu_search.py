"""`plainzero bench gpu`: searches of many games on one GPU, compared with mctx + pgx.

Each workload is measured with PlainZero and then with the peer, in the same run. The peer runs in a
separate process and has a network of the same kind: bf16, the same number of blocks and channels.
"""

import datetime
import importlib.metadata
import re
import shutil
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

import plainzero
from plainzero.bench.gpu_rates import GpuRate, measure_search, require_gpu
from plainzero.bench.measure import format_rate, machine, versions
from plainzero.bench.peer_process import RequestPeer, require_python
from plainzero.games.registry import make_game
from plainzero.networks.config import NetworkConfig
from plainzero.search.config import Selection

_PEER = "mctx_pgx_search"
_INSTALL = "'jax[cuda13]' mctx pgx"
_POLICIES = {"puct": "muzero", "gumbel": "gumbel"}  # mctx's names
_RATES = ("simulations_per_second", "evaluations_per_second", "network_share")
_DRIVER = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class GpuWorkload:
    """Searches of `games` parallel games, from new trees."""

    game: str
    games: int
    simulations: int
    selection: Selection
    blocks: int = 4
    channels: int = 64

    @property
    def name(self) -> str:
        """Game, network, parallel games × simulations, and selection."""
        title = {"connect-four": "Connect Four", "gomoku": "Gomoku 15×15"}[self.game]
        selection = {"puct": "PUCT", "gumbel": "Gumbel"}[self.selection]
        network = f"{self.blocks}×{self.channels}"
        return f"{title} {network}, {self.games:,} × {self.simulations} {selection}"

    @property
    def has_peer(self) -> bool:
        """Whether pgx has the game."""
        return self.game == "connect-four"


WORKLOADS = (
    GpuWorkload("connect-four", 16_384, 64, "puct"),
    GpuWorkload("connect-four", 16_384, 64, "gumbel"),
    GpuWorkload("connect-four", 8_192, 256, "puct"),
    GpuWorkload("connect-four", 4_096, 64, "puct"),
    GpuWorkload("connect-four", 16_384, 64, "puct", blocks=6, channels=128),
    GpuWorkload("gomoku", 4_096, 64, "puct"),
    GpuWorkload("gomoku", 16_384, 64, "puct"),
)


@dataclass(frozen=True)
class GpuBenchOptions:
    """Options of the measurement."""

    repeats: int
    peers_python: Path | None
    """The Python of the peers; None to measure without peers."""


@dataclass(frozen=True)
class GpuRow:
    """The measurements of one workload. The peer's numbers are None if it was not measured."""

    work: str
    settings: dict[str, Any]
    backend: str
    simulations_per_second: float
    evaluations_per_second: float
    """Of the network alone, with one position per game in a batch."""
    network_share: float
    """Time of the network alone, as a share of the search's time."""
    network_running: float
    """Share of the search's time in which a network kernel runs, possibly along with others."""
    peer_simulations_per_second: float | None = None
    peer_evaluations_per_second: float | None = None
    peer_network_share: float | None = None
    ratio: float | None = None
    """Our simulations per second, divided by the peer's."""
    missing: str = ""
    """Why the peer was not measured, if it was requested."""


@dataclass(frozen=True)
class GpuReport:
    """All rows, with the date and the machine of the measurement."""

    date: str
    gpu: str
    machine: dict[str, Any]
    versions: dict[str, str]
    repeats: int
    rows: list[GpuRow]
    left_out: dict[str, str] = field(default_factory=dict)
    """Workloads that could not be measured, with the reason."""

    def as_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists."""
        return asdict(self)


def measure_gpu(options: GpuBenchOptions, console: Console) -> GpuReport:
    """Measures every workload, with a progress bar on `console`.

    Raises:
        ValueError: if there is no GPU, no workload fits on it, or the peers' Python cannot be run.
    """
    gpu = require_gpu()
    if options.peers_python is not None:
        require_python(options.peers_python)
    found = _versions()
    rows, left_out = [], {}
    with ExitStack() as stack, Progress(console=console, transient=True) as progress:
        task = progress.add_task("starting", total=len(WORKLOADS))
        peer = None
        if options.peers_python is not None:
            peer = RequestPeer(_PEER, options.peers_python, _INSTALL)
            stack.callback(peer.close)
            found |= peer.versions
        for workload in WORKLOADS:
            progress.update(task, description=workload.name)
            try:
                ours = measure_own(workload, options.repeats)
            except ValueError as error:  # too large for this GPU
                left_out[workload.name] = str(error)
            else:
                rows.append(make_row(workload, ours, measure_peer(peer, workload, options.repeats)))
            progress.advance(task)
    if not rows:
        raise ValueError("; ".join(dict.fromkeys(left_out.values())))
    date = datetime.date.today().isoformat()
    return GpuReport(date, gpu, machine(), found, options.repeats, rows, left_out)


def measure_own(workload: GpuWorkload, repeats: int) -> GpuRate:
    """PlainZero's rates.

    Raises:
        ValueError: if the workload does not fit in the GPU's memory.
    """
    network = NetworkConfig(blocks=workload.blocks, channels=workload.channels)
    game = make_game(workload.game)
    return measure_search(
        game, network, workload.games, workload.simulations, workload.selection, repeats
    )


def measure_peer(
    peer: RequestPeer | None, workload: GpuWorkload, repeats: int
) -> dict[str, Any] | None:
    """The peer's rates, or `failed` with the reason; None if the peer is not to be measured."""
    if peer is None or not workload.has_peer:
        return None
    if peer.missing:
        return {"failed": peer.missing}
    if peer.platform != "gpu":
        return {"failed": f"JAX found no GPU, only {peer.device}: pip install {_INSTALL}"}
    return peer.ask(make_request(workload, repeats))


def make_request(workload: GpuWorkload, repeats: int) -> dict[str, Any]:
    """The request to the peer."""
    return {
        "games": workload.games,
        "simulations": workload.simulations,
        "policy": _POLICIES[workload.selection],
        "blocks": workload.blocks,
        "channels": workload.channels,
        "dtype": "bfloat16",
        "seed": 0,
        "repeats": repeats,
    }


def make_row(workload: GpuWorkload, ours: GpuRate, theirs: dict[str, Any] | None) -> GpuRow:
    """The row, with the peer's rates and the ratio if it was measured."""
    measured: dict[str, Any] = {}
    if theirs is not None and "failed" in theirs:
        measured = {"missing": theirs["failed"]}
    elif theirs is not None:
        measured = {f"peer_{name}": theirs[name] for name in _RATES}
        peer_rate = theirs["simulations_per_second"]
        measured["ratio"] = ours.simulations_per_second / peer_rate
    return GpuRow(work=workload.name, settings=asdict(workload), **ours._asdict(), **measured)


def as_markdown(report: GpuReport) -> str:
    """The report in Markdown: a paragraph, a table, and the reasons for missing numbers."""
    found = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    lines = [
        f"`plainzero bench gpu --repeats {report.repeats}`, {report.date}, "
        f"one {report.gpu}; {found}.",
        "",
        "| work | simulations/s | network alone, positions/s | of that rate | network runs "
        "| mctx + pgx | ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {row.work} | {' | '.join(row_cells(row))} |" for row in report.rows]
    if missing := dict.fromkeys(row.missing for row in report.rows if row.missing):
        lines += ["", *(f"mctx + pgx: {why}" for why in missing)]
    if report.left_out:
        lines += ["", *(f"Skipped: {workload}: {why}" for workload, why in report.left_out.items())]
    return "\n".join(lines)


def row_cells(row: GpuRow) -> list[str]:
    """The formatted numbers of a row."""
    peer = row.peer_simulations_per_second
    return [
        format_rate(row.simulations_per_second),
        format_rate(row.evaluations_per_second),
        f"{row.network_share:.0%}",
        f"{row.network_running:.0%}",
        "" if peer is None else f"{format_rate(peer)} ({row.peer_network_share:.0%})",
        "" if row.ratio is None else f"{row.ratio:.1f}",
    ]


def _versions() -> dict[str, str]:
    """Versions of Python, the packages, and the GPU's driver."""
    import torch

    found = versions() | {"plainzero": plainzero.__version__, "torch": torch.__version__}
    found.pop("open_spiel", None)  # not used here
    with suppress(importlib.metadata.PackageNotFoundError):
        found["numba-cuda"] = importlib.metadata.version("numba-cuda")
    if driver := _driver_version():
        found["driver"] = driver
    return found


def _driver_version() -> str:
    """The driver's version according to nvidia-smi or the kernel; empty if unknown."""
    if tool := shutil.which("nvidia-smi"):
        query = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
        run = subprocess.run(query, capture_output=True, text=True)
        if run.returncode == 0 and run.stdout.strip():
            return run.stdout.split()[0]
    try:
        found = re.search(r"\d+\.\d+(\.\d+)?", _DRIVER.read_text())
    except OSError:
        return ""
    return found.group() if found else ""
