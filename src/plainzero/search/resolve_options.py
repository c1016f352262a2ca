"""Resolves the options of a search, and turns them into the numbers that kernels take."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.devices import free_bytes
from plainzero.games.contract import Game
from plainzero.search.config import (
    SearchConfig,
    ignored_options,
    needs_extras,
    needs_node_extras,
    option_kinds,
)
from plainzero.search.kernels.options import CODES, OPTIONS_DTYPE, Options

TREE_BYTES = 1 << 30
"""The most memory for a tree on the CPU unless `max_bytes` is set."""

_SIMULATIONS_PER_NODE = 100
# A fully searched tree has no leaves left. The round must end all the same, so that the caller can
# look at the clock and at Ctrl-C. Nothing is pending then, so no result changes.
_KNOWN_RESULTS = 256


def resolve(config: SearchConfig, evaluator: object, device: str = "cpu") -> SearchConfig:
    """The config with every `auto` decided, for a search on that device.

    Raises:
        ValueError: for options that do not go together.
    """
    selection = config.selection
    if selection == "auto":
        selection = "uct" if evaluator == "rollout" else "puct"
    fpu = config.fpu
    if fpu == "auto" and selection != "gumbel":  # which has none
        fpu = "infinite" if selection == "uct" else "zero"
    if evaluator == "rollout" and config.rollout_weight not in (0.0, 1.0):
        raise ValueError("rollout_weight mixes rollouts with an evaluator other than rollout")
    weight = 1.0 if evaluator == "rollout" else config.rollout_weight
    resolved = dataclasses.replace(config, selection=selection, rollout_weight=weight)
    given = dataclasses.replace(resolved, fpu=_given_fpu(config.fpu, selection))
    for option, reason in ignored_options(given).items():
        raise ValueError(f"{option} only applies with {reason}")
    most = config.max_bytes or (TREE_BYTES if device == "cpu" else free_bytes() // 2)
    return dataclasses.replace(resolved, fpu=fpu, max_bytes=most)


def _given_fpu(fpu: str, selection: str) -> Any:
    """The urgency requested, if it says more than the formula itself."""
    return "auto" if selection == "uct" and fpu == "infinite" else fpu


def simulation_limit(config: SearchConfig) -> int:
    """The simulations after which a game is finished, or 0 if time alone decides."""
    if config.simulations or config.visits or config.seconds:
        return config.simulations
    return config.nodes * _SIMULATIONS_PER_NODE


def make_options(
    config: SearchConfig, game: Game, known_results: int = _KNOWN_RESULTS
) -> NDArray[Any]:
    """[1] a record of `OPTIONS_DTYPE`, from a resolved config."""
    options = np.zeros(1, OPTIONS_DTYPE)
    for name in option_kinds().keys() & set(Options._fields):
        value = getattr(config, name)
        options[name] = CODES[name].index(value) if name in CODES else value
    options["is_plain"] = not (
        needs_extras(config)
        or config.forced_playouts > 0
        or config.amaf != "off"
        or (config.fpu == "infinite" and config.selection != "uct")
    )
    options["max_turns"] = game.max_turns
    options["known_results"] = known_results
    options["has_extras"] = needs_extras(config)
    options["has_node_extras"] = needs_node_extras(config)
    options["filters"] = (
        config.proven_values
        or config.widening > 0
        or config.prior_threshold > 0
        or config.prune_margin > 0
    )
    return options


def as_arguments(options: NDArray[Any]) -> Options:
    """The record as a tuple of numbers, for kernels on a GPU."""
    return Options(*options[0].item())
