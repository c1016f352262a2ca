"""`plainzero bench selfplay`: searched moves per second, compared with other programs.

Connect Four, 64 simulations per move, a residual network of 4 blocks × 64 channels, one thread or
process per core. All rows take turns, window by window, so that other load affects all of them.
"""

import dataclasses
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import Progress

from plainzero.bench.measure import machine, versions
from plainzero.bench.peer_process import require_python
from plainzero.bench.selfplay_contestants import (
    Contestant,
    OwnContestant,
    OwnVariant,
    PeerContestant,
    PeerVariant,
    Sample,
)
from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.networks.architectures import Network, draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.heads import last_layers
from plainzero.networks.network_evaluators import choose_backend
from plainzero.networks.sample_positions import random_positions
from plainzero.operating_system import core_numbers
from plainzero.search.config import SearchConfig
from plainzero.selfplay.config import SelfPlayConfig

_SIMULATIONS = 64
_NETWORK = NetworkConfig(blocks=4, channels=64)
_LOGIT_SPREAD, _VALUE_SPREAD = 1.0, 0.5  # standard deviations over positions of random play
_NOISE = 0.25  # at the root, the default of mctx and of OpenSpiel
_CACHE_BYTES = 64 << 20  # per thread
_BACKEND_CHOICES = 5  # the most frequent one counts: other load can mislead a single choice
_MCTX_VARIANTS = (("gumbel", 16), ("muzero", 64))  # the fastest batch size of each
_MCTX_INSTALL = "jax mctx pgx"
_OPEN_SPIEL_INSTALL = "open_spiel jax flax optax chex orbax-checkpoint"


@dataclass(frozen=True)
class SelfPlayBenchOptions:
    """Options of the measurement."""

    repeats: int
    seconds: float
    """Duration of each window."""
    games: int
    """Parallel games per thread, for PlainZero."""
    threads: int
    peers_python: Path


@dataclass(frozen=True)
class SelfPlayRow:
    """The measurements of one contestant; all numbers are 0 if it is missing."""

    name: str
    is_peer: bool
    backend: str
    threads: int
    batch: int
    missing: str
    positions_per_second: float = 0.0
    """Of the best window."""
    median_positions_per_second: float = 0.0
    positions_per_processor_second: float = 0.0
    """Of all windows; hardly affected by other load on the machine."""
    games_per_second: float = 0.0
    simulations_per_second: float = 0.0
    """Of the best window, like `evaluations_per_second`."""
    evaluations_per_second: float = 0.0
    evaluations_per_position: float = 0.0
    cache_hit_rate: float = 0.0
    network_share: float = 0.0
    """Share of the threads' time, the mean of the windows; 0 for peers."""
    cores_used: float = 0.0
    ratio: float | None = None
    """Best window, divided by the best window of the best peer."""
    median_ratio: float | None = None
    """Median over the rounds of the ratio to that round's best peer."""
    processor_ratio: float | None = None
    """Ratio of the positions per processor second to the best peer's."""
    windows: tuple[float, ...] = ()
    """Positions per second of each window."""


@dataclass(frozen=True)
class SelfPlayReport:
    """All rows, and the machine they were measured on."""

    machine: dict[str, Any]
    versions: dict[str, str]
    settings: dict[str, Any]
    load: list[float]
    """Load average over one minute, before and after."""
    rows: list[SelfPlayRow]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain dictionaries and lists."""
        return asdict(self)


def measure_selfplay(options: SelfPlayBenchOptions, console: Console) -> SelfPlayReport:
    """Measures every row, with a progress bar on `console`.

    Raises:
        ValueError: if the peers' Python cannot be run.
    """
    require_python(options.peers_python)
    load = [os.getloadavg()[0]]
    with ExitStack() as stack, Progress(console=console, transient=True) as progress:
        task = progress.add_task("compiling", total=options.repeats + 1)
        contestants = stack.enter_context(_all_contestants(options))
        samples: list[list[Sample]] = [[] for _ in contestants]
        for _ in range(options.repeats):
            progress.advance(task)
            for contestant, own in zip(contestants, samples, strict=True):
                progress.update(task, description=contestant.name)
                if not contestant.missing:
                    own.append(contestant.measure(options.seconds))
    found = versions() | {"torch": torch.__version__}
    for contestant in contestants:
        found |= contestant.versions
    settings = asdict(options) | {"simulations": _SIMULATIONS, "network": asdict(_NETWORK)}
    settings["peers_python"] = str(options.peers_python)
    rows = [_make_row(c, s, options) for c, s in zip(contestants, samples, strict=True)]
    return SelfPlayReport(
        machine(), found, settings, [*load, os.getloadavg()[0]], _add_ratios(rows)
    )


@contextmanager
def _all_contestants(options: SelfPlayBenchOptions) -> Iterator[list[Contestant]]:
    """All contestants, ready to play; closes them at the end."""
    game = make_game("connect-four")
    network = _make_playing_network(game)
    cores = _choose_cores(options.threads)
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights.npz"
        _write_weights(weights, network, game)
        contestants: list[Contestant] = []
        for peer in _peer_variants(weights):
            contestants.append(PeerContestant(peer, options.peers_python, cores))
            stack.callback(contestants[-1].close)
        for own in _own_variants(options, game, network):
            contestants.append(OwnContestant(own, game, network, cores))
            stack.callback(contestants[-1].close)
        yield contestants


def _choose_cores(threads: int) -> list[int]:
    """One core per thread; threads share cores if there are too few."""
    cores = core_numbers()
    return [cores[number % len(cores)] for number in range(threads)]


def _make_playing_network(game: Game) -> Network:
    """Random weights, none of them zero, whose outputs vary as in real games."""
    network = draw_zeros(make_network(game, _NETWORK, seed=0))
    with torch.no_grad():
        planes = torch.from_numpy(random_positions(game, 512))
        features = network.body(planes)
        heads: Any = ((network.policy, _LOGIT_SPREAD), (network.value, _VALUE_SPREAD))
        for head, spread in heads:
            scale = spread / head(features).std()
            for name in last_layers(head):
                head.get_submodule(name).weight *= scale
    return network


def _write_weights(path: Path, network: Network, game: Game) -> None:
    arrays: dict[str, Any] = {name: array.numpy() for name, array in network.state_dict().items()}
    np.savez(path, board=np.array(game.observation_shape[1:]), **arrays)


def _peer_variants(weights: Path) -> list[PeerVariant]:
    common = {"simulations": _SIMULATIONS, "blocks": _NETWORK.blocks}
    variants = [
        PeerVariant(
            name=f"mctx + pgx, {policy}",
            module="mctx_pgx",
            settings={
                **common,
                "policy": policy,
                "batch": batch,
                "moves": 1,
                "weights": str(weights),
            },
            install=_MCTX_INSTALL,
            batch=batch,
        )
        for policy, batch in _MCTX_VARIANTS
    ]
    settings = {**common, "channels": _NETWORK.channels}
    alpha_zero = "open_spiel_alpha_zero"
    return [
        *variants,
        PeerVariant("OpenSpiel AlphaZero", alpha_zero, settings, _OPEN_SPIEL_INSTALL),
    ]


def _own_variants(options: SelfPlayBenchOptions, game: Game, network: Network) -> list[OwnVariant]:
    """Plain does what the peers do; the others have proven values and the cache.

    With tree reuse, the 64 visits include those from the previous move's search.
    """
    plain = SearchConfig(simulations=_SIMULATIONS, noise_weight=_NOISE)
    reusing = dataclasses.replace(plain, simulations=0, visits=_SIMULATIONS, proven_values=True)
    gumbel = SearchConfig(simulations=_SIMULATIONS, selection="gumbel", proven_values=True)
    games = SelfPlayConfig(games=options.games, opening_share=0.0, reuse_tree=False)
    whole_games = dataclasses.replace(games, end_proven=False)
    reusing_games = dataclasses.replace(games, reuse_tree=True)
    variants = []
    chosen = [choose_backend(network, game, options.games) for _ in range(_BACKEND_CHOICES)]
    for backend in dict.fromkeys(("torch", statistics.mode(chosen))):
        variants += [
            OwnVariant("plainzero, plain", backend, plain, whole_games),
            OwnVariant("plainzero, gumbel", backend, gumbel, games, _CACHE_BYTES),
            OwnVariant("plainzero, tree reuse", backend, reusing, reusing_games, _CACHE_BYTES),
        ]
    return variants


def _make_row(
    contestant: Contestant, samples: list[Sample], options: SelfPlayBenchOptions
) -> SelfPlayRow:
    row = SelfPlayRow(
        name=contestant.name,
        is_peer=isinstance(contestant, PeerContestant),
        backend=contestant.backend,
        threads=options.threads,
        batch=contestant.batch,
        missing=contestant.missing,
    )
    if not samples:
        return row
    total = Sample(*(sum(column) for column in zip(*samples, strict=True)))
    best = max(samples, key=lambda sample: sample.rate)
    positions = max(1.0, total.positions)
    return dataclasses.replace(
        row,
        positions_per_second=best.rate,
        median_positions_per_second=statistics.median(sample.rate for sample in samples),
        positions_per_processor_second=total.positions / total.processor_seconds,
        games_per_second=total.games / total.seconds,
        simulations_per_second=best.simulations / best.seconds,
        evaluations_per_second=best.evaluations / best.seconds,
        evaluations_per_position=total.evaluations / positions,
        cache_hit_rate=total.cache_hits / max(1.0, total.cache_lookups),
        network_share=total.network_share / len(samples),
        cores_used=total.processor_seconds / total.seconds,
        windows=tuple(sample.rate for sample in samples),
    )


def _add_ratios(rows: list[SelfPlayRow]) -> list[SelfPlayRow]:
    """The rows; PlainZero's with their ratios to the best peer, if any was measured."""
    peers = [row for row in rows if row.is_peer and not row.missing]
    if not peers:
        return rows
    best = max(peer.positions_per_second for peer in peers)
    processor = max(peer.positions_per_processor_second for peer in peers)
    by_round = [max(rates) for rates in zip(*(peer.windows for peer in peers), strict=True)]

    def compare(row: SelfPlayRow) -> SelfPlayRow:
        pairs = zip(row.windows, by_round, strict=True)
        return dataclasses.replace(
            row,
            ratio=row.positions_per_second / best,
            median_ratio=statistics.median(own / peer for own, peer in pairs),
            processor_ratio=row.positions_per_processor_second / processor,
        )

    return [row if row.is_peer else compare(row) for row in rows]
