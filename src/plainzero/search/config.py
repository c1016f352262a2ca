"""Every option of the search, with its symbol and its paper's default.

What each one does, exactly: docs/algorithm.md. How compiled code sees them: options.py.
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


@dataclass(frozen=True)
class SearchConfig:
    """The options of a search. A zero turns off what it measures, where not said otherwise."""

    # Budget: the search ends when the first of these is used up.
    simulations: int = 800
    """Simulations to run (AlphaZero: 800). 0: no limit, where nodes or seconds set one."""
    visits: int = 0
    """Simulations at which the search ends, those counted that the root kept from an earlier one
    (KataGo: maxVisits)."""
    nodes: int = 0
    """Positions in the tree at which the search ends; as the only budget, it also ends after 100
    simulations for each, because a small game's tree may stop growing before."""
    seconds: float = 0.0
    """Wall-clock time."""
    max_bytes: int = 0
    """Most memory for the tree, all games of a batch together; a full tree is searched on without
    growing, but for the room that proven_values makes. 0: 1 GiB, on a GPU half of what is free."""

    # Selection.
    selection: Selection = "auto"
    """uct: Q + c √(ln N / n). puct: Q + c P √N / (1 + n). puct-log: Q + c P √(ln(1 + N + base) /
    (1 + n)). gumbel: sequential halving at the root, improved policy below. auto: uct with the
    rollout evaluator, else puct."""
    c_uct: float = math.sqrt(2)
    """c of UCT (Kocsis and Szepesvári's, for results in 0..1). Results here are in −1..1, so twice
    as much explores as much as theirs; worth it for searches of a million simulations."""
    c_puct: float = 1.25
    """c of PUCT, c_init of AlphaZero."""
    c_puct_base: float = 19652.0
    """c grows as ln((N + base + 1) / base) + c_puct (AlphaZero: 19652). 0: constant."""
    c_puct_spread: float = 0.0
    """How far c follows the spread of values seen below the node (KataGo: 0.85)."""
    c_puct_spread_prior: float = 0.4
    """The spread at which c is unchanged (KataGo: 0.40)."""
    c_puct_spread_weight: float = 2.0
    """How many visits that spread counts for before any were seen (KataGo: 2)."""
    visit_term: VisitTerm = "one-plus-sum"
    """What stands under PUCT's root: 1 + ΣN, ΣN, N, or max(1, N). N counts simulations through a
    node, its own evaluation included, the root's not."""
    visit_exponent: float = 0.5
    """The power taken of it; 0.5 is the square root."""
    fpu: FirstPlayUrgency = "auto"
    """Q of a move never tried: zero, the parent's value, that minus fpu_reduction · √(prior mass
    tried), or infinite. auto: infinite for uct, else zero."""
    fpu_reduction: float = 0.2
    """See fpu (KataGo: 0.2)."""

    # Evaluation.
    rollouts: int = 1
    """Random playouts a leaf, where rollouts count."""
    rollout_weight: float = 0.0
    """λ of AlphaGo: value = (1 − λ) · evaluator + λ · rollouts. The rollout evaluator sets 1."""
    leaves: int = 1
    """Leaves of one tree evaluated together."""
    pending: Pending = "count"
    """How a leaf on its way counts: in visits only, as a draw, or as a loss (virtual loss)."""

    # Root.
    noise_weight: float = 0.0
    """ε of the root's Dirichlet noise (AlphaZero, in self-play: 0.25)."""
    noise_alpha: float = 0.0
    """α of that noise (Go 0.03, chess 0.3). 0: 10 / legal moves."""
    forced_playouts: float = 0.0
    """k of forced playouts, √(k · P · ΣN) for each tried root move (KataGo, in self-play: 2)."""
    gumbel_actions: int = 16
    """m: root moves that sequential halving starts with (Gumbel AlphaZero: 16)."""
    gumbel_c_visit: float = 50.0
    """c_visit of σ(q) = (c_visit + max n) · c_scale · q."""
    gumbel_c_scale: float = 1.0
    """c_scale of σ, for q in 0..1."""

    # Choice of the move.
    choice: Choice = "visits"
    """most visits (ties by value for the mover, then the lowest action); drawn by visits^(1/τ);
    or the best lower confidence bound."""
    temperature: float = 1.0
    """τ, for choice temperature."""
    temperature_turns: int = 30
    """τ counts for that many turns of a game, then the most visited move (AlphaZero: 30)."""
    lcb_deviations: float = 5.0
    """Standard errors below the mean, for choice lcb (KataGo: 5)."""
    lcb_visits: float = 0.15
    """Share of the most visited move's visits that a move needs to be chosen (KataGo: 0.15)."""

    # Proofs, and many moves.
    proven_values: bool = False
    """Wins, losses and draws that are certain travel up the tree (MCTS-Solver)."""
    templates: int = 0
    """So many wins that rest on a few cells, rounded up to 64, are remembered and recognised
    elsewhere; for games in which moves take cells for good, such as Hex, with proven_values."""
    amaf: Amaf = "off"
    """All-moves-as-first values: of the node itself (rave) or of an ancestor visited often enough
    (grave)."""
    amaf_bias: float = 1e-5
    """b of β = ñ / (n + ñ + b · n · ñ), AMAF's share of the value."""
    grave_visits: int = 50
    """Visits that make a node the reference for the nodes below it (GRAVE: 50)."""
    widening: float = 0.0
    """C of progressive widening: only the ⌈C · (1 + ΣN)^widening_exponent⌉ moves of the largest
    prior are tried."""
    widening_exponent: float = 0.5
    """See widening."""
    prior_threshold: float = 0.0
    """Moves with a smaller prior are not tried."""
    prune_margin: float = 0.0
    """Moves whose value lies this far below the best are not tried any more."""
    prune_visits: int = 20
    """Visits before a move can be pruned, or prune another."""

    trace: bool = False
    """Record every simulation, for drawing."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense, and options that another one would ignore."""
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
"""That `max_bytes` can be; more than any machine has."""

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
            raise ValueError(f"{option} is {value}; it can be {_AT_MOST[option]:,} at most")
    if not (config.simulations or config.visits or config.nodes or config.seconds):
        raise ValueError(
            "the search has no budget: set simulations, visits, nodes or seconds above 0"
        )


def _check_together(config: SearchConfig) -> None:
    if config.trace and not config.simulations:
        raise ValueError("trace keeps a number of simulations: set simulations")
    if config.trace and config.templates:
        raise ValueError("trace cannot tell when templates proved a move: leave templates at 0")
    if config.selection == "gumbel" and not config.simulations:
        raise ValueError("selection=gumbel shares out a number of simulations: set simulations")
    if config.selection == "gumbel" and config.visits:
        raise ValueError("selection=gumbel shares out new simulations: leave visits at 0")


def _default(name: str) -> Any:
    return SearchConfig.__dataclass_fields__[name].default


_PUCT = ("puct", "puct-log")
_NOT_GUMBEL = ("uct", *_PUCT)

_COUNTS_WITH: dict[str, tuple[str, tuple[Any, ...]]] = {
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
_COUNTS_ABOVE_ZERO = {
    "c_puct_spread_prior": "c_puct_spread",
    "c_puct_spread_weight": "c_puct_spread",
    "noise_alpha": "noise_weight",
    "rollouts": "rollout_weight",
    "widening_exponent": "widening",
    "prune_visits": "prune_margin",
}


def ignored_options(config: SearchConfig) -> dict[str, str]:
    """The options of a resolved config that were set and count for nothing, with the reason."""
    ignored = {}
    for option, (other, values) in _COUNTS_WITH.items():
        if getattr(config, other) not in values:
            given = getattr(config, other)
            ignored[option] = f"{other}={' or '.join(values)}, and here it is {given}"
    for option, other in _COUNTS_ABOVE_ZERO.items():
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


def lay_over(config: SearchConfig, options: Mapping[str, Any]) -> SearchConfig:
    """The config with other options put in.

    What the config had set and counts for nothing with them goes back to its default, as the first
    play urgency does with another selection than PUCT; what is among `options` is left alone.

    Raises:
        ValueError: for values that make no sense.
        TypeError: for an option that there is not.
    """
    changed = dataclasses.replace(config, **options)
    if changed.selection == "auto":  # not decided yet, so that nobody knows what counts
        return changed
    lost = ignored_options(changed).keys() - options.keys()
    return dataclasses.replace(changed, **{option: _default(option) for option in lost})


def check_for_game(config: SearchConfig, game: Game) -> None:
    """Refuses options that the game cannot have.

    Raises:
        ValueError: says which, and why.
    """
    if config.proven_values and game.num_players > 2:
        raise ValueError(
            f"proven_values works with one or two players, and {game.name} has {game.num_players}"
        )
    if config.proven_values and has_chance(game):
        raise ValueError(
            f"proven_values works without chance, and {game.name} leaves moves to chance"
        )
    if config.templates and not (game.moves_take_cells and game.num_players == 2):
        raise ValueError(
            f"templates work where moves take cells for good, and {game.name} does not say so"
        )


def needs_extras(config: SearchConfig) -> bool:
    """Whether an option needs more of an edge than its visits, values and prior."""
    return (
        config.leaves > 1
        or config.proven_values
        or config.c_puct_spread > 0
        or config.choice == "lcb"
    )


def needs_node_extras(config: SearchConfig) -> bool:
    """Whether an option needs a node's own evaluation or the squares of its results."""
    return config.selection == "gumbel" or config.c_puct_spread > 0


def parse_option(option: str, text: str) -> Any:
    """The value of an option given as text, as after `--set option=value`.

    Raises:
        ValueError: for an unknown option or a value of the wrong kind.
    """
    return settings.parse_option(SearchConfig, option, text)
