"""Every setting of a run, in sections: network, search, selfplay, training and run."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plainzero.games.contract import Game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig, resolve_network
from plainzero.networks.network_evaluators import (
    CPU_BACKENDS,
    GPU_BACKENDS,
    available_backends,
    check_backend,
    choose_backend,
    choose_gpu_backend,
    has_gpu_bf16,
)
from plainzero.operating_system import available_cores
from plainzero.options import check_is_used, check_types, option_kinds, parse_option
from plainzero.search.config import SearchConfig, check_for_game
from plainzero.search.resolve_options import resolve
from plainzero.selfplay.config import SelfPlayConfig, check_selfplay_search, resolve_selfplay
from plainzero.selfplay.search_defaults import change_search, default_search, usual_search
from plainzero.targets.all_targets import TARGETS, chosen_targets
from plainzero.targets.short_values import parse_horizons
from plainzero.targets.target import USUAL_CHOICE, Choice


@dataclass(frozen=True)
class TrainingConfig:
    """The options of learning. 0 turns an option off, unless it says otherwise."""

    # Data.
    generation_positions: int = 6000
    """New positions per generation: self-play makes them, then the network learns."""
    window_start: int = 20_000
    """c of the replay window, which keeps all positions up to this number."""
    window_exponent: float = 0.75
    """α: beyond, it keeps c · (1 + β · ((N / c)^α − 1) / α) of N positions (KataGo: 0.75)."""
    window_share: float = 0.8
    """β of the window (KataGo: 0.4)."""
    reuse: float = 3.0
    """Average number of times that each position is used."""
    max_uses: int = 12
    """Most times that a position is used."""
    augment: bool = True
    """Transform each drawn position by a random symmetry of the game."""
    priority: float = 0.0
    """α of prioritised sampling by the last loss of a position. 0: uniform sampling."""
    priority_correction: float = 0.4
    """β: how far weights in the loss correct for priorities."""

    # Targets.
    value_mix: float = 0.5
    """Share of the search's value in the value target z; the rest is the game's outcome."""
    value_weight: float = 1.0
    """Weight of the value loss (z − v)² beside the policy loss −Σ π log p."""
    short_values: float = 0.0
    """Weight of learning averages of the search's values in the turns to come (KataGo)."""
    short_horizons: str = "4,16"
    """How many turns they look ahead on average (KataGo on 19×19: 6, 20 and 63)."""
    reply: float = 0.0
    """Weight of learning the policy of the opponent's next move (KataGo: 0.15)."""
    score: float = 0.0
    """Weight of learning the final score (KataGo), in games that have one."""
    ownership: float = 0.0
    """Weight of learning who holds each cell at the end (KataGo: 1.5), in games that say so."""
    surprise: float = 0.0
    """Share of a game's weight given to its positions by how much the search's policy differs from
    the network's (KataGo: 0.5)."""
    soft_policy: float = 0.0
    """Weight of learning π^(1/4) with a head of its own (KataGo: 8)."""
    reanalyse: float = 0.0
    """Old positions searched again with the newest weights before each generation's steps, per new
    position (MuZero Reanalyse). On the CPU only."""

    # Steps.
    batch_size: int = 256
    """Positions per step."""
    optimizer: Literal["adamw", "sgd"] = "adamw"
    """AdamW, or SGD with momentum."""
    learning_rate: float = 2e-3
    """Highest learning rate."""
    momentum: float = 0.9
    """Momentum of sgd."""
    weight_decay: float = 1e-4
    """Weight decay, of all weights."""
    clip_norm: float = 1.0
    """Norm to which longer gradients are clipped."""
    schedule: Literal["cosine", "step", "constant"] = "cosine"
    """cosine: down to final_rate over the run. step: a tenth after half of the run, a hundredth
    after 4/5."""
    final_rate: float = 0.02
    """Share of learning_rate at the end of cosine."""
    warmup_steps: int = 50
    """Steps in which the rate rises from 0 to learning_rate; it never rises faster, also when a
    run is resumed with a later end."""
    average_decay: float = 0.995
    """Decay of the averaged weights (EMA), which play. 0: the latest weights play."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Arithmetic of a step. auto: bfloat16 if the processor supports it."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense, and options that another one would ignore."""
        check_types(self)
        check_is_used(self, "momentum", "optimizer=sgd", self.optimizer == "sgd")
        check_is_used(self, "final_rate", "schedule=cosine", self.schedule == "cosine")
        check_is_used(self, "priority_correction", "priority > 0", self.priority > 0)
        check_is_used(self, "short_horizons", "short_values > 0", self.short_values > 0)
        parse_horizons(self.short_horizons)
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
            "surprise",
            "window_exponent",  # above 1 the window would grow faster than the data
        ):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")
        weights = (target.option for target in TARGETS if target.option)
        corrections = ("priority", "priority_correction")
        for name in ("weight_decay", "warmup_steps", "reanalyse", *corrections, *weights):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if self.average_decay == 1:
            raise ValueError("average_decay is 1, so the playing weights would never change")


def choice_of(config: TrainingConfig) -> Choice:
    """The usual targets, and those that have a weight."""
    more = (t.name for t in TARGETS if t.option and getattr(config, t.option) > 0)
    names = tuple(dict.fromkeys((*USUAL_CHOICE.names, *more)))
    horizons = parse_horizons(config.short_horizons) if "short_values" in names else ()
    return Choice(names, horizons)


@dataclass(frozen=True)
class RunOptions:
    """The options of the run as a whole."""

    minutes: float = 0.0
    """Length of the whole run by its own clock, which is paused while the run is stopped. 0: no
    limit."""
    generations: int = 0
    """Generations of the whole run. 0: no limit."""
    seed: int = 0
    """Random seed of the first weights, of self-play and of sampling."""
    threads: int = 0
    """Threads of self-play and of learning steps on the CPU; a GPU uses none of them. 0: one per
    core. 1: a run limited by generations is bit-for-bit reproducible."""
    device: str = "auto"
    """cpu, cuda, cuda:1 and so on. auto: a GPU if one can be used."""
    gpu_share: float = 1.0
    """Share of the GPU for which the defaults of a new run are chosen: of its free memory and of
    the usual number of concurrent games. For several runs on one GPU."""
    backend: str = "auto"
    """Backend of self-play; auto measures and keeps the fastest."""
    cache_bytes: int = 64 << 20
    """Bytes of each CPU thread's evaluation cache; a GPU has none. 0: no cache."""
    gate: bool = False
    """New weights play only after beating those that play (SPRT)."""
    assess_seconds: float = 60.0
    """Seconds between measurements of strength. 0: none are made."""
    init: str = ""
    """A run's folder, or a file of weights, from which a new run starts. The board's size may
    differ if the network's heads follow the board. Empty: random weights."""
    keep_weights: int = 0
    """Number of latest weights to keep on disk. 0: all."""

    def __post_init__(self) -> None:
        """Refuses invalid values."""
        check_types(self)
        for name in option_kinds(RunOptions):
            if isinstance(getattr(self, name), str):
                continue
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if not 0 < self.gpu_share <= 1:
            raise ValueError(f"gpu_share is {self.gpu_share}; it must be more than 0, at most 1")


@dataclass(frozen=True)
class RunConfig:
    """The settings of a run, by section."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=usual_search)
    selfplay: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    run: RunOptions = field(default_factory=RunOptions)


def default_config(game: Game, device: str = "cpu", games: int = 0) -> RunConfig:
    """The default settings for a game, chosen by what it shows of itself and by the device.

    | chosen | by |
    | --- | --- |
    | search | device; the most legal moves seen in random games; players; chance, for proofs |
    | random openings | the length of random games; none for one player |
    | network | the observation: residual for planes; heads that follow the board if actions do |
    | values | the number of players |
    | size of the network, temperature, generation, window, batch | device; concurrent games |

    What is `auto` or -1 here is resolved by `resolve_run`.

    Args:
        game: the game.
        device: cpu, or a GPU. There games are many and start at random, so that they need little
            further randomness: moves closer to the best ones make outcomes closer to the truth.
        games: concurrent games on a GPU.
    """
    search = default_search(game, device)
    if device == "cpu":
        return RunConfig(search=search)
    is_board = resolve_network(NetworkConfig(), game).kind == "residual"
    return RunConfig(
        network=NetworkConfig(blocks=8, channels=64) if is_board else NetworkConfig(),
        search=search,
        selfplay=SelfPlayConfig(games=games, temperature=0.4),
        training=TrainingConfig(
            generation_positions=32 * games,
            window_start=64 * games,
            batch_size=min(4096, games),
            average_decay=0.99,
        ),
    )


def change(config: RunConfig, settings: Sequence[str]) -> RunConfig:
    """The config changed by `section.option=value` settings.

    Raises:
        ValueError: for an unknown setting or an invalid value.
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
                f"invalid setting {setting!r}; write section.option=value, where section is one "
                f"of {', '.join(sections)}"
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


def measure_backend(
    config: RunConfig, game: Game, device: str = "cpu", is_asked: bool = True
) -> RunConfig:
    """The config with the fastest backend on this machine in place of `auto`.

    Random weights are measured: the zeros of a new network hide rounding errors.

    Args:
        config: resolved.
        game: the game.
        device: the run's device.
        is_asked: whether the user chose the backend; otherwise one that was saved on another kind
            of device is replaced.

    Raises:
        ValueError: for an unknown backend, or one that cannot run the network here.
    """
    backend = config.run.backend
    if not is_asked and backend in (GPU_BACKENDS if device == "cpu" else CPU_BACKENDS):
        backend = "auto"  # the run is resumed on another kind of device
    if device == "cpu" and backend in GPU_BACKENDS:
        names = ", ".join(CPU_BACKENDS)
        raise ValueError(f"a CPU has no backend {backend!r}; choose auto or one of {names}")
    if device != "cpu":
        backend = choose_gpu_backend() if backend == "auto" else backend
        if backend not in GPU_BACKENDS:
            names = ", ".join(GPU_BACKENDS)
            raise ValueError(f"a GPU has no backend {backend!r}; choose auto or one of {names}")
        if backend == "gpu-bf16" and not has_gpu_bf16():
            raise ValueError("this GPU has no bfloat16; choose the backend auto or gpu-float32")
        return dataclasses.replace(config, run=dataclasses.replace(config.run, backend=backend))
    network = draw_zeros(make_network(game, config.network, config.run.seed))
    if backend != "auto":
        check_backend(backend, network)
        return config
    backend = choose_backend(network, game, config.selfplay.games)
    return dataclasses.replace(config, run=dataclasses.replace(config.run, backend=backend))


def resolve_run(config: RunConfig, game: Game, device: str = "cpu") -> RunConfig:
    """The config with `auto` replaced wherever that needs no measurement.

    Raises:
        ValueError: for settings that the game does not support.
    """
    check_for_game(config.search, game)
    check_selfplay_search(config.search, config.selfplay)
    resolve(config.search, "a network")  # refuses options that contradict each other
    for target in chosen_targets(choice_of(config.training)):
        if obstacle := target.obstacle(game):
            raise ValueError(f"training.{target.option} does not work for {game.name}: {obstacle}")
    if config.training.reanalyse and device != "cpu":
        raise ValueError(
            "training.reanalyse works on the CPU only: set it to 0, or choose run.device=cpu"
        )
    network = resolve_network(config.network, game)
    precision, threads = config.training.precision, config.run.threads
    if precision == "auto":
        backends = available_backends(make_network(game, network, 0))
        has_bf16 = "torch-bf16" in backends if device == "cpu" else has_gpu_bf16()
        precision = "bfloat16" if has_bf16 else "float32"
    return dataclasses.replace(
        config,
        network=network,
        selfplay=resolve_selfplay(config.selfplay, game),
        training=dataclasses.replace(config.training, precision=precision),
        run=dataclasses.replace(config.run, threads=threads or available_cores()),
    )
