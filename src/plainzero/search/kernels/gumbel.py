"""Gumbel's way to search: sequential halving at the root, the improved policy below it.

Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", 2022.
"""

import math
from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.formulas import INFINITE
from plainzero.search.kernels.proof import is_proven, is_proven_loss
from plainzero.search.tree_memory import ROOT

_SMALLEST_PRIOR = 1e-30


@kernel_function
def select_gumbel_root(tree: Any, scratch: Any, options: Any, b: Any) -> Any:
    """Among the edges visited as often as the schedule asks, the largest g + ℓ + σ(Q)."""
    moves = min(options.gumbel_actions, tree.nodes[b, ROOT].num_edges)
    simulation = scratch.work[b].simulations + scratch.work[b].num_leaves
    for required in (required_visits(simulation, moves, scratch.work[b].simulation_limit), -1):
        edge = best_with_visits(tree, scratch, options, b, required)
        if edge >= 0:
            return edge
    return tree.nodes[b, ROOT].first_edge


@kernel_function
def required_visits(simulation: Any, moves: Any, simulations: Any) -> Any:
    """r(t) of sequential halving: the visits that the root edge of simulation t has so far."""
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
def best_with_visits(tree: Any, scratch: Any, options: Any, b: Any, required: Any) -> Any:
    """The root edge of that many visits with the largest g + ℓ + σ(Q); of any number for −1."""
    mixed = mixed_value(tree, options, b, ROOT)
    scale = q_scale(tree, options, b, ROOT)
    first = tree.nodes[b, ROOT].first_edge
    best, best_score = -1, -INFINITE
    for index in range(tree.nodes[b, ROOT].num_edges):
        edge = first + index
        pending = tree.extras[b, edge].pending if options.leaves > 1 else 0
        visits = tree.edges[b, edge].visits + pending - scratch.work[b].base_visits[index]
        if required < 0 or visits == required:
            q = completed_q(tree, options, b, edge, mixed)
            score = (
                scratch.work[b].gumbel[index] + edge_logit(tree, b, edge) + scale * (q + 1.0) / 2.0
            )
            if score > best_score:
                best, best_score = edge, score
    return best


@kernel_function
def select_gumbel_interior(tree: Any, scratch: Any, options: Any, b: Any, node: Any) -> Any:
    """The edge whose visits lag most behind the improved policy: argmax π' − n / (1 + ΣN)."""
    weights = scratch.work[b].weights
    improve_policy(tree, options, b, node, weights)
    first, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    sum_visits = tree.nodes[b, node].sum_visits
    if options.leaves > 1:
        for edge in range(first, first + count):
            sum_visits += tree.extras[b, edge].pending
    best, best_score = first, -INFINITE
    for index in range(count):
        edge = first + index
        if not is_proven_loss(tree, options, b, edge):
            pending = tree.extras[b, edge].pending if options.leaves > 1 else 0
            visits = tree.edges[b, edge].visits + pending
            score = weights[index] - visits / (1.0 + sum_visits)
            if score > best_score:
                best, best_score = edge, score
    return best


@kernel_function
def improve_policy(tree: Any, options: Any, b: Any, node: Any, policy: Any) -> None:
    """Writes π' = softmax(ℓ + σ(completed Q)) of the node's edges to `policy`."""
    mixed = mixed_value(tree, options, b, node)
    scale = q_scale(tree, options, b, node)
    first, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    largest = -INFINITE
    for index in range(count):
        q = completed_q(tree, options, b, first + index, mixed)
        policy[index] = edge_logit(tree, b, first + index) + scale * (q + 1.0) / 2.0
        largest = max(largest, policy[index])
    total = 0.0
    for index in range(count):
        policy[index] = math.exp(policy[index] - largest)
        total += policy[index]
    for index in range(count):
        policy[index] /= total


@kernel_function
def mixed_value(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """v_mix: the node's own value and its tried edges' Q weighted by prior, for moves untried."""
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
def completed_q(tree: Any, options: Any, b: Any, edge: Any, mixed: Any) -> Any:
    """Q of a tried edge, exact where proven, and `mixed` for the others."""
    if is_proven(tree, options, b, edge):
        return float(tree.extras[b, edge].exact)
    if tree.edges[b, edge].visits > 0:
        return tree.edges[b, edge].q
    return mixed


@kernel_function
def q_scale(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """(c_visit + max n) · c_scale, the factor in σ(q)."""
    most = 0
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        most = max(most, tree.edges[b, edge].visits)
    return (options.gumbel_c_visit + most) * options.gumbel_c_scale


@kernel_function
def edge_logit(tree: Any, b: Any, edge: Any) -> Any:
    """ℓ = ln P."""
    return math.log(max(float(tree.edges[b, edge].prior), _SMALLEST_PRIOR))
