"""Every option of the search, with its symbol and its paper's default.

docs/algorithm.md defines each option exactly; kernels/options.py is what compiled code sees.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from plainzero import options as settings
from plainzero.games.contract import Game, has_chance

Selection = Literal["auto", "uct", "puct", "puct-log", "gumbel"]
VisitTerm = Literal["one-plus-sum", "sum", "node", "max-one"]
FirstPlayUrgency = Literal["auto", "zero", "parent", "reduction", "infinite"]
Pending = Literal["count", "draw", "loss"]
Amaf = Literal["off", "rave", "grave"]
Choice = Literal["visits", "temperature", "lcb"]
Chance = Literal["balanced", "drawn"]


@dataclass(frozen=True)
class SearchConfig:
    """The options of a search. Zero turns an option off, unless stated otherwise."""

    # Budget: the search stops when the first of these is used up.
    simulations: int = 800
    """Simulations to run (AlphaZero: 800). 0: no limit, if visits, nodes or seconds set one."""
    visits: int = 0
    """Visits of the root at which the search stops, those of earlier searches included (KataGo:
    maxVisits)."""
    nodes: int = 0
    """Positions in the tree at which the search stops. If this is the only budget, it also stops
    after 100 simulations per node, because the tree of a small game may stop growing earlier."""
    seconds: float = 0.0
    """Wall-clock time limit."""
    max_bytes: int = 0
    """The most memory for the trees of a batch, all games together. A full tree stops growing, but
    the search continues; proven_values can free room. 0: 1 GiB, or half of a GPU's free memory."""

    # Selection.
    selection: Selection = "auto"
    """uct: Q + c √(ln N / n). puct: Q + c P √N / (1 + n). puct-log: Q + c P √(ln(1 + N + base) /
    (1 + n)). gumbel: sequential halving at the root, the improved policy below. auto: uct with the
    rollout evaluator, else puct."""
    c_uct: float = math.sqrt(2)
    """c of UCT (Kocsis and Szepesvári's, for results in 0..1). Results here are in −1..1, so twice
    this value explores as much as theirs; that pays off in searches of a million simulations."""
    c_puct: float = 1.25
    """c of PUCT, AlphaZero's c_init."""
    c_puct_base: float = 19652.0
    """c grows as ln((N + base + 1) / base) + c_puct (AlphaZero: 19652). 0: constant."""
    c_puct_spread: float = 0.0
    """How strongly c follows the spread of the values below the node (KataGo: 0.85)."""
    c_puct_spread_prior: float = 0.4
    """The spread at which c is unchanged (KataGo: 0.40)."""
    c_puct_spread_weight: float = 2.0
    """Weight of that prior spread, in visits (KataGo: 2)."""
    visit_term: VisitTerm = "one-plus-sum"
    """The visits under PUCT's square root: 1 + ΣN, ΣN, N, or max(1, N). N counts the simulations
    through a node, including its own evaluation, except at the root."""
    visit_exponent: float = 0.5
    """Exponent of visit_term; 0.5 is the square root."""
    fpu: FirstPlayUrgency = "auto"
    """First-play urgency, Q of a move never tried: zero, the parent's value, that minus
    fpu_reduction · √(sum of the tried priors), or infinite. auto: infinite for uct, else zero."""
    fpu_reduction: float = 0.2
    """Factor of fpu=reduction (KataGo: 0.2)."""

    chance: Chance = "balanced"
    """How simulations choose an outcome of chance. drawn: by probability. balanced: among the
    outcomes with fewer visits than their share, in proportion to what they lack, so that values
    depend less on luck."""

    # Evaluation.
    rollouts: int = 1
    """Random playouts per leaf, if rollouts are used."""
    rollout_weight: float = 0.0
    """λ of AlphaGo: value = (1 − λ) · evaluator + λ · rollouts. The rollout evaluator sets 1."""
    leaves: int = 1
    """Leaves of one tree evaluated together."""
    pending: Pending = "count"
    """How a leaf that waits for its evaluation counts: only as a visit, as a draw, or as a loss
    (virtual loss)."""

    # Root.
    noise_weight: float = 0.0
    """ε, the weight of Dirichlet noise at the root (AlphaZero in self-play: 0.25)."""
    noise_alpha: float = 0.0
    """α of the Dirichlet noise (Go: 0.03, chess: 0.3). 0: 10 / legal moves."""
    forced_playouts: float = 0.0
    """k of forced playouts: √(k · P · ΣN) for each tried root move (KataGo in self-play: 2)."""
    gumbel_actions: int = 16
    """m, the number of root moves that sequential halving starts with (Gumbel AlphaZero: 16)."""
    gumbel_c_visit: float = 50.0
    """c_visit of σ(q) = (c_visit + max n) · c_scale · q."""
    gumbel_c_scale: float = 1.0
    """c_scale of σ(q), for q in 0..1."""
    gumbel_rescale: bool = False
    """Scale q so that a node's lowest Q is 0 and its highest 1 (mctx, with c_scale 0.1), for scores
    that hardly differ. Off: −1 becomes 0, and 1 stays 1."""

    # Choice of the move.
    choice: Choice = "visits"
    """visits: the most visited move (ties by value for the mover, then the lowest action).
    temperature: drawn by visits^(1/τ). lcb: the best lower confidence bound."""
    temperature: float = 1.0
    """τ, for choice=temperature."""
    temperature_turns: int = 30
    """Turns of a game in which τ applies; later, the most visited move wins (AlphaZero: 30)."""
    lcb_deviations: float = 5.0
    """Standard errors below the mean, for choice=lcb (KataGo: 5)."""
    lcb_visits: float = 0.15
    """Visits that a move needs for choice=lcb, as a share of the most visited move's (KataGo:
    0.15)."""

    # Proofs, and many moves.
    proven_values: bool = False
    """Pass certain wins, losses and draws up the tree (MCTS-Solver)."""
    templates: int = 0
    """How many wins that rest on a few cells to store and recognise elsewhere, rounded up to a
    multiple of 64; for games whose moves take cells for good, such as Hex, with proven_values."""
    amaf: Amaf = "off"
    """All-moves-as-first values: of the node itself (rave), or of the nearest ancestor with enough
    visits (grave)."""
    amaf_bias: float = 1e-5
    """b of β = ñ / (n + ñ + b · n · ñ), AMAF's share of the value."""
    grave_visits: int = 50
    """Visits from which a node serves as the reference for the nodes below it (GRAVE: 50)."""
    widening: float = 0.0
    """C of progressive widening: only the ⌈C · (1 + ΣN)^widening_exponent⌉ moves with the largest
    priors are tried."""
    widening_exponent: float = 0.5
    """Exponent of progressive widening; see widening."""
    prior_threshold: float = 0.0
    """Moves with a smaller prior are not tried."""
    prune_margin: float = 0.0
    """Moves whose value is this far below the best are no longer tried."""
    prune_visits: int = 20
    """Visits that a move needs before it can be pruned or cause pruning."""

    trace: bool = False
    """Record every simulation, for drawing."""

    def __post_init__(self) -> None:
        """Refuses invalid values, and options that do not go together."""
        settings.check_types(self)
        _check_ranges(self)
        _check_together(self)


def option_kinds() -> dict[str, Any]:
    """The type of each option, by name."""
    return settings.option_kinds(SearchConfig)


_AT_LEAST_ONE = ("rollouts", "leaves", "gumbel_actions", "grave_visits", "prune_visits")
_POSITIVE = ("c_puct_spread_prior", "gumbel_c_scale")
_MOST_INT = 2**31 - 1  # compiled code counts visits in 32 bits
MOST_BYTES = 2**48
"""The largest `max_bytes`; more than any machine has."""

_AT_MOST = {option: _MOST_INT for option, kind in option_kinds().items() if kind is int} | {
    "simulations": 2**31 - 2,
    "visits": 2**31 - 2,
    "seconds": 10_000_000.0,  # four months
    "max_bytes": MOST_BYTES,
    "leaves": 2**20,
    "rollouts": 1_000_000,
}
_AT_MOST_ONE = ("rollout_weight", "noise_weight", "prior_threshold", "lcb_visits")


def _check_ranges(config: SearchConfig) -> None:
    for option in option_kinds():
        value = getattr(config, option)
        if isinstance(value, bool | str):
            continue
        if value < 0:
            raise ValueError(f"{option} is {value}; it cannot be negative")
        if option in _AT_LEAST_ONE and value < 1:
            raise ValueError(f"{option} is {value}; it must be 1 or more")
        if option in _POSITIVE and value <= 0:
            raise ValueError(f"{option} is {value}; it must be more than 0")
        if option in _AT_MOST_ONE and value > 1:
            raise ValueError(f"{option} is {value}; it is a share, from 0 to 1")
        if option in _AT_MOST and value > _AT_MOST[option]:
            raise ValueError(f"{option} is {value}; it can be at most {_AT_MOST[option]:,}")
    if not (config.simulations or config.visits or config.nodes or config.seconds):
        raise ValueError(
            "the search has no budget: set simulations, visits, nodes or seconds above 0"
        )


def _check_together(config: SearchConfig) -> None:
    if config.trace and not config.simulations:
        raise ValueError("trace needs a fixed number of simulations: set simulations")
    if config.trace and config.templates:
        raise ValueError("trace does not support templates: leave templates at 0")
    if config.selection == "gumbel" and not config.simulations:
        raise ValueError("selection=gumbel needs a fixed number of simulations: set simulations")
    if config.selection == "gumbel" and config.visits:
        raise ValueError("selection=gumbel does not support visits: leave visits at 0")


def _default(name: str) -> Any:
    return SearchConfig.__dataclass_fields__[name].default


_PUCT = ("puct", "puct-log")
_NOT_GUMBEL = ("uct", *_PUCT)

_APPLIES_WITH: dict[str, tuple[str, tuple[Any, ...]]] = {
    "c_uct": ("selection", ("uct",)),
    "c_puct": ("selection", _PUCT),
    "c_puct_base": ("selection", _PUCT),
    "c_puct_spread": ("selection", _NOT_GUMBEL),
    "visit_term": ("selection", ("puct",)),
    "visit_exponent": ("selection", ("puct",)),
    "fpu": ("selection", _PUCT),
    "fpu_reduction": ("fpu", ("reduction",)),
    "noise_weight": ("selection", _PUCT),
    "forced_playouts": ("selection", ("puct",)),
    "gumbel_actions": ("selection", ("gumbel",)),
    "gumbel_c_visit": ("selection", ("gumbel",)),
    "gumbel_c_scale": ("selection", ("gumbel",)),
    "gumbel_rescale": ("selection", ("gumbel",)),
    "pending": ("selection", _NOT_GUMBEL),
    "choice": ("selection", _NOT_GUMBEL),
    "temperature": ("choice", ("temperature",)),
    "temperature_turns": ("choice", ("temperature",)),
    "lcb_deviations": ("choice", ("lcb",)),
    "lcb_visits": ("choice", ("lcb",)),
    "amaf": ("selection", _NOT_GUMBEL),
    "amaf_bias": ("amaf", ("rave", "grave")),
    "grave_visits": ("amaf", ("grave",)),
    "widening": ("selection", _NOT_GUMBEL),
    "prior_threshold": ("selection", _NOT_GUMBEL),
    "prune_margin": ("selection", _NOT_GUMBEL),
}
_APPLIES_ABOVE_ZERO = {
    "c_puct_spread_prior": "c_puct_spread",
    "c_puct_spread_weight": "c_puct_spread",
    "noise_alpha": "noise_weight",
    "rollouts": "rollout_weight",
    "widening_exponent": "widening",
    "prune_visits": "prune_margin",
}


def ignored_options(config: SearchConfig) -> dict[str, str]:
    """The options of a resolved config that are set but have no effect, with what they need."""
    ignored = {}
    for option, (other, values) in _APPLIES_WITH.items():
        if getattr(config, other) not in values:
            given = getattr(config, other)
            ignored[option] = f"{other}={' or '.join(values)}, and here it is {given}"
    for option, other in _APPLIES_ABOVE_ZERO.items():
        if not getattr(config, other) > 0:
            ignored[option] = f"{other} above 0"
    if config.leaves == 1:
        ignored["pending"] = "leaves above 1"
    if not config.proven_values:
        ignored["templates"] = "proven_values"
    return {
        option: reason
        for option, reason in ignored.items()
        if getattr(config, option) != _default(option)
    }


def with_options(config: SearchConfig, options: Mapping[str, Any]) -> SearchConfig:
    """The config with `options` changed.

    Other options that no longer apply return to their defaults, such as first-play urgency when
    the selection is not PUCT.

    Raises:
        ValueError: for invalid values.
        TypeError: for unknown options.
    """
    changed = dataclasses.replace(config, **options)
    if changed.selection == "auto":  # not decided yet, so what applies is unknown
        return changed
    lost = ignored_options(changed).keys() - options.keys()
    return dataclasses.replace(changed, **{option: _default(option) for option in lost})


def check_for_game(config: SearchConfig, game: Game) -> None:
    """Refuses options that do not work with the game.

    Raises:
        ValueError: says which, and why.
    """
    if config.proven_values and game.num_players > 2:
        raise ValueError(
            f"proven_values needs one or two players; {game.name} has {game.num_players}"
        )
    if config.proven_values and has_chance(game):
        raise ValueError(f"proven_values needs a game without chance; {game.name} has chance moves")
    if config.templates and not (game.moves_take_cells and game.num_players == 2):
        raise ValueError(
            f"templates need a game whose moves take cells for good; {game.name} is not one"
        )


def needs_extras(config: SearchConfig) -> bool:
    """Whether an option needs the tree's `extras` of edges."""
    return (
        config.leaves > 1
        or config.proven_values
        or config.c_puct_spread > 0
        or config.choice == "lcb"
    )


def needs_node_extras(config: SearchConfig) -> bool:
    """Whether an option needs the tree's `node_extras`."""
    return config.selection == "gumbel" or config.c_puct_spread > 0


def parse_option(option: str, text: str) -> Any:
    """The value of an option given as text, as in `--set option=value`.

    Raises:
        ValueError: for an unknown option or a value of the wrong type.
    """
    return settings.parse_option(SearchConfig, option, text)
