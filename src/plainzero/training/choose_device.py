"""Chooses the device of a run, and what plays and learns there."""

from collections.abc import Sequence

from torch import nn

from plainzero.devices import choose_device, torch_device
from plainzero.games.contract import Game
from plainzero.networks.architectures import Network
from plainzero.training.generator import CpuGenerator
from plainzero.training.interfaces import Compilers, Generator, Learner, Replay
from plainzero.training.learner import CpuLearner
from plainzero.training.losses import new_extra_heads
from plainzero.training.replay import ReplayWindow
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import RunConfig, TrainingConfig, change, default_config


def device_of_settings(settings: Sequence[str], game: Game) -> str:
    """The device of a new run with these settings; see `choose_training_device`."""
    about_run = [setting for setting in settings if setting.strip().startswith("run.")]
    return choose_training_device(change(RunConfig(), about_run).run.device, game)


def choose_training_device(asked: str, game: Game) -> str:
    """The device for a request; see `choose_device`. Rules that no GPU runs are for the CPU.

    Raises:
        ValueError: if the device is unavailable; says why, and what to do.
    """
    if not game.runs_on_gpu and asked != "cpu":
        if asked != "auto":
            raise ValueError(f"the rules of {game.name} do not run on a GPU; choose device cpu")
        return "cpu"
    return choose_device(asked, needs_torch=True)


def new_config(game: Game, device: str, settings: Sequence[str] = ()) -> RunConfig:
    """The settings of a new run on a device: its defaults, changed by those given.

    Raises:
        ValueError: for an unknown setting, or an invalid value.
    """
    if device == "cpu":
        config = change(default_config(game), settings)
        if config.run.gpu_share != 1:
            raise ValueError("run.gpu_share has an effect only on a GPU")
        return config
    from plainzero.training.gpu.defaults import gpu_config

    return gpu_config(game, device, settings)


def make_learner(
    game: Game, network: Network, config: RunConfig, device: str, threads: int
) -> Learner:
    """The learner for a device; `threads` are those of a learner on the CPU."""
    heads = new_extra_heads(game, network, config.training, config.run.seed)
    if device == "cpu":
        return CpuLearner(network, config.training, threads, heads)
    from plainzero.training.gpu.learner import GpuLearner

    return GpuLearner(network, config.training, torch_device(device), heads=heads)


def make_replay(game: Game, config: TrainingConfig, device: str) -> Replay:
    """An empty replay on a device."""
    tensors_on = torch_device(device)
    if tensors_on == "cpu":
        return ReplayWindow(game, config)
    from plainzero.selfplay.gpu.worker import observe_rows

    return ReplayWindow(game, config, tensors_on, observe_rows)


def make_generator(
    folder: RunFolder,
    config: RunConfig,
    game: Game,
    network: nn.Module,
    device: str,
    threads: int,
    compilers: Compilers | None,
) -> Generator:
    """The generator for a device; `threads` are those of one on the CPU."""
    if device == "cpu":
        return CpuGenerator(folder, config, game, network, threads)
    from plainzero.training.gpu.generator import GpuGenerator

    return GpuGenerator(folder, config, game, network, torch_device(device), compilers)
