"""How fast PlainZero searches on the GPU, and how fast its network is there alone."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.networks.config import NetworkConfig
from plainzero.search.config import SearchConfig, Selection

_ROOTS = 256  # different positions from which the games of a batch are searched
_PLIES = 12  # random moves before them, at most
_NETWORK_CALLS = 32
_OWN_KERNELS = (
    "plainzero"  # in the names of those that Numba compiled; the others are the network's
)


class GpuRate(NamedTuple):
    """What was measured of one search, best of its repeats."""

    simulations_per_second: float  # all games together
    evaluations_per_second: float  # of the network alone, a batch of one leaf of every game
    network_share: float  # what the network alone would need of the search's time
    network_running: float  # the part of that time in which a kernel of the network runs
    engine: str  # how the network was computed


def measure_search(
    game: Game,
    network_config: NetworkConfig,
    games: int,
    simulations: int,
    selection: Selection,
    repeats: int,
) -> GpuRate:
    """The rates of `games` searches side by side, each of so many simulations from a new tree.

    A search is timed on the GPU from the first leaf to the last backup; its root's evaluation
    counts as time but not as a simulation.

    Raises:
        ValueError: when there is no GPU.
    """
    require_gpu()
    import torch

    from plainzero.devices import choose_device
    from plainzero.networks.architectures import draw_zeros, make_network
    from plainzero.networks.gpu.backend import CudaEvaluator
    from plainzero.search.gpu.runner import DeviceSearch

    choose_device("cuda", needs_torch=True)
    network = draw_zeros(make_network(game, network_config, 0))
    evaluator = CudaEvaluator(network, game, rows=games)
    config = SearchConfig(simulations=simulations, selection=selection)
    search = DeviceSearch(game, evaluator, config, drawn_positions(game, games))
    search.run()
    seconds = min(timed(search.run) for _ in range(repeats))
    alone = time_network(evaluator, search.observations(), repeats)
    share = (simulations + 1) * alone / seconds
    running = network_running(trace_kernels(search.run))
    rate = GpuRate(
        games * simulations / seconds, games / alone, share, running, evaluator.form.name
    )
    del search, evaluator
    torch.cuda.empty_cache()
    return rate


def time_network(evaluator: Any, observations: NDArray[np.float32], repeats: int) -> float:
    """Seconds of one evaluation of all of them, alone on the GPU."""
    import torch

    from plainzero.networks.gpu.backend import record

    batch = evaluator.device_batch(len(observations))
    batch.planes.copy_(torch.from_numpy(observations))

    def evaluate() -> None:
        batch.run()
        batch.answer()

    evaluate()
    again = record(evaluate, evaluator.device)
    return min(timed(again, _NETWORK_CALLS) for _ in range(repeats))


class Span(NamedTuple):
    """When a kernel ran, in microseconds since the first one began."""

    start: float
    end: float
    name: str


def trace_kernels(work: Any) -> list[Span]:
    """What `work` started on the GPU, in order; looking takes time, but not on the GPU's clock."""
    import torch

    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        work()
        torch.cuda.synchronize()
    events = [e for e in profile.events() if e.device_type.name == "CUDA"]
    events.sort(key=lambda event: event.time_range.start)
    begun = events[0].time_range.start if events else 0.0
    return [
        Span(event.time_range.start - begun, event.time_range.end - begun, event.name)
        for event in events
    ]


def network_running(spans: Sequence[Span]) -> float:
    """The part of the time from the first span to the end in which one of the network's runs."""
    total, until = 0.0, 0.0
    for span in spans:
        if _OWN_KERNELS not in span.name and not span.name.startswith("Mem"):  # copies, zeroing
            total += max(0.0, span.end - max(span.start, until))
            until = max(until, span.end)
    return total / max((span.end for span in spans), default=1.0)


def drawn_positions(game: Game, count: int) -> NDArray[Any]:
    """[count] positions at various stages, of `_ROOTS` different random beginnings."""
    random, states = np.random.default_rng(0), np.empty(count, game.dtype)
    drawn = [_drawn_position(game, random) for _ in range(min(count, _ROOTS))]
    for row in range(count):
        states[row] = drawn[row % len(drawn)]
    return states


def _drawn_position(game: Game, random: np.random.Generator) -> Any:
    state, plies = game.new_state(), int(random.integers(_PLIES + 1))
    while state.turn < plies or state.to_play == CHANCE:
        game.apply(state, int(random.choice(game.legal(state))))
        if state.is_over:
            state = game.new_state()
    return state


def timed(work: Any, times: int = 1) -> float:
    """Seconds on the GPU between the beginning and the end of what `work` starts there, each."""
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
        ValueError: when there is none that PyTorch can use.
    """
    import torch

    if not torch.cuda.is_available():
        raise ValueError(
            f"this needs an NVIDIA GPU and a PyTorch with CUDA, and PyTorch {torch.__version__} "
            "finds none here: run it on a machine that has one"
        )
    return torch.cuda.get_device_name()
