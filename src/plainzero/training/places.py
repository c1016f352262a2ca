"""Where a run does its work: what learns and what plays, on the CPU or on a GPU."""

from typing import TYPE_CHECKING, Any

from plainzero.devices import torch_device
from plainzero.games.contract import Game
from plainzero.training.generator import Generator
from plainzero.training.learner import Learner
from plainzero.training.replay import Replay
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig, TrainingConfig

if TYPE_CHECKING:
    from plainzero.selfplay.gpu.compile_processes import Compilers
    from plainzero.training.device_replay import DeviceReplay
    from plainzero.training.gpu.generator import DeviceGenerator
    from plainzero.training.gpu.learner import DeviceLearner

    AnyLearner = Learner | DeviceLearner
    AnyReplay = Replay | DeviceReplay
    AnyGenerator = Generator | DeviceGenerator


def make_learner(network: Any, config: TrainingConfig, device: str, threads: int) -> "AnyLearner":
    """What takes gradient steps."""
    if device == "cpu":
        return Learner(network, config, threads)
    from plainzero.training.gpu.learner import DeviceLearner

    return DeviceLearner(network, config, torch_device(device))


def make_replay(game: Game, config: TrainingConfig, device: str) -> "AnyReplay":
    """What is learned from."""
    if device == "cpu":
        return Replay(game, config)
    from plainzero.training.device_replay import DeviceReplay

    return DeviceReplay(game, config, torch_device(device))


def make_generator(
    folder: RunFolder,
    config: RunConfig,
    game: Game,
    network: Any,
    device: str,
    threads: int,
    compilers: "Compilers | None",
) -> "AnyGenerator":
    """What plays games."""
    if device == "cpu":
        return Generator(folder, config, game, network, threads)
    from plainzero.training.gpu.generator import DeviceGenerator

    return DeviceGenerator(folder, config, game, network, torch_device(device), compilers)
