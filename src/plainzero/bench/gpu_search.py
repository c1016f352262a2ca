"""What `plainzero bench gpu` measures: searches of many games on one GPU, beside mctx + pgx.

Each work is measured of PlainZero and then of the peer, in the same run; the peer has a process of its
own and the same kind of network, bf16 and as many blocks and channels.
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
class Work:
    """Searches from new trees, `games` side by side."""

    game: str
    games: int
    simulations: int
    selection: Selection
    blocks: int = 4
    channels: int = 64

    @property
    def name(self) -> str:
        """Game, network, games side by side × simulations, and selection."""
        title = {"connect-four": "Connect Four", "gomoku": "Gomoku 15×15"}[self.game]
        selection = {"puct": "PUCT", "gumbel": "Gumbel"}[self.selection]
        network = f"{self.blocks}×{self.channels}"
        return f"{title} {network}, {self.games:,} × {self.simulations} {selection}"

    @property
    def has_peer(self) -> bool:
        """Whether pgx has the game."""
        return self.game == "connect-four"


WORKS = (
    Work("connect-four", 16_384, 64, "puct"),
    Work("connect-four", 16_384, 64, "gumbel"),
    Work("connect-four", 8_192, 256, "puct"),
    Work("connect-four", 4_096, 64, "puct"),
    Work("connect-four", 16_384, 64, "puct", blocks=6, channels=128),
    Work("gomoku", 4_096, 64, "puct"),
    Work("gomoku", 16_384, 64, "puct"),
)


@dataclass(frozen=True)
class Plan:
    """How to measure."""

    repeats: int
    peers_python: Path | None
    """None: no peers."""


@dataclass(frozen=True)
class Row:
    """What was measured of one work. The peer's numbers are None where it was not measured."""

    work: str
    settings: dict[str, Any]
    engine: str
    simulations_per_second: float
    evaluations_per_second: float
    """Of the network alone, at a batch of as many positions as there are games."""
    network_share: float
    """What the network alone would need of the search's time."""
    network_running: float
    """The part of that time in which a kernel of the network runs; others may run beside it."""
    peer_simulations_per_second: float | None = None
    peer_evaluations_per_second: float | None = None
    peer_network_share: float | None = None
    ratio: float | None = None
    """Of the simulations a second, ours to the peer's."""
    missing: str = ""
    """Why the peer was not measured, where it was asked for."""


@dataclass(frozen=True)
class Report:
    """All rows, when and where they were measured."""

    date: str
    gpu: str
    machine: dict[str, Any]
    versions: dict[str, str]
    repeats: int
    rows: list[Row]
    left_out: dict[str, str] = field(default_factory=dict)
    """Works that could not be measured, and why."""

    def as_dict(self) -> dict[str, Any]:
        """As plain dictionaries and lists."""
        return asdict(self)


def measure_gpu(plan: Plan, console: Console) -> Report:
    """Measures every work, with a progress bar on `console`.

    Raises:
        ValueError: when there is no GPU, or none of it fits there.
        BadInput: when the peers' Python cannot be run.
    """
    gpu = require_gpu()
    if plan.peers_python is not None:
        require_python(plan.peers_python)
    found = _versions()
    rows, left_out = [], {}
    with ExitStack() as stack, Progress(console=console, transient=True) as progress:
        task = progress.add_task("starting", total=len(WORKS))
        peer = None
        if plan.peers_python is not None:
            peer = RequestPeer(_PEER, plan.peers_python, _INSTALL)
            stack.callback(peer.close)
            found |= peer.versions
        for work in WORKS:
            progress.update(task, description=work.name)
            try:
                ours = measure_own(work, plan.repeats)
            except ValueError as error:  # too large for this GPU
                left_out[work.name] = str(error)
            else:
                rows.append(make_row(work, ours, measure_peer(peer, work, plan.repeats)))
            progress.advance(task)
    if not rows:
        raise ValueError("; ".join(dict.fromkeys(left_out.values())))
    date = datetime.date.today().isoformat()
    return Report(date, gpu, machine(), found, plan.repeats, rows, left_out)


def measure_own(work: Work, repeats: int) -> GpuRate:
    """Our rates.

    Raises:
        ValueError: when it does not fit into the GPU's memory.
    """
    network = NetworkConfig(blocks=work.blocks, channels=work.channels)
    game = make_game(work.game)
    return measure_search(game, network, work.games, work.simulations, work.selection, repeats)


def measure_peer(peer: RequestPeer | None, work: Work, repeats: int) -> dict[str, Any] | None:
    """The peer's rates, or why there are none; None where none were asked for."""
    if peer is None or not work.has_peer:
        return None
    if peer.missing:
        return {"failed": peer.missing}
    if peer.platform != "gpu":
        return {"failed": f"JAX finds no GPU, but {peer.device}: pip install {_INSTALL}"}
    return peer.ask(make_request(work, repeats))


def make_request(work: Work, repeats: int) -> dict[str, Any]:
    """What the peer is asked for."""
    return {
        "games": work.games,
        "simulations": work.simulations,
        "policy": _POLICIES[work.selection],
        "blocks": work.blocks,
        "channels": work.channels,
        "dtype": "bfloat16",
        "seed": 0,
        "repeats": repeats,
    }


def make_row(work: Work, ours: GpuRate, theirs: dict[str, Any] | None) -> Row:
    """The row, with the peer's rates and the ratio to them where it was measured."""
    measured: dict[str, Any] = {}
    if theirs is not None and "failed" in theirs:
        measured = {"missing": theirs["failed"]}
    elif theirs is not None:
        measured = {f"peer_{name}": theirs[name] for name in _RATES}
        peer_rate = theirs["simulations_per_second"]
        measured["ratio"] = ours.simulations_per_second / peer_rate
    return Row(work=work.name, settings=asdict(work), **ours._asdict(), **measured)


def as_markdown(report: Report) -> str:
    """The report as docs/lab-notebook.md has it: a paragraph, a table, and what is missing."""
    found = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    lines = [
        f"`plainzero bench gpu --repeats {report.repeats}`, {report.date}, one {report.gpu}; {found}.",
        "",
        "| work | simulations/s | network alone, positions/s | of that rate | network runs "
        "| mctx + pgx | ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [f"| {row.work} | {' | '.join(row_cells(row))} |" for row in report.rows]
    if missing := dict.fromkeys(row.missing for row in report.rows if row.missing):
        lines += ["", *(f"mctx + pgx: {why}" for why in missing)]
    if report.left_out:
        lines += ["", *(f"Left out: {work}: {why}" for work, why in report.left_out.items())]
    return "\n".join(lines)


def row_cells(row: Row) -> list[str]:
    """What people read of a row beside its work."""
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
    """Those of `measuring`, and of what a GPU needs."""
    import torch

    found = versions() | {"plainzero": plainzero.__version__, "torch": torch.__version__}
    found.pop("open_spiel", None)  # no part of this
    with suppress(importlib.metadata.PackageNotFoundError):
        found["numba-cuda"] = importlib.metadata.version("numba-cuda")
    if driver := _driver_version():
        found["driver"] = driver
    return found


def _driver_version() -> str:
    """The driver's, from its tool or from the kernel; nothing where neither is there."""
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
