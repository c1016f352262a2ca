"""The choice of an edge, one function per formula; Gumbel's are in a separate file."""

import math
from typing import Any

import numpy as np

from plainzero import CHANCE, SearchConfig
from plainzero.search.kernels.random_streams import random_gamma, random_gumbel, random_unit

from . import gumbel
from .tree import Edge, Node

INFINITE = 1e9


def prepare_root(root: Node, config: SearchConfig, streams: Any) -> None:
    """Gives the root its Dirichlet or Gumbel noise, one draw per edge."""
    for edge in root.edges:
        edge.prior = edge.own_prior
        edge.visits_before = edge.visits
    if config.selection == "gumbel":
        for edge in root.edges:
            edge.gumbel = random_gumbel(streams, 0)
    elif config.noise_weight > 0:
        weight, alpha = config.noise_weight, config.noise_alpha or 10 / len(root.edges)
        noise = [random_gamma(streams, 0, alpha) for _ in root.edges]
        for edge, share in zip(root.edges, noise, strict=True):
            mixed = (1 - weight) * edge.own_prior + weight * (share / sum(noise))
            edge.prior = float(np.float32(mixed))


def choose_edge(node: Node, amaf_node: Node, config: SearchConfig, streams: Any) -> Edge:
    """An outcome of chance, or an edge by `config.selection`."""
    if node.mover == CHANCE:
        x = random_unit(streams, 0)
        if config.chance == "drawn":
            return choose_outcome(node.edges, x)
        return choose_lacking_outcome(node.edges, x)
    if config.selection != "gumbel":
        return choose_by_score(node, amaf_node, config)
    if node.is_root:
        return gumbel.choose_at_root(node, config)
    return gumbel.choose_below_root(node, config)


def choose_outcome(edges: list[Edge], x: float) -> Edge:
    """The first edge at which the cumulative probability exceeds x."""
    total = 0.0
    for edge in edges:
        total += edge.prior
        if total > x:
            return edge
    return edges[-1]


def choose_lacking_outcome(edges: list[Edge], x: float) -> Edge:
    """As `choose_outcome`, by the visits that each outcome lacks to have its share of them all."""
    visits = 1 + sum(edge.tried for edge in edges)
    lacking = [max(0.0, edge.prior * visits - edge.tried) for edge in edges]
    total, all_lacking = 0.0, sum(lacking)
    for edge, lack in zip(edges, lacking, strict=True):
        total += lack
        if total > x * all_lacking:
            return edge
    return edges[-1]


def choose_by_score(node: Node, amaf_node: Node, config: SearchConfig) -> Edge:
    """The edge with the largest score; the first of equals."""
    edges = [edge for edge in node.edges if not is_left_out(node, edge, config)]
    edges = edges or node.unproven
    return max(edges, key=lambda edge: score_of(node, edge, amaf_node, config))


def is_left_out(node: Node, edge: Edge, config: SearchConfig) -> bool:
    """Whether a proof, the prior threshold, widening or pruning rules the edge out."""
    if edge.proven is not None or edge.prior < config.prior_threshold:
        return True
    if config.widening:
        width = math.ceil(config.widening * (1 + node.tried_sum) ** config.widening_exponent)
        if node.edges.index(edge) >= max(1, width):
            return True
    if config.prune_margin and edge.visits >= config.prune_visits:
        best = max(other.q for other in node.edges if other.visits >= config.prune_visits)
        return edge.q < best - config.prune_margin
    return False


def score_of(node: Node, edge: Edge, amaf_node: Node, config: SearchConfig) -> float:
    """Q + U; 10⁹ + U for a forced playout and if Q is infinite."""
    q = q_of(node, edge, config)
    if config.selection == "uct" and edge.tried == 0:
        return INFINITE
    explore = EXPLORE[config.selection](node, edge, edge.tried, config)
    if q == math.inf or is_forced(node, edge, config):
        return INFINITE + explore
    return mix_amaf(q, node, edge, amaf_node, config) + explore


def is_forced(node: Node, edge: Edge, config: SearchConfig) -> bool:
    """Whether a visited root move has too few visits for its prior."""
    needed = math.sqrt(config.forced_playouts * edge.prior * node.tried_sum)
    return node.is_root and edge.visits > 0 and edge.proven is None and edge.tried < needed


def q_of(node: Node, edge: Edge, config: SearchConfig) -> float:
    """Q: the proven value, or the mean of the results, or first-play urgency."""
    if edge.proven is not None:
        return edge.proven
    if config.pending == "count" and edge.visits > 0:
        return edge.value_sum / edge.visits
    if config.pending == "draw" and edge.tried > 0:
        return edge.value_sum / edge.tried
    if config.pending == "loss" and edge.tried > 0:
        return (edge.value_sum - edge.pending) / edge.tried
    if config.fpu == "infinite":
        return math.inf if edge.tried == 0 else 0.0
    if config.fpu == "reduction":
        mass = sum(other.prior for other in node.edges if other.tried > 0)
        return node.value - config.fpu_reduction * math.sqrt(mass)
    return node.value if config.fpu == "parent" else 0.0


def mix_amaf(q: float, node: Node, edge: Edge, amaf_node: Node, config: SearchConfig) -> float:
    """(1 − β) · Q + β · W̃ / ñ."""
    amaf_visits, amaf_sum = amaf_node.amaf.get((node.mover, edge.action), (0, 0.0))
    if config.amaf == "off" or edge.proven is not None or amaf_visits == 0:
        return q
    n = edge.visits
    beta = amaf_visits / (n + amaf_visits + config.amaf_bias * n * amaf_visits)
    return (1 - beta) * q + beta * (amaf_sum / amaf_visits)


def explore_uct(node: Node, edge: Edge, n: int, config: SearchConfig) -> float:
    """c √(ln N / n)."""
    return c_of(node, config) * math.sqrt(math.log(max(1, node.tried_node)) / n)


def explore_puct(node: Node, edge: Edge, n: int, config: SearchConfig) -> float:
    """c P T^exponent / (1 + n)."""
    term, exponent = visit_term(node, config), config.visit_exponent
    power = math.sqrt(term) if exponent == 0.5 else term**exponent
    return c_of(node, config) * edge.prior * power / (1 + n)


def explore_puct_log(node: Node, edge: Edge, n: int, config: SearchConfig) -> float:
    """c P √(ln(1 + N + base) / (1 + n))."""
    logarithm = math.log(1 + node.tried_node + config.c_puct_base)
    return c_of(node, config) * edge.prior * math.sqrt(logarithm / (1 + n))


EXPLORE = {"uct": explore_uct, "puct": explore_puct, "puct-log": explore_puct_log}


def visit_term(node: Node, config: SearchConfig) -> int:
    """T, the visit count under PUCT's square root."""
    return {
        "one-plus-sum": 1 + node.tried_sum,
        "sum": node.tried_sum,
        "node": node.tried_node,
        "max-one": max(1, node.tried_node),
    }[config.visit_term]


def c_of(node: Node, config: SearchConfig) -> float:
    """c, which grows with visits and with the spread of values."""
    c, base = config.c_uct if config.selection == "uct" else config.c_puct, config.c_puct_base
    if base and config.selection == "puct":
        c = c + math.log((node.tried_node + base + 1) / base)
    if config.c_puct_spread:
        c = c * (1 + config.c_puct_spread * (spread(node, config) / config.c_puct_spread_prior - 1))
    return c


def spread(node: Node, config: SearchConfig) -> float:
    """σ of the mover's results, blended with the spread expected of any node."""
    m, weight, expected = 1 + node.visits, config.c_puct_spread_weight, config.c_puct_spread_prior
    if weight + m - 1 <= 0:
        return expected
    mean, mean_square = node.value, node.squares[node.mover] / m
    blended = ((mean * mean + expected * expected) * weight + mean_square * m) / (weight + m - 1)
    return math.sqrt(max(0.0, blended - mean * mean))
