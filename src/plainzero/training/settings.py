"""Every setting of a run, in sections: network, search, selfplay, training, and the run's own."""

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plainzero.games.contract import Game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.networks.network_evaluators import (
    CUDA_ENGINES,
    ENGINES,
    available_engines,
    check_engine,
    choose_cuda_engine,
    choose_engine,
    has_cuda_bf16,
)
from plainzero.options import check_types, option_kinds, parse_option
from plainzero.search.config import SearchConfig, check_for_game
from plainzero.search.resolve_options import resolve
from plainzero.selfplay.config import SelfPlayConfig, check_selfplay_search, resolve_selfplay
from plainzero.selfplay.search_defaults import change_search, default_search, usual_search


@dataclass(frozen=True)
class TrainingConfig:
    """The options of learning. A zero turns off what it measures, where not said otherwise."""

    # How much data.
    generation_positions: int = 6000
    """New positions a generation: self-play makes so many, then the network learns."""
    window_start: int = 20_000
    """c of the replay window: until there are so many positions all are kept."""
    window_exponent: float = 0.75
    """α: the window then grows as c · (1 + β · ((N / c)^α − 1) / α) (KataGo: 0.75)."""
    window_share: float = 0.8
    """β of the window (KataGo: 0.4)."""
    reuse: float = 3.0
    """How often each new position is used on average."""
    max_uses: int = 12
    """A position used so often is not used again."""
    augment: bool = True
    """Turn each drawn position by one of the game's symmetries."""
    priority: float = 0.0
    """α of prioritised sampling, by the last loss of a position. 0: uniform."""
    priority_correction: float = 0.4
    """β: how far the loss makes up for that."""

    # What is learned.
    value_mix: float = 0.5
    """Share of the search's value in the value target z; the rest is the outcome."""
    value_weight: float = 1.0
    """Weight of (z − v)² beside −Σ π log p."""

    # How.
    batch_size: int = 256
    """Positions a step."""
    optimizer: Literal["adamw", "sgd"] = "adamw"
    """sgd has momentum."""
    learning_rate: float = 2e-3
    """At its highest."""
    momentum: float = 0.9
    """Of sgd."""
    weight_decay: float = 1e-4
    """Of all weights."""
    clip_norm: float = 1.0
    """Longest gradient."""
    schedule: Literal["cosine", "step", "constant"] = "cosine"
    """cosine: down to final_rate over the run. step: a tenth after half, a hundredth after 4/5."""
    final_rate: float = 0.02
    """Share of learning_rate that is left at the end of cosine."""
    warmup_steps: int = 50
    """Steps over which the rate rises at first."""
    average_decay: float = 0.995
    """Of the averaged weights (EMA), which play. 0: the latest weights play."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of the arithmetic of a step; auto takes bfloat16 where the processor has it."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense."""
        check_types(self)
        for name in ("generation_positions", "window_start", "max_uses", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        for name in ("reuse", "learning_rate", "clip_norm", "window_exponent"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be more than 0")
        for name in (
            "value_mix",
            "final_rate",
            "average_decay",
            "momentum",
            "window_share",
            "window_exponent",  # with more, the window would grow faster than the data
        ):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")
        for name in ("weight_decay", "priority", "priority_correction", "value_weight"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if self.average_decay == 1:
            raise ValueError("average_decay is 1, so the playing weights would never change")


@dataclass(frozen=True)
class RunOptions:
    """What concerns the run as a whole."""

    minutes: float = 0.0
    """Length of the whole run, on its own clock, which stands still while it is stopped. 0: no
    limit."""
    generations: int = 0
    """Generations after which it ends. 0: no limit."""
    seed: int = 0
    """Of the first weights, of self-play and of sampling."""
    threads: int = 0
    """Self-play threads, and threads of a learning step. 0: the processor's cores. With 1, and
    limited by generations, a run on the CPU is the same to the last bit whenever it is repeated or
    resumed. Nothing on a GPU."""
    device: str = "auto"
    """cpu, cuda, cuda:1 and so on; auto takes a GPU where there is one that can be used."""
    engine: str = "auto"
    """Inference engine in self-play; auto measures and keeps the fastest."""
    cache_bytes: int = 64 << 20
    """Memory of each thread's evaluation cache. 0: none."""
    gate: bool = False
    """Weights play only once they have beaten those before them (SPRT)."""
    assess_seconds: float = 60.0
    """Seconds between measurements of strength. 0: none."""
    keep_weights: int = 0
    """How many of the latest weights to keep on disk. 0: all."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense."""
        check_types(self)
        for name in option_kinds(RunOptions):
            if isinstance(getattr(self, name), str):
                continue
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it cannot be negative")


@dataclass(frozen=True)
class RunConfig:
    """All sections."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=usual_search)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    run: RunOptions = field(default_factory=RunOptions)


def default_config(game: Game) -> RunConfig:
    """The settings for a game on the CPU that nobody has changed yet."""
    return RunConfig(search=default_search(game))


def change(config: RunConfig, settings: Sequence[str]) -> RunConfig:
    """The config with `section.option=value` settings put in.

    Raises:
        ValueError: for one that there is not, or a value that makes no sense.
    """
    sections = {
        section.name: getattr(config, section.name) for section in dataclasses.fields(config)
    }
    changed: dict[str, dict[str, Any]] = {}
    for setting in settings:
        path, equals, text = setting.partition("=")
        section, dot, option = path.strip().partition(".")
        if not (equals and dot and section in sections):
            raise ValueError(
                f"{setting!r} sets nothing; write section.option=value, with a section of: "
                f"{', '.join(sections)}"
            )
        value = parse_option(type(sections[section]), option, text.strip())
        changed.setdefault(section, {})[option] = value
    replaced = {
        name: dataclasses.replace(sections[name], **options)
        for name, options in changed.items()
        if name != "search"
    }
    search = change_search(config.search, changed.get("search", {}))
    return dataclasses.replace(config, search=search, **replaced)


def measure_engine(
    config: RunConfig, game: Game, device: str = "cpu", is_asked: bool = True
) -> RunConfig:
    """The config with the fastest engine here, where that was left open.

    It is measured with drawn weights: the zeros that a new network begins with hide rounding.

    Args:
        config: resolved.
        game: the game.
        device: where the run is.
        is_asked: whether the engine was asked for; one that an earlier part of the run had on
            another device is replaced.

    Raises:
        ValueError: for an engine that is none, or that cannot run the network here.
    """
    engine = config.run.engine
    if not is_asked and engine in (CUDA_ENGINES if device == "cpu" else ENGINES):
        engine = "auto"  # a run that goes on elsewhere than it began
    if device != "cpu":
        engine = choose_cuda_engine() if engine == "auto" else engine
        if engine not in CUDA_ENGINES:
            names = ", ".join(CUDA_ENGINES)
            raise ValueError(f"a GPU has no engine {engine!r}; choose auto or one of {names}")
        if engine == "cuda-bf16" and not has_cuda_bf16():
            raise ValueError("this GPU has no bfloat16; choose the engine auto or cuda-float32")
        return dataclasses.replace(config, run=dataclasses.replace(config.run, engine=engine))
    network = draw_zeros(make_network(game, config.network, config.run.seed))
    if engine != "auto":
        check_engine(engine, network)
        return config
    engine = choose_engine(network, game, config.selfplay.games)
    return dataclasses.replace(config, run=dataclasses.replace(config.run, engine=engine))


def resolve_run(config: RunConfig, game: Game, device: str = "cpu") -> RunConfig:
    """The config with every automatic choice made that does not need measuring.

    Raises:
        ValueError: for settings that the game cannot have.
    """
    check_for_game(config.search, game)
    check_selfplay_search(config.search)
    resolve(config.search, "a network")  # refuses what does not go together
    network = resolve_network(config.network, game)
    precision, threads = config.training.precision, config.run.threads
    if precision == "auto":
        engines = available_engines(make_network(game, network, 0))
        has_bf16 = "torch-bf16" in engines if device == "cpu" else has_cuda_bf16()
        precision = "bfloat16" if has_bf16 else "float32"
    return dataclasses.replace(
        config,
        network=network,
        selfplay=resolve_selfplay(config.selfplay, game),
        training=dataclasses.replace(config.training, precision=precision),
        run=dataclasses.replace(config.run, threads=threads or len(os.sched_getaffinity(0))),
    )
