"""`plainzero bench gpu`: reports of made-up rates, error messages, and the peer at tiny sizes."""

import io
import os
import sys
from pathlib import Path

import pytest
from rich.console import Console

from plainzero.bench import gpu_search as bench_gpu
from plainzero.bench.gpu_rates import GpuRate, Span, network_running
from plainzero.bench.gpu_search import (
    WORKLOADS,
    GpuBenchOptions,
    GpuReport,
    GpuWorkload,
    as_markdown,
    make_request,
    make_row,
    measure_gpu,
    measure_peer,
)
from plainzero.bench.peer_process import RequestPeer

PYTHON = Path(sys.executable)
OURS = GpuRate(13.2e6, 13.9e6, 0.96, 0.99, "fused bf16")
THEIRS = {
    "simulations_per_second": 4.4e6,
    "evaluations_per_second": 9e6,
    "network_share": 0.5,
    "versions": {"jax": "0.11.2"},
    "device": "NVIDIA H200",
    "platform": "gpu",
}
RATES = ("simulations_per_second", "evaluations_per_second", "network_share")


def has_gpu() -> bool:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return bool(torch.cuda.is_available())


def test_a_row_has_both_rates_and_their_ratio():
    row = make_row(WORKLOADS[0], OURS, THEIRS)
    assert row.work == "Connect Four 4×64, 16,384 × 64 PUCT"
    assert row.ratio == pytest.approx(3.0)
    assert (row.simulations_per_second, row.peer_simulations_per_second) == (13.2e6, 4.4e6)
    assert (row.network_share, row.peer_network_share) == (0.96, 0.5)
    assert (row.backend, row.missing) == ("fused bf16", "")


def test_a_failed_peer_leaves_a_reason_and_no_ratio():
    row = make_row(WORKLOADS[0], OURS, {"failed": "out of memory"})
    assert row.missing == "out of memory"
    assert row.ratio is None and row.peer_simulations_per_second is None


def test_the_markdown_has_one_line_per_row_and_each_reason_once():
    failed = {"failed": "out of memory"}
    rows = [make_row(work, OURS, failed if work.games == 16_384 else None) for work in WORKLOADS]
    rows[0] = make_row(WORKLOADS[0], OURS, THEIRS)
    text = as_markdown(GpuReport("2026-11-16", "NVIDIA H200", {}, {"torch": "2.11"}, 5, rows))
    assert "--repeats 5" in text and "2026-11-16, one NVIDIA H200; torch 2.11." in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(WORKLOADS)
    assert {line.count("|") for line in table} == {8}
    assert table[2].endswith("| 13.20 M | 13.90 M | 96% | 99% | 4.40 M (50%) | 3.0 |")
    assert text.count("out of memory") == 1


def test_workloads_that_do_not_fit_are_skipped_with_the_reason(monkeypatch):
    def measure(work, repeats):
        if work.games == 16_384:
            raise ValueError("16,384 trees do not fit")
        return OURS

    monkeypatch.setattr(bench_gpu, "require_gpu", lambda: "a small GPU")
    monkeypatch.setattr(bench_gpu, "measure_own", measure)
    report = measure_gpu(GpuBenchOptions(1, None), Console(file=io.StringIO()))
    large = [work.name for work in WORKLOADS if work.games == 16_384]
    assert list(report.left_out) == large and len(report.rows) == len(WORKLOADS) - len(large)
    assert as_markdown(report).count("16,384 trees do not fit") == len(large)
    monkeypatch.setattr(bench_gpu, "WORKLOADS", WORKLOADS[:1])
    with pytest.raises(ValueError, match="do not fit"):
        measure_gpu(GpuBenchOptions(1, None), Console(file=io.StringIO()))


def test_the_network_runs_while_any_of_its_kernels_does():
    spans = [
        Span(0.0, 10.0, "_ZN6plainzero6search4cuda10play_round"),
        Span(10.0, 40.0, "evaluate_tower"),
        Span(15.0, 20.0, "read_heads"),  # at the same time as the tower: counts once
        Span(30.0, 50.0, "read_heads"),
        Span(50.0, 60.0, "Memset (Device)"),
        Span(60.0, 70.0, "evaluate_tower"),
        Span(65.0, 100.0, "_ZN6plainzero6search4cuda10play_round"),
    ]
    assert network_running(spans) == pytest.approx(0.5)
    assert network_running([]) == 0.0


def test_every_connect_four_workload_has_a_peer_with_the_same_settings():
    for work in WORKLOADS:
        assert work.has_peer == (work.game == "connect-four")
    request = make_request(GpuWorkload("connect-four", 8_192, 256, "puct", 6, 128), 3)
    assert request["policy"] == "muzero"
    assert (request["games"], request["simulations"]) == (8_192, 256)
    assert (request["blocks"], request["channels"], request["dtype"]) == (6, 128, "bfloat16")


def test_without_a_gpu_the_error_says_what_is_needed(refused):
    if has_gpu():
        pytest.skip("there is a GPU")
    assert "needs an NVIDIA GPU" in refused("bench", "gpu", "--no-peers")


@pytest.mark.parametrize(
    "options", [("--json", "--markdown"), ("--no-peers", "--peers-python", "python")]
)
def test_options_that_exclude_each_other_are_refused(refused, options):
    assert "exclude each other" in refused("bench", "gpu", *options)


def test_a_missing_peer_says_how_to_install_it(tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    peer = RequestPeer("mctx_pgx_search", bare, "jax mctx pgx")
    peer.close()
    found = measure_peer(peer, WORKLOADS[0], 1)
    assert found["failed"].startswith("not installed")
    assert found["failed"].endswith("pip install jax mctx pgx")
    assert measure_peer(peer, WORKLOADS[-1], 1) is None
    assert measure_peer(None, WORKLOADS[0], 1) is None


def test_the_error_of_a_peer_that_exits_is_reported(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho starting >&2\necho no such driver >&2\nexit 1\n")
    broken.chmod(0o755)
    peer = RequestPeer("mctx_pgx_search", broken, "")
    assert peer.missing == "failed: its process exited (no such driver)"
    assert "its process exited" in peer.ask({})["failed"]
    peer.close()


@pytest.fixture(scope="module")
def installed_peer():
    """mctx + pgx on the CPU; each request is compiled when it arrives."""
    for package in ("jax", "mctx", "pgx"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_PLATFORMS", "cpu")
        peer = RequestPeer("mctx_pgx_search", PYTHON, "")
    assert "JAX_PLATFORMS" not in os.environ
    yield peer
    peer.close()


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_an_installed_peer_searches(installed_peer, selection):
    assert (installed_peer.missing, installed_peer.platform) == ("", "cpu")
    assert set(installed_peer.versions) == {"jax", "mctx", "pgx"}
    work = GpuWorkload("connect-four", 4, 2, selection, 1, 8)
    found = installed_peer.ask(make_request(work, 2))
    assert set(found) == set(THEIRS)
    assert all(found[name] > 0 for name in RATES)
    assert (found["versions"], found["device"]) == (installed_peer.versions, "cpu")


def test_an_installed_peer_on_the_cpu_is_not_measured_as_a_gpu(installed_peer):
    assert "no GPU" in measure_peer(installed_peer, WORKLOADS[0], 1)["failed"]


def test_an_installed_peer_continues_after_a_failed_request(installed_peer):
    good = make_request(GpuWorkload("connect-four", 2, 1, "puct", 1, 8), 1)
    assert installed_peer.ask(good | {"policy": "nothing"})["failed"].startswith("KeyError")
    assert set(installed_peer.ask(good)) == set(THEIRS)
