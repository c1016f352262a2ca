"""The options as compiled code sees them: one flat record of numbers for all games of a batch."""

from typing import Any, NamedTuple, get_type_hints

import numpy as np

from plainzero.compiler.cpu_kernels import KernelOptions
from plainzero.compiler.record_types import Record

UCT, PUCT, PUCT_LOG, GUMBEL = range(4)
ONE_PLUS_SUM, SUM, NODE, MAX_ONE = range(4)
FPU_ZERO, FPU_PARENT, FPU_REDUCTION, FPU_INFINITE = range(4)
PENDING_COUNT, PENDING_DRAW, PENDING_LOSS = range(3)
AMAF_OFF, RAVE, GRAVE = range(3)
BALANCED, DRAWN = range(2)

CODES = {
    "selection": ("uct", "puct", "puct-log", "gumbel"),
    "visit_term": ("one-plus-sum", "sum", "node", "max-one"),
    "fpu": ("zero", "parent", "reduction", "infinite", "auto"),
    "pending": ("count", "draw", "loss"),
    "amaf": ("off", "rave", "grave"),
    "chance": ("balanced", "drawn"),
}
"""The names that `SearchConfig` has for the numbers above, in their order."""


class _Fields(NamedTuple):
    # From SearchConfig, which says what they mean.
    nodes: int
    selection: int  # UCT, PUCT, PUCT_LOG or GUMBEL
    c_uct: float
    c_puct: float
    c_puct_base: float
    c_puct_spread: float
    c_puct_spread_prior: float
    c_puct_spread_weight: float
    visit_term: int  # ONE_PLUS_SUM, SUM, NODE or MAX_ONE
    visit_exponent: float
    fpu: int  # FPU_ZERO, FPU_PARENT, FPU_REDUCTION or FPU_INFINITE
    fpu_reduction: float
    chance: int  # BALANCED or DRAWN
    rollouts: int
    rollout_weight: float
    leaves: int
    pending: int  # PENDING_COUNT, PENDING_DRAW or PENDING_LOSS
    noise_weight: float
    noise_alpha: float
    forced_playouts: float
    gumbel_actions: int
    gumbel_c_visit: float
    gumbel_c_scale: float
    gumbel_rescale: bool
    proven_values: bool
    templates: int
    amaf: int  # AMAF_OFF, RAVE or GRAVE
    amaf_bias: float
    grave_visits: int
    widening: float
    widening_exponent: float
    prior_threshold: float
    prune_margin: float
    prune_visits: int
    # Derived from SearchConfig and the game.
    filters: bool  # whether selection may skip edges
    is_plain: bool  # whether Q is W / n, or one value if n is 0
    has_extras: bool  # whether the tree has `extras`
    has_node_extras: bool  # whether the tree has `node_extras`
    max_turns: int  # the game's
    known_results: int  # the most results that a round without leaves backs up


_DTYPES: dict[Any, type] = {int: np.int64, float: np.float64, bool: np.bool_}
_COLUMNS = [(name, _DTYPES[kind]) for name, kind in get_type_hints(_Fields).items()]
OPTIONS_DTYPE = np.dtype((Record, np.dtype(_COLUMNS, align=True)))
"""The record that kernels take on the CPU."""

# These values are compiled in, as zeros are; other values mean other code.
_USUAL = {"leaves": 1, "rollouts": 1, "visit_exponent": 0.5, "widening_exponent": 0.5}


class Options(KernelOptions, _Fields):
    """The same numbers as arguments of a kernel, which a GPU reads faster than memory.

    Which branches are taken is known when a kernel is compiled (`GpuKernel`); the numbers that
    remain may change without recompiling.
    """

    __slots__ = ()

    def compile_time_values(self) -> tuple[tuple[str, Any], ...]:
        """Choices, flags, and numbers that are 0 or usual."""
        values: dict[str, Any] = self._asdict()
        return tuple(
            (name, value)
            for name, value in values.items()
            if name in CODES or isinstance(value, bool) or value in (0, _USUAL.get(name, 0))
        )
