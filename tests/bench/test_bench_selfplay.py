"""`plainzero bench selfplay` with short windows: the form of the report, not its numbers."""

import json
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="self-play needs PyTorch")

from plainzero.bench.selfplay import SelfPlayRow, _add_ratios, _make_playing_network
from plainzero.bench.selfplay_contestants import (
    OwnContestant,
    OwnVariant,
    PeerContestant,
    PeerVariant,
)
from plainzero.games.registry import make_game
from plainzero.networks.network_evaluators import make_evaluator
from plainzero.networks.sample_positions import random_positions
from plainzero.search.config import SearchConfig
from plainzero.selfplay.config import SelfPlayConfig

PYTHON = Path(sys.executable)
QUICK = ("bench", "selfplay", "--repeats", "1", "--seconds", "0.05", "--games", "2")


@pytest.mark.slow
def test_the_report_has_every_row_and_says_how_to_install_missing_peers(plainzero, tmp_path):
    python = str(_bare_python(tmp_path))
    code, out, _ = plainzero(*QUICK, "--threads", "1", "--peers-python", python, "--json")
    report = json.loads(out)
    assert code == 0
    peers = [row for row in report["rows"] if row["is_peer"]]
    ours = [row for row in report["rows"] if not row["is_peer"]]
    assert [row["name"] for row in peers] == [
        "mctx + pgx, gumbel",
        "mctx + pgx, muzero",
        "OpenSpiel AlphaZero",
    ]
    for row in peers:
        assert row["missing"].startswith("not installed") and "pip install" in row["missing"]
    assert {row["backend"] for row in ours} >= {"torch"}
    for row in ours:
        assert row["simulations_per_second"] >= 0 and len(row["windows"]) == 1
        assert 0 < row["network_share"] < 1
        assert row["ratio"] is None
    assert report["settings"]["simulations"] == 64
    assert len(report["load"]) == 2


def _bare_python(folder: Path) -> Path:
    """A Python without installed packages."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    path.chmod(0o755)
    return path


def test_a_missing_python_is_refused(refused):
    sentence = refused(*QUICK, "--peers-python", "nowhere/python")
    assert "nowhere/python" in sentence and "--peers-python" in sentence


def test_our_contestant_counts_its_work():
    game = make_game("connect-four")
    network = _make_playing_network(game)
    games = SelfPlayConfig(games=8, reuse_tree=False, opening_share=0.0, end_proven=False)
    variant = OwnVariant("ours", "torch", SearchConfig(simulations=4), games)
    contestant = OwnContestant(variant, game, network, [0])
    sample = contestant.measure(3.0)
    contestant.close()
    assert sample.positions > 0 and sample.games > 0
    assert sample.simulations == 4 * sample.positions
    # A position takes four simulations and its root; a few leaves are finished games.
    assert 2 < sample.evaluations / sample.positions < 7
    assert sample.rate == pytest.approx(sample.positions / sample.seconds, rel=0.2)
    assert 0 < sample.network_share < 1
    assert sample.cache_lookups == 0


def test_outputs_of_the_network_vary():
    game = make_game("connect-four")
    evaluator = make_evaluator(_make_playing_network(game), game, "torch")
    logits, values = evaluator(random_positions(game, 256))
    assert 0.5 < logits.std() < 2.0
    assert 0.2 < np.abs(values).mean() < 0.9


def test_ratios_are_to_the_best_peer_of_each_round():
    def row(name: str, is_peer: bool, *windows: float) -> SelfPlayRow:
        best, median = max(windows), statistics.median(windows)
        return SelfPlayRow(name, is_peer, "", 1, 1, "", best, median, best, windows=windows)

    slow, fast = row("slow", True, 1.0, 2.0, 3.0), row("fast", True, 4.0, 2.0, 1.0)
    missing = SelfPlayRow("missing", True, "", 1, 1, "not installed")
    *_, ours = _add_ratios([slow, fast, missing, row("ours", False, 8.0, 8.0, 12.0)])
    assert ours.ratio == 3.0  # 12 to 4
    assert ours.median_ratio == 4.0  # of 8 to 4, 8 to 2, 12 to 3
    assert ours.processor_ratio == 3.0


def test_a_peer_that_fails_says_why():
    variant = PeerVariant("peer", "json", {}, "nothing")  # a module without make_player
    contestant = PeerContestant(variant, PYTHON, [0])
    assert contestant.missing.startswith("failed: AttributeError")


@pytest.mark.parametrize(
    ("module", "packages", "settings"),
    [
        ("mctx_pgx", ("jax", "mctx", "pgx"), {"policy": "gumbel", "batch": 2, "moves": 1}),
        ("mctx_pgx", ("jax", "mctx", "pgx"), {"policy": "muzero", "batch": 2, "moves": 1}),
        ("open_spiel_alpha_zero", ("jax", "chex", "flax", "optax", "orbax"), {"channels": 64}),
    ],
)
def test_an_installed_peer_plays(module, packages, settings, tmp_path):
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    from plainzero.bench.selfplay import _write_weights

    game = make_game("connect-four")
    _write_weights(tmp_path / "weights.npz", _make_playing_network(game), game)
    settings |= {"simulations": 2, "blocks": 4, "weights": str(tmp_path / "weights.npz")}
    contestant = PeerContestant(PeerVariant("peer", module, settings, ""), PYTHON, [0])
    assert contestant.missing == ""
    sample = contestant.measure(0.01)
    contestant.close()
    assert sample.positions >= 1 and sample.simulations == 2 * sample.positions
