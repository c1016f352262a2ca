"""What a finished search says: what a network should learn from it, and the move to play.

Functions over the root's edges of game b. Self-play calls them compiled, `SearchResult` as they
stand: they mean the same in both.
"""

import math
from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.formulas import puct_score
from plainzero.search.kernels.gumbel import (
    completed_q,
    edge_logit,
    improve_policy,
    mixed_value,
    q_scale,
)
from plainzero.search.kernels.proof import is_proven, is_proven_loss
from plainzero.search.kernels.random_streams import random_unit
from plainzero.search.kernels.selection import node_terms
from plainzero.search.resolve_options import GUMBEL
from plainzero.search.tree_memory import ROOT

SMALLEST_TEMPERATURE = 1e-8


@kernel_function
def is_candidate(tree: Any, options: Any, b: Any, edge: Any) -> Any:
    """Whether the move is worth playing: of a proven root's value, else not proven lost."""
    if tree.roots[b].is_proven:
        is_known = is_proven(tree, options, b, edge)
        return is_known and tree.extras[b, edge].exact == tree.roots[b].exact
    return not is_proven_loss(tree, options, b, edge)


@kernel_function
def write_policy_target(tree: Any, options: Any, b: Any, weights: Any) -> None:
    """Writes what a network should learn to weights[index of the root's edge]; it sums to 1."""
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    if options.selection == GUMBEL:
        improve_policy(tree, options, b, ROOT, weights)
    else:
        write_visits(tree, b, weights)
        if options.forced_playouts > 0.0 and not tree.roots[b].is_proven:
            take_back_forced_playouts(tree, options, b, weights)
    if is_empty(weights, count):
        for index in range(count):
            weights[index] = float(tree.edges[b, first + index].prior)
    keep_candidates(tree, options, b, weights)
    total = 0.0
    for index in range(count):
        total += weights[index]
    for index in range(count):
        weights[index] /= total


@kernel_function
def write_visits(tree: Any, b: Any, weights: Any) -> None:
    """Writes the visits of the root's edges."""
    first = tree.nodes[b, ROOT].first_edge
    for index in range(tree.nodes[b, ROOT].num_edges):
        weights[index] = float(tree.edges[b, first + index].visits)


@kernel_function
def is_empty(weights: Any, count: Any) -> Any:
    """Whether all of them are 0."""
    for index in range(count):
        if weights[index] != 0.0:
            return False
    return True


@kernel_function
def keep_candidates(tree: Any, options: Any, b: Any, weights: Any) -> None:
    """Sets moves that are not worth playing to 0, where that leaves any.

    Those that prove the root count alike where templates did so, and none of them was tried.
    """
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    kept = 0.0
    for index in range(count):
        if is_candidate(tree, options, b, first + index):
            kept += weights[index]
    if kept > 0.0 or tree.roots[b].is_proven:
        for index in range(count):
            if not is_candidate(tree, options, b, first + index):
                weights[index] = 0.0
            elif kept == 0.0:
                weights[index] = 1.0


@kernel_function
def take_back_forced_playouts(tree: Any, options: Any, b: Any, visits: Any) -> None:
    """Visits less those that PUCT alone would not have given (KataGo's target pruning)."""
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    terms = node_terms(tree, options, b, ROOT)
    best = 0
    for index in range(1, count):
        if visits[index] > visits[best]:
            best = index
    edge = tree.edges[b, first + best]
    bar = puct_score(edge.q, float(edge.prior), visits[best], terms.parent, terms.c)
    for index in range(count):
        if index != best and visits[index] > 0.0:
            edge = tree.edges[b, first + index]
            prior = float(edge.prior)
            forced = int(math.sqrt(options.forced_playouts * prior * terms.sum_visits))
            while forced > 0 and visits[index] > 0.0:
                if puct_score(edge.q, prior, visits[index] - 1.0, terms.parent, terms.c) >= bar:
                    break
                visits[index] -= 1.0
                forced -= 1
            if visits[index] <= 1.0:
                visits[index] = 0.0


@kernel_function
def choose_action(tree: Any, scratch: Any, options: Any, b: Any, temperature: Any) -> Any:
    """The move to play: Gumbel's, or drawn by visits^(1/τ), or for τ near 0 the most visited."""
    first = tree.nodes[b, ROOT].first_edge
    has_visits = tree.nodes[b, ROOT].sum_visits > 0
    if options.selection == GUMBEL and has_visits and not tree.roots[b].is_proven:
        return tree.edges[b, first + best_by_gumbel(tree, scratch, options, b)].action
    if temperature < SMALLEST_TEMPERATURE or not has_visits:
        return tree.edges[b, first + most_visited(tree, options, b)].action
    return tree.edges[b, first + draw_by_visits(tree, scratch, options, b, temperature)].action


@kernel_function
def best_by_gumbel(tree: Any, scratch: Any, options: Any, b: Any) -> Any:
    """Of the candidates visited most in this search, the index of the largest g + ℓ + σ(Q)."""
    first, work = tree.nodes[b, ROOT].first_edge, scratch.work[b]
    mixed, scale = mixed_value(tree, options, b, ROOT), q_scale(tree, options, b, ROOT)
    best, best_visits, best_score = -1, -1, 0.0
    for index in range(tree.nodes[b, ROOT].num_edges):
        edge = first + index
        if not is_candidate(tree, options, b, edge):
            continue
        visits = tree.edges[b, edge].visits - work.base_visits[index]
        sigma = scale * (completed_q(tree, options, b, edge, mixed) + 1.0) / 2.0
        score = work.gumbel[index] + edge_logit(tree, b, edge) + sigma
        if visits > best_visits or (visits == best_visits and score > best_score):
            best, best_visits, best_score = index, visits, score
    return best if best >= 0 else most_visited(tree, options, b)


@kernel_function
def most_visited(tree: Any, options: Any, b: Any) -> Any:
    """The index of the most visited candidate; of equals the best, then the lowest action."""
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    best = -1
    for index in range(count):
        if is_candidate(tree, options, b, first + index):
            if best < 0 or is_better(tree, options, b, first + index, first + best):
                best = index
    if best >= 0:
        return best
    best = 0
    for index in range(1, count):
        if is_better(tree, options, b, first + index, first + best):
            best = index
    return best


@kernel_function
def is_better(tree: Any, options: Any, b: Any, edge: Any, other: Any) -> Any:
    """By visits, then by Q for the mover (the prior where neither was tried), then the action."""
    one, two = tree.edges[b, edge], tree.edges[b, other]
    if one.visits != two.visits:
        return one.visits > two.visits
    mine, theirs = standing(tree, options, b, edge), standing(tree, options, b, other)
    if mine != theirs:
        return mine > theirs
    return one.action < two.action


@kernel_function
def standing(tree: Any, options: Any, b: Any, edge: Any) -> Any:
    """Q, exact where proven; the prior of a move never tried."""
    if tree.edges[b, edge].visits == 0:
        return float(tree.edges[b, edge].prior)
    return completed_q(tree, options, b, edge, 0.0)


@kernel_function
def draw_by_visits(tree: Any, scratch: Any, options: Any, b: Any, temperature: Any) -> Any:
    """The index of a candidate, drawn with visits^(1/τ)."""
    count, weights = tree.nodes[b, ROOT].num_edges, scratch.work[b].weights
    write_visits(tree, b, weights)
    keep_candidates(tree, options, b, weights)
    most = 0.0
    for index in range(count):
        most = max(most, weights[index])
    total = 0.0
    for index in range(count):
        if weights[index] > 0.0:
            weights[index] = math.exp(math.log(weights[index] / most) / temperature)
            total += weights[index]
    x = random_unit(scratch.streams, b) * total
    chosen, cumulative = 0, 0.0
    for index in range(count):
        if weights[index] > 0.0:
            chosen = index
            cumulative += weights[index]
            if cumulative > x:
                break
    return chosen
