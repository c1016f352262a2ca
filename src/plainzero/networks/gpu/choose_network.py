"""Which implementation of a network is fastest on a GPU, measured once and cached in a file.

The choice depends on the GPU model, the network, the batch size and the versions of all of them.
"""

import functools
import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from plainzero.atomic_files import cache_folder, write_whole
from plainzero.games.contract import Game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.gpu.cudnn_network import (
    CudnnNetwork,
    can_fuse_convolutions,
)
from plainzero.networks.gpu.eager_network import EagerNetwork
from plainzero.networks.gpu.fused_network import FusedNetwork, can_fuse_network, make_fused_network
from plainzero.networks.gpu.gpu_network import GpuNetwork
from plainzero.networks.gpu.graphs import record

TOLERANCE = 0.02
"""Root mean square by which bfloat16 may differ from float32, in logits and in values."""

_log = logging.getLogger("plainzero")
_TIMED_CALLS = 20


def choose_network(
    network: Any, game: Game, device: torch.device, dtype: torch.dtype, rows: int
) -> GpuNetwork:
    """The fastest implementation for the network, from the cache file if it was measured before."""
    makers = _makers(network, device, dtype, rows)
    if len(makers) == 1:
        return makers[EagerNetwork.name](network)
    key = _key(network, game, device, rows)
    name = _read_cache().get(key, "")
    if name not in makers:
        planes = torch.rand((rows, *game.observation_shape), device=device)
        name = _fastest(makers, draw_zeros(make_network(game, network.config, 0)), planes)
        _write_cache(key, name)
    return makers[name](network)


def _makers(
    network: Any, device: torch.device, dtype: torch.dtype, rows: int
) -> dict[str, Callable[[Any], GpuNetwork]]:
    """Factories of the implementations that can run the network; PyTorch's own is the last."""
    makers: dict[str, Callable[[Any], GpuNetwork]] = {}
    if dtype == torch.bfloat16 and can_fuse_convolutions(network, device):
        if can_fuse_network(network, device):
            makers[FusedNetwork.name] = lambda network: make_fused_network(network, device, rows)
        makers[CudnnNetwork.name] = lambda network: CudnnNetwork(network, device)
    makers[EagerNetwork.name] = lambda network: EagerNetwork(network, device, dtype)
    return makers


def _fastest(makers: dict[str, Callable[[Any], GpuNetwork]], drawn: Any, planes: Tensor) -> str:
    """The fastest implementation that agrees with float32; PyTorch's own if there is none.

    PyTorch's own is not timed if there is another: it launches the same convolutions, and more.
    The weights are random, not the network's: the zeros of a new network hide errors, and a trained
    network's output for random planes is so large that bfloat16 alone is off by four times the
    tolerance.
    """
    seconds: dict[str, float] = {}
    with torch.no_grad():
        expected = EagerNetwork(drawn, planes.device, torch.float32)(planes)
        for name, make in makers.items():
            if name == EagerNetwork.name and seconds:
                continue
            try:
                candidate = make(drawn)
            except (RuntimeError, ValueError, ImportError) as error:
                _log.warning("the GPU network %s is not available here: %s", name, error)
                continue
            gaps = [a - b for a, b in zip(candidate(planes), expected, strict=True)]
            worst = max(float(gap.square().mean().sqrt()) for gap in gaps)
            if worst <= TOLERANCE:
                seconds[name] = _time(candidate, planes)
            else:
                _log.warning("the GPU network %s is off by %.3g here: not used", name, worst)
    return min(seconds, key=lambda name: seconds[name], default=EagerNetwork.name)


def _time(network: GpuNetwork, planes: Tensor) -> float:
    """Milliseconds per call, as part of a graph."""

    def call() -> None:
        network(planes)

    with torch.no_grad():
        call()
        again = record(call, planes.device)
        make_event: Any = torch.cuda.Event
        start, end = make_event(enable_timing=True), make_event(enable_timing=True)
        again()
        start.record()
        for _ in range(_TIMED_CALLS):
            again()
        end.record()
        end.synchronize()
    return float(start.elapsed_time(end)) / _TIMED_CALLS


def _key(network: Any, game: Game, device: torch.device, rows: int) -> str:
    """What the choice depends on."""
    about = (
        torch.cuda.get_device_name(device),
        torch.__version__,
        network.config,
        tuple(game.observation_shape),
        game.num_actions,
        rows,
        _digest_of_kernels(),
    )
    return " | ".join(map(str, about))


@functools.cache
def _digest_of_kernels() -> str:
    """A digest of the sources on which the choice depends."""
    folder = Path(__file__).parent
    sources = sorted([*folder.glob("*.cu"), *folder.glob("*.py")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def _cache_file() -> Path:
    return cache_folder() / "fastest_gpu_networks.json"


def _read_cache() -> dict[str, str]:
    try:
        found = json.loads(_cache_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_cache(key: str, name: str) -> None:
    try:
        _cache_file().parent.mkdir(parents=True, exist_ok=True)
        known = {**_read_cache(), key: name}
        write_whole(_cache_file(), json.dumps(known, indent=1).encode())
    except OSError:
        return  # the next start measures again
