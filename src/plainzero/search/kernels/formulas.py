"""The formulas of selection, one function each. docs/algorithm.md explains the symbols.

Papers: UCT, Kocsis and Szepesvári 2006; PUCT, Rosin 2011 and Silver et al. 2017 and 2018; RAVE,
Gelly and Silver 2011; GRAVE, Cazenave 2015; the spread of values, KataGo's methods page.
"""

import math

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.options import (
    MAX_ONE,
    NODE,
    ONE_PLUS_SUM,
    PENDING_COUNT,
    PENDING_DRAW,
    Options,
)

INFINITE = 1e9  # above every score, and still precise enough to add one to


@kernel_function
def uct_score(q: float, visits: int, log_visits: float, c: float) -> float:
    """Q + c · √(ln N / n), given ln N: one logarithm per node, not per edge."""
    return q + c * math.sqrt(log_visits / visits)


@kernel_function
def puct_score(q: float, prior: float, visits: float, term: float, c: float) -> float:
    """Q + c · P · T / (1 + n), T being the `visit_term`."""
    return q + c * prior * term / (1.0 + visits)


@kernel_function
def puct_log_score(q: float, prior: float, visits: int, log_visits: float, c: float) -> float:
    """Q + c · P · √(ln(1 + N + base) / (1 + n)), given that logarithm."""
    return q + c * prior * math.sqrt(log_visits / (1.0 + visits))


@kernel_function
def visit_term(form: int, sum_visits: int, node_visits: int, exponent: float) -> float:
    """T^exponent, T being 1 + ΣN, ΣN, N or max(1, N)."""
    if form == ONE_PLUS_SUM:
        count = 1.0 + sum_visits
    elif form == NODE:
        count = float(node_visits)
    elif form == MAX_ONE:
        count = max(1.0, float(node_visits))
    else:
        count = float(sum_visits)
    return math.sqrt(count) if exponent == 0.5 else count**exponent


@kernel_function
def growing_c_puct(c_init: float, base: float, parent_visits: int) -> float:
    """c_init + ln((N + base + 1) / base); constant if base is 0."""
    return c_init + math.log((parent_visits + base + 1.0) / base) if base > 0.0 else c_init


@kernel_function
def spread_factor(mean: float, mean_square: float, count: float, options: Options) -> float:
    """1 + scale · (σ / σ₀ − 1): more exploration if results differ more (KataGo)."""
    usual, weight = options.c_puct_spread_prior, options.c_puct_spread_weight
    total = weight + count - 1.0
    spread = usual
    if total > 0.0:
        square = mean * mean
        variance = ((square + usual * usual) * weight + mean_square * count) / total - square
        spread = math.sqrt(max(0.0, variance))
    return 1.0 + options.c_puct_spread * (spread / usual - 1.0)


@kernel_function
def q_of(value_sum: float, visits: int, pending: int, mode: int, first_play: float) -> float:
    """The mean result of an edge; `mode` says how pending leaves count."""
    if mode == PENDING_COUNT:
        return value_sum / visits if visits > 0 else first_play
    if visits + pending == 0:
        return first_play
    loss = 0.0 if mode == PENDING_DRAW else float(pending)
    return (value_sum - loss) / (visits + pending)


@kernel_function
def amaf_share(visits: int, amaf_visits: int, bias: float) -> float:
    """β = ñ / (n + ñ + b · n · ñ): AMAF's share of the value, which falls with real visits."""
    return amaf_visits / (visits + amaf_visits + bias * visits * amaf_visits)


@kernel_function
def widening_limit(coefficient: float, exponent: float, sum_visits: int) -> int:
    """⌈C · (1 + ΣN)^exponent⌉ moves, at least one."""
    return max(1, math.ceil(coefficient * (1.0 + sum_visits) ** exponent))
