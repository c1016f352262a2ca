"""Rates of PlainZero's search on a GPU, and of its network alone."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.networks.config import NetworkConfig
from plainzero.search.config import SearchConfig, Selection

if TYPE_CHECKING:
    from plainzero.networks.gpu.backend import GpuNetworkEvaluator

_ROOTS = 256  # different root positions in a batch
_PLIES = 12  # at most, of random moves before a root
_NETWORK_CALLS = 32
_OWN_KERNELS = "plainzero"  # part of the names of kernels compiled by Numba; others: the network's


class GpuRate(NamedTuple):
    """The rates of one search, best of its repeats."""

    simulations_per_second: float  # all games together
    evaluations_per_second: float  # of the network alone, one leaf per game in a batch
    network_share: float  # time of the network alone, as a share of the search's time
    network_running: float  # share of the search's time in which a network kernel runs
    backend: str  # that computed the network


def measure_search(
    game: Game,
    network_config: NetworkConfig,
    games: int,
    simulations: int,
    selection: Selection,
    repeats: int,
) -> GpuRate:
    """The rates of `games` parallel searches of `simulations` simulations, each from a new tree.

    A search is timed on the GPU from the first leaf to the last backup. The evaluation of the root
    counts towards the time but not as a simulation.

    Raises:
        ValueError: if there is no GPU.
    """
    require_gpu()
    import torch

    from plainzero.devices import choose_device
    from plainzero.networks.architectures import draw_zeros, make_network
    from plainzero.networks.gpu.backend import GpuNetworkEvaluator
    from plainzero.search.gpu.repeated_search import RepeatedSearch

    choose_device("cuda", needs_torch=True)
    network = draw_zeros(make_network(game, network_config, 0))
    evaluator = GpuNetworkEvaluator(network, game, rows=games)
    config = SearchConfig(simulations=simulations, selection=selection)
    search = RepeatedSearch(game, evaluator, config, random_roots(game, games))
    search.run()
    seconds = min(gpu_seconds(search.run) for _ in range(repeats))
    alone = time_network(evaluator, search.observations(), repeats)
    share = (simulations + 1) * alone / seconds
    running = network_running(trace_kernels(search.run))
    rate = GpuRate(
        games * simulations / seconds, games / alone, share, running, evaluator.network.name
    )
    del search, evaluator
    torch.cuda.empty_cache()
    return rate


def time_network(
    evaluator: "GpuNetworkEvaluator", observations: NDArray[np.float32], repeats: int
) -> float:
    """Seconds to evaluate all observations in one batch, with nothing else on the GPU."""
    import torch

    from plainzero.networks.gpu.graphs import record

    batch = evaluator.leaf_batch(len(observations))
    batch.planes.copy_(torch.from_numpy(observations))

    def evaluate() -> None:
        batch.run()
        batch.answer()

    evaluate()
    again = record(evaluate, evaluator.device)
    return min(gpu_seconds(again, _NETWORK_CALLS) for _ in range(repeats))


class Span(NamedTuple):
    """The time in which a kernel ran, in microseconds since the first kernel started."""

    start: float
    end: float
    name: str


def trace_kernels(work: Callable[[], object]) -> list[Span]:
    """The kernels that `work` launches, by start time. Profiling does not slow the kernels down."""
    import torch

    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        work()
        torch.cuda.synchronize()
    events = [e for e in profile.events() if e.device_type.name == "CUDA"]
    events.sort(key=lambda event: event.time_range.start)
    first = events[0].time_range.start if events else 0.0
    return [
        Span(event.time_range.start - first, event.time_range.end - first, event.name)
        for event in events
    ]


def network_running(spans: Sequence[Span]) -> float:
    """The share of the traced time in which at least one network kernel runs."""
    total, until = 0.0, 0.0
    for span in spans:
        if _OWN_KERNELS not in span.name and not span.name.startswith("Mem"):  # copies, memsets
            total += max(0.0, span.end - max(span.start, until))
            until = max(until, span.end)
    return total / max((span.end for span in spans), default=1.0)


def random_roots(game: Game, count: int) -> NDArray[Any]:
    """[count] states at various stages of random games, at most `_ROOTS` different ones."""
    random, states = np.random.default_rng(0), np.empty(count, game.dtype)
    roots = [_random_root(game, random) for _ in range(min(count, _ROOTS))]
    for row in range(count):
        states[row] = roots[row % len(roots)]
    return states


def _random_root(game: Game, random: np.random.Generator) -> Any:
    state, plies = game.new_state(), int(random.integers(_PLIES + 1))
    while state.turn < plies or state.to_play == CHANCE:
        game.apply(state, int(random.choice(game.legal(state))))
        if state.is_over:
            state = game.new_state()
    return state


def gpu_seconds(work: Callable[[], object], times: int = 1) -> float:
    """Seconds on the GPU per call of `work`, the mean of `times` calls."""
    import torch

    make_event: Any = torch.cuda.Event
    start, end = make_event(enable_timing=True), make_event(enable_timing=True)
    start.record()
    for _ in range(times):
        work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / 1000.0 / times


def require_gpu() -> str:
    """The name of the GPU.

    Raises:
        ValueError: if there is none that PyTorch can use.
    """
    import torch

    if not torch.cuda.is_available():
        raise ValueError(
            f"this needs an NVIDIA GPU and PyTorch with CUDA; PyTorch {torch.__version__} found no "
            "GPU here. Run it on a machine with a GPU"
        )
    return torch.cuda.get_device_name()
