"""Gumbel's selection: sequential halving at the root, the improved policy below it.

Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", 2022.
"""

import math

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.formulas import INFINITE
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.proof import is_proven
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, Tree

SMALLEST_PRIOR = 1e-30
SMALLEST_SPAN = 1e-4  # least range of Q for gumbel_rescale, so that rounding errors stay small


@kernel_function
def select_gumbel_root(tree: Tree, scratch: Scratch, options: Options, b: int) -> int:
    """The largest g + ℓ + σ(Q) among the edges with as many visits as the schedule requires."""
    moves = min(options.gumbel_actions, tree.nodes[b, ROOT].num_edges)
    simulation = scratch.work[b].simulations + scratch.work[b].num_leaves
    for required in (required_visits(simulation, moves, scratch.work[b].simulation_limit), -1):
        edge = best_with_visits(tree, scratch, options, b, required)
        if edge >= 0:
            return edge
    return tree.nodes[b, ROOT].first_edge


@kernel_function
def required_visits(simulation: int, moves: int, simulations: int) -> int:
    """r(t) of sequential halving: the visits before simulation t of the root edge it selects."""
    if moves < 2:
        return simulation
    rounds = 1  # ⌈log₂ m⌉
    while 1 << rounds < moves:
        rounds += 1
    visits, left = 0, moves
    while True:
        each = max(1, simulations // (rounds * left))
        if simulation < each * left:
            return visits + simulation // left
        simulation -= each * left
        visits += each
        left = max(2, left // 2)


@kernel_function
def best_with_visits(tree: Tree, scratch: Scratch, options: Options, b: int, required: int) -> int:
    """The largest g + ℓ + σ(Q) of unproven root edges with `required` visits; −1 means any."""
    mixed = mixed_value(tree, options, b, ROOT)
    slope = q_slope(tree, options, b, ROOT, mixed)
    first = tree.nodes[b, ROOT].first_edge
    best, best_score = -1, -INFINITE
    for index in range(tree.nodes[b, ROOT].num_edges):
        edge = first + index
        pending = tree.extras[b, edge].pending if options.leaves > 1 else 0
        visits = tree.edges[b, edge].visits + pending - scratch.work[b].base_visits[index]
        if is_proven(tree, options, b, edge):
            continue
        if required < 0 or visits == required:
            q = completed_q(tree, options, b, edge, mixed)
            score = scratch.work[b].gumbel[index] + edge_logit(tree, b, edge) + slope * (q + 1.0)
            if score > best_score:
                best, best_score = edge, score
    return best


@kernel_function
def select_gumbel_interior(
    tree: Tree, scratch: Scratch, options: Options, b: int, node: int
) -> int:
    """The edge whose visits lag most behind the improved policy: argmax π' − n / (1 + ΣN)."""
    weights = scratch.work[b].weights
    improve_policy(tree, options, b, node, weights, True)
    first, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    sum_visits = tree.nodes[b, node].sum_visits
    if options.leaves > 1:
        for edge in range(first, first + count):
            sum_visits += tree.extras[b, edge].pending
    best, best_score = first, -INFINITE
    for index in range(count):
        edge = first + index
        if not is_proven(tree, options, b, edge):
            pending = tree.extras[b, edge].pending if options.leaves > 1 else 0
            visits = tree.edges[b, edge].visits + pending
            score = weights[index] - visits / (1.0 + sum_visits)
            if score > best_score:
                best, best_score = edge, score
    return best


@kernel_function
def improve_policy(
    tree: Tree,
    options: Options,
    b: int,
    node: int,
    policy: NDArray[np.float64],
    only_unproven: bool,
) -> None:
    """Writes π' = softmax(ℓ + σ(completed Q)) of the node's edges, or its unproven edges."""
    mixed = mixed_value(tree, options, b, node)
    slope = q_slope(tree, options, b, node, mixed)
    first, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    largest = -INFINITE
    for index in range(count):
        q = completed_q(tree, options, b, first + index, mixed)
        policy[index] = edge_logit(tree, b, first + index) + slope * (q + 1.0)
        if only_unproven and is_proven(tree, options, b, first + index):
            policy[index] = -INFINITE
        largest = max(largest, policy[index])
    total = 0.0
    for index in range(count):
        policy[index] = math.exp(policy[index] - largest)
        total += policy[index]
    for index in range(count):
        policy[index] /= total


@kernel_function
def mixed_value(tree: Tree, options: Options, b: int, node: int) -> float:
    """v_mix, Q of moves never tried: the node's own value and the tried Q weighted by prior."""
    first = tree.nodes[b, node].first_edge
    tried_prior, weighted = 0.0, 0.0
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if tree.edges[b, edge].visits > 0:
            prior = float(tree.edges[b, edge].prior)
            tried_prior += prior
            weighted += prior * completed_q(tree, options, b, edge, 0.0)
    own, sum_visits = float(tree.node_extras[b, node].own_value), tree.nodes[b, node].sum_visits
    if tried_prior <= 0.0:
        return own
    return (own + sum_visits * weighted / tried_prior) / (1.0 + sum_visits)


@kernel_function
def completed_q(tree: Tree, options: Options, b: int, edge: int, mixed: float) -> float:
    """Q of a tried edge, exact if proven; `mixed` for the others."""
    if is_proven(tree, options, b, edge):
        return float(tree.extras[b, edge].exact)
    if tree.edges[b, edge].visits > 0:
        return tree.edges[b, edge].q
    return mixed


@kernel_function
def q_slope(tree: Tree, options: Options, b: int, node: int, mixed: float) -> float:
    """(c_visit + max n) · c_scale over the range of Q: σ(q) is this times q + 1."""
    most, lowest, highest = 0, INFINITE, -INFINITE
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        most = max(most, tree.edges[b, edge].visits)
        if options.gumbel_rescale:
            q = completed_q(tree, options, b, edge, mixed)
            lowest, highest = min(lowest, q), max(highest, q)
    span = max(highest - lowest, SMALLEST_SPAN) if options.gumbel_rescale else 2.0
    return (options.gumbel_c_visit + most) * options.gumbel_c_scale / span


@kernel_function
def edge_logit(tree: Tree, b: int, edge: int) -> float:
    """ℓ = ln P."""
    return math.log(max(float(tree.edges[b, edge].prior), SMALLEST_PRIOR))
