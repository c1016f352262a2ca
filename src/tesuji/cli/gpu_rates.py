"""How fast Tesuji searches on the GPU, and how fast its network is there alone."""

from typing import NamedTuple

from tesuji.games.contract import Game
from tesuji.networks.config import NetworkConfig
from tesuji.search.config import Selection


class GpuRate(NamedTuple):
    """What was measured of one search, best of its repeats."""

    simulations_per_second: float  # all games together
    evaluations_per_second: float  # of the network alone, a batch of one leaf of every game
    network_share: float  # of the search's time
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

    Raises:
        ValueError: when there is no GPU.
    """
    require_gpu()
    raise ValueError(
        "the search with a network on a GPU is not there yet; wait for a later version"
    )


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
