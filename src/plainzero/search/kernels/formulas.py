"""The formulas of selection, one function each. docs/algorithm.md says what the symbols mean.

Papers: UCT, Kocsis and Szepesvári 2006; PUCT, Rosin 2011 and Silver et al. 2017 and 2018; RAVE,
Gelly and Silver 2011; GRAVE, Cazenave 2015; the spread of values, KataGo's methods page.
"""

import math
from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.resolve_options import (
    MAX_ONE,
    NODE,
    ONE_PLUS_SUM,
    PENDING_COUNT,
    PENDING_DRAW,
)

INFINITE = 1e9  # above every score, and still fine enough to add one to


@kernel_function
def uct_score(q: Any, visits: Any, log_visits: Any, c: Any) -> Any:
    """Q + c · √(ln N / n), given ln N: one logarithm a node, not one an edge."""
    return q + c * math.sqrt(log_visits / visits)


@kernel_function
def puct_score(q: Any, prior: Any, visits: Any, term: Any, c: Any) -> Any:
    """Q + c · P · T / (1 + n), T being the `visit_term`."""
    return q + c * prior * term / (1.0 + visits)


@kernel_function
def puct_log_score(q: Any, prior: Any, visits: Any, log_visits: Any, c: Any) -> Any:
    """Q + c · P · √(ln(1 + N + base) / (1 + n)), given that logarithm."""
    return q + c * prior * math.sqrt(log_visits / (1.0 + visits))


@kernel_function
def visit_term(form: Any, sum_visits: Any, node_visits: Any, exponent: Any) -> Any:
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
def growing_c_puct(c_init: Any, base: Any, parent_visits: Any) -> Any:
    """c_init + ln((N + base + 1) / base); constant where base is 0."""
    return c_init + math.log((parent_visits + base + 1.0) / base) if base > 0.0 else c_init


@kernel_function
def spread_factor(mean: Any, mean_square: Any, count: Any, options: Any) -> Any:
    """1 + scale · (σ / σ₀ − 1): more exploration where results differ more (KataGo)."""
    usual, weight = options.c_puct_spread_prior, options.c_puct_spread_weight
    total = weight + count - 1.0
    spread = usual
    if total > 0.0:
        square = mean * mean
        variance = ((square + usual * usual) * weight + mean_square * count) / total - square
        spread = math.sqrt(max(0.0, variance))
    return 1.0 + options.c_puct_spread * (spread / usual - 1.0)


@kernel_function
def q_of(value_sum: Any, visits: Any, pending: Any, mode: Any, first_play: Any) -> Any:
    """The mean result of an edge, with leaves on their way as `mode` says."""
    if mode == PENDING_COUNT:
        return value_sum / visits if visits > 0 else first_play
    if visits + pending == 0:
        return first_play
    loss = 0.0 if mode == PENDING_DRAW else float(pending)
    return (value_sum - loss) / (visits + pending)


@kernel_function
def amaf_share(visits: Any, amaf_visits: Any, bias: Any) -> Any:
    """β = ñ / (n + ñ + b · n · ñ): AMAF's share of the value fades as real visits come in."""
    return amaf_visits / (visits + amaf_visits + bias * visits * amaf_visits)


@kernel_function
def widening_limit(coefficient: Any, exponent: Any, sum_visits: Any) -> Any:
    """⌈C · (1 + ΣN)^exponent⌉ moves, at least one."""
    return max(1, math.ceil(coefficient * (1.0 + sum_visits) ** exponent))
