"""What `plainzero bench selfplay` measures: searched moves a second, beside other programs.

Connect Four, 64 simulations a move, a residual network of 4 blocks × 64 channels, one thread or
process a core. All rows take turns, window by window, so that a busy moment meets all of them.
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
    OwnPlayer,
    OwnWay,
    PeerPlayer,
    PeerWay,
    Player,
    Sample,
)
from plainzero.games.contract import Game
from plainzero.games.registry import make_game
from plainzero.networks.architectures import Network, draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import choose_engine
from plainzero.networks.sample_positions import random_positions
from plainzero.search.config import SearchConfig
from plainzero.selfplay.config import SelfPlayConfig

_SIMULATIONS = 64
_NETWORK = NetworkConfig(blocks=4, channels=64)
_LOGIT_SPREAD, _VALUE_SPREAD = 1.0, 0.5  # standard deviations over positions of random play
_NOISE = 0.25  # at the root, as mctx's and OpenSpiel's defaults have it
_CACHE_BYTES = 64 << 20  # a thread
_CHOICES = 5  # of the best engine; the most frequent one counts, for a busy moment can mislead one
_MCTX_WAYS = (("gumbel", 16), ("muzero", 64))  # the batches that were fastest for it
_MCTX_INSTALL = "jax mctx pgx"
_OPEN_SPIEL_INSTALL = "open_spiel jax flax optax chex orbax-checkpoint"


@dataclass(frozen=True)
class Plan:
    """How to measure."""

    repeats: int
    seconds: float
    """Of each window."""
    games: int
    """PlainZero's, side by side in each thread."""
    threads: int
    peers_python: Path


@dataclass(frozen=True)
class Row:
    """What was measured of one player. Where it is missing, all numbers are 0."""

    name: str
    is_peer: bool
    engine: str
    threads: int
    batch: int
    missing: str
    positions_per_second: float = 0.0
    """Of the best window."""
    median_positions_per_second: float = 0.0
    positions_per_processor_second: float = 0.0
    """Of all windows; says the same on a machine that others use too."""
    games_per_second: float = 0.0
    simulations_per_second: float = 0.0
    """Of the best window, as the next one is."""
    evaluations_per_second: float = 0.0
    evaluations_per_position: float = 0.0
    cache_hit_rate: float = 0.0
    network_share: float = 0.0
    """Of the threads' time, mean of the windows. Not known of peers."""
    cores_used: float = 0.0
    ratio: float | None = None
    """Best window, over the better peer's best window."""
    median_ratio: float | None = None
    """Median over the rounds of the ratio to the better peer of that round."""
    processor_ratio: float | None = None
    """By positions a processor second."""
    windows: tuple[float, ...] = ()
    """Positions a second of each."""


@dataclass(frozen=True)
class Report:
    """All rows, and where they were measured."""

    machine: dict[str, Any]
    versions: dict[str, str]
    settings: dict[str, Any]
    load: list[float]
    """Average over the last minute, before and after."""
    rows: list[Row]

    def as_dict(self) -> dict[str, Any]:
        """As plain dictionaries and lists."""
        return asdict(self)


def measure_selfplay(plan: Plan, console: Console) -> Report:
    """Measures every row, with a progress bar on `console`.

    Raises:
        BadInput: when the peers' Python cannot be run.
    """
    require_python(plan.peers_python)
    load = [os.getloadavg()[0]]
    with ExitStack() as stack, Progress(console=console, transient=True) as progress:
        task = progress.add_task("compiling", total=plan.repeats + 1)
        players = stack.enter_context(_all_players(plan))
        samples: list[list[Sample]] = [[] for _ in players]
        for _ in range(plan.repeats):
            progress.advance(task)
            for player, own in zip(players, samples, strict=True):
                progress.update(task, description=player.name)
                if not player.missing:
                    own.append(player.measure(plan.seconds))
    found = versions() | {"torch": torch.__version__}
    for player in players:
        found |= getattr(player, "versions", {})
    settings = asdict(plan) | {"simulations": _SIMULATIONS, "network": asdict(_NETWORK)}
    settings["peers_python"] = str(plan.peers_python)
    rows = _add_ratios([_make_row(p, s, plan) for p, s in zip(players, samples, strict=True)])
    return Report(machine(), found, settings, [*load, os.getloadavg()[0]], rows)


@contextmanager
def _all_players(plan: Plan) -> Iterator[list[Player]]:
    """Everyone, ready to play; ends what they started."""
    game = make_game("connect-four")
    network = _make_playing_network(game)
    cores = _choose_cores(plan.threads)
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights.npz"
        _write_weights(weights, network, game)
        players: list[Player] = []
        for peer in _peer_ways(weights):
            players.append(PeerPlayer(peer, plan.peers_python, cores))
            stack.callback(players[-1].close)
        for own in _own_ways(plan, game, network):
            players.append(OwnPlayer(own, game, network, cores))
            stack.callback(players[-1].close)
        yield players


def _choose_cores(threads: int) -> list[int]:
    """One core a thread, as far as there are cores."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(threads))
    cores = sorted(os.sched_getaffinity(0))
    return [cores[number % len(cores)] for number in range(threads)]


def _make_playing_network(game: Game) -> Network:
    """Random weights everywhere, those that begin at zero too, so that games look like games."""
    network = draw_zeros(make_network(game, _NETWORK, seed=0))
    with torch.no_grad():
        planes = torch.from_numpy(random_positions(game, 512))
        features = network.body(planes)
        heads: Any = ((network.policy, _LOGIT_SPREAD), (network.value, _VALUE_SPREAD))
        for head, spread in heads:
            head[-1].weight *= spread / head(features).std()
    return network


def _write_weights(path: Path, network: Network, game: Game) -> None:
    arrays: dict[str, Any] = {name: array.numpy() for name, array in network.state_dict().items()}
    np.savez(path, board=np.array(game.observation_shape[1:]), **arrays)


def _peer_ways(weights: Path) -> list[PeerWay]:
    common = {"simulations": _SIMULATIONS, "blocks": _NETWORK.blocks}
    ways = [
        PeerWay(
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
        for policy, batch in _MCTX_WAYS
    ]
    settings = {**common, "channels": _NETWORK.channels}
    alpha_zero = "open_spiel_alpha_zero"
    return [*ways, PeerWay("OpenSpiel AlphaZero", alpha_zero, settings, _OPEN_SPIEL_INSTALL)]


def _own_ways(plan: Plan, game: Game, network: Network) -> list[OwnWay]:
    """Plain does what the peers do; the others have proofs and the cache.

    With kept trees, 64 visits count those that a move's search left to the next one.
    """
    plain = SearchConfig(simulations=_SIMULATIONS, noise_weight=_NOISE)
    kept = dataclasses.replace(plain, simulations=0, visits=_SIMULATIONS, proven_values=True)
    gumbel = SearchConfig(simulations=_SIMULATIONS, selection="gumbel", proven_values=True)
    games = SelfPlayConfig(games=plan.games, opening_share=0.0, reuse_tree=False)
    whole_games = dataclasses.replace(games, end_proven=False)
    kept_games = dataclasses.replace(games, reuse_tree=True)
    ways = []
    chosen = [choose_engine(network, game, plan.games) for _ in range(_CHOICES)]
    for engine in dict.fromkeys(("torch", statistics.mode(chosen))):
        ways += [
            OwnWay("plainzero, plain", engine, plain, whole_games),
            OwnWay("plainzero, gumbel", engine, gumbel, games, _CACHE_BYTES),
            OwnWay("plainzero, kept trees", engine, kept, kept_games, _CACHE_BYTES),
        ]
    return ways


def _make_row(player: Player, samples: list[Sample], plan: Plan) -> Row:
    row = Row(
        name=player.name,
        is_peer=isinstance(player, PeerPlayer),
        engine=player.engine,
        threads=plan.threads,
        batch=player.batch,
        missing=player.missing,
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


def _add_ratios(rows: list[Row]) -> list[Row]:
    """The rows, those of PlainZero beside the better peer where one was measured."""
    peers = [row for row in rows if row.is_peer and not row.missing]
    if not peers:
        return rows
    best = max(peer.positions_per_second for peer in peers)
    processor = max(peer.positions_per_processor_second for peer in peers)
    by_round = [max(rates) for rates in zip(*(peer.windows for peer in peers), strict=True)]

    def compare(row: Row) -> Row:
        pairs = zip(row.windows, by_round, strict=True)
        return dataclasses.replace(
            row,
            ratio=row.positions_per_second / best,
            median_ratio=statistics.median(own / peer for own, peer in pairs),
            processor_ratio=row.positions_per_processor_second / processor,
        )

    return [row if row.is_peer else compare(row) for row in rows]
