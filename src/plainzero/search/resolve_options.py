"""The options as compiled code sees them: one flat record of numbers for all games of a batch."""

import dataclasses
import typing
from collections import namedtuple
from typing import Any, Literal

import numpy as np

from plainzero.compiler.cpu_kernels import Settings
from plainzero.compiler.record_types import Record
from plainzero.devices import free_bytes
from plainzero.games.contract import Game
from plainzero.search.config import (
    SearchConfig,
    ignored_options,
    needs_extras,
    needs_node_extras,
    option_kinds,
)

UCT, PUCT, PUCT_LOG, GUMBEL = range(4)
ONE_PLUS_SUM, SUM, NODE, MAX_ONE = range(4)
FPU_ZERO, FPU_PARENT, FPU_REDUCTION, FPU_INFINITE = range(4)
PENDING_COUNT, PENDING_DRAW, PENDING_LOSS = range(3)
AMAF_OFF, RAVE, GRAVE = range(3)

_CODES = {
    "selection": ("uct", "puct", "puct-log", "gumbel"),
    "visit_term": ("one-plus-sum", "sum", "node", "max-one"),
    "fpu": ("zero", "parent", "reduction", "infinite", "auto"),
    "pending": ("count", "draw", "loss"),
    "amaf": ("off", "rave", "grave"),
}
TREE_BYTES = 1 << 30
"""Most memory for a tree on the CPU where nothing else is said."""

_SIMULATIONS_PER_NODE = 100
# A tree that is searched to its end has no leaf any more; the round must end all the same, so that
# whoever waits for it sees the clock and Ctrl-C. Nothing is on its way then, so no result changes.
_KNOWN_RESULTS = 256
_NOT_FOR_KERNELS = (  # those of a budget stand in `Scratch.work`, because searches may differ
    *("simulations", "visits", "seconds", "max_bytes"),
    *("choice", "temperature", "temperature_turns", "trace"),
)
_DTYPES: dict[Any, type] = {int: np.int64, float: np.float64, bool: np.bool_}


def _record_dtype() -> np.dtype[Any]:
    kinds = option_kinds()
    fields = [
        (name, np.int64 if typing.get_origin(kind) is Literal else _DTYPES[kind])
        for name, kind in kinds.items()
        if name not in _NOT_FOR_KERNELS
    ]
    fields.append(("filters", np.bool_))  # whether any edge may be left out of selection
    fields.append(("is_plain", np.bool_))  # whether Q is W / n, or one value where n is 0
    fields.append(("has_extras", np.bool_))  # whether the tree keeps more of its edges
    fields.append(("has_node_extras", np.bool_))  # and of its nodes
    fields.append(("max_turns", np.int64))  # the game's
    fields.append(("known_results", np.int64))  # that a round without leaves backs up at most
    return np.dtype((Record, np.dtype(fields, align=True)))


OPTIONS_DTYPE = _record_dtype()

# Values that are compiled in, as zeros are: another one is other code.
_USUAL = {"leaves": 1, "rollouts": 1, "visit_exponent": 0.5, "widening_exponent": 0.5}


class Options(Settings, namedtuple("Options", OPTIONS_DTYPE.names or ())):  # type: ignore[misc]
    """The same numbers as arguments of a kernel: a GPU has those at hand, and memory is far away.

    Which ways are taken is known when a kernel is compiled (`CudaKernel`); how
    large a number is, where it counts, may change without compiling anew.
    """

    __slots__ = ()

    def known(self) -> tuple[tuple[str, Any], ...]:
        """What is one of a few ways, or is off, or as usual."""
        values: dict[str, Any] = self._asdict()
        return tuple(
            (name, value)
            for name, value in values.items()
            if name in _CODES or isinstance(value, bool) or value in (0, _USUAL.get(name, 0))
        )


def resolve(config: SearchConfig, evaluator: Any, device: str = "cpu") -> SearchConfig:
    """The config with every `auto` decided, for a search on that device.

    Raises:
        ValueError: for options that do not go together once that is done.
    """
    selection = config.selection
    if selection == "auto":
        selection = "uct" if evaluator == "rollout" else "puct"
    fpu = config.fpu
    if fpu == "auto" and selection != "gumbel":  # which has none
        fpu = "infinite" if selection == "uct" else "zero"
    if evaluator == "rollout" and config.rollout_weight not in (0.0, 1.0):
        raise ValueError("rollout_weight mixes rollouts with another evaluator than rollout")
    weight = 1.0 if evaluator == "rollout" else config.rollout_weight
    resolved = dataclasses.replace(config, selection=selection, rollout_weight=weight)
    given = dataclasses.replace(resolved, fpu=_given_fpu(config.fpu, selection))
    for option, reason in ignored_options(given).items():
        raise ValueError(f"{option} counts only with {reason}")
    most = config.max_bytes or (TREE_BYTES if device == "cpu" else free_bytes() // 2)
    return dataclasses.replace(resolved, fpu=fpu, max_bytes=most)


def _given_fpu(fpu: str, selection: str) -> Any:
    """What was asked for, where it says more than the formula itself."""
    return "auto" if selection == "uct" and fpu == "infinite" else fpu


def simulation_limit(config: SearchConfig) -> int:
    """The simulations after which a game is finished, or 0 where time alone decides."""
    if config.simulations or config.visits or config.seconds:
        return config.simulations
    return config.nodes * _SIMULATIONS_PER_NODE


def make_options(config: SearchConfig, game: Game, known_results: int = _KNOWN_RESULTS) -> Any:
    """[1] the record of a resolved config."""
    options = np.zeros(1, OPTIONS_DTYPE)
    for name in option_kinds():
        if name not in _NOT_FOR_KERNELS:
            value = getattr(config, name)
            options[name] = _CODES[name].index(value) if name in _CODES else value
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


def as_arguments(options: Any) -> Options:
    """The record as a tuple of numbers."""
    return Options(*options[0].item())
