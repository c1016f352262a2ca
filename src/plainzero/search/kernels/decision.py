"""The outcome of a finished search: the policy that a network should learn, and the move to play.

Functions over the root's edges of game b. Self-play calls them compiled, `SearchResult` as plain
Python, with equal results.
"""

import math

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.search.kernels.formulas import puct_score
from plainzero.search.kernels.gumbel import (
    completed_q,
    edge_logit,
    improve_policy,
    mixed_value,
    q_scale,
)
from plainzero.search.kernels.options import GUMBEL, Options
from plainzero.search.kernels.proof import is_proven, is_proven_loss
from plainzero.search.kernels.random_streams import random_unit
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.selection import node_terms
from plainzero.search.kernels.tree import ROOT, Tree

SMALLEST_TEMPERATURE = 1e-8


@kernel_function
def is_candidate(tree: Tree, options: Options, b: int, edge: int) -> bool:
    """Whether the move is worth playing: it has a proven root's value, or is not proven lost."""
    if tree.roots[b].is_proven:
        is_known = is_proven(tree, options, b, edge)
        return is_known and tree.extras[b, edge].exact == tree.roots[b].exact
    return not is_proven_loss(tree, options, b, edge)


@kernel_function
def write_policy_target(tree: Tree, options: Options, b: int, weights: NDArray[np.float64]) -> None:
    """Writes the policy that a network should learn to weights[index of the root's edge]."""
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    if options.selection == GUMBEL:
        improve_policy(tree, options, b, ROOT, weights)
    else:
        write_visits(tree, b, weights)
        if options.forced_playouts > 0.0 and not tree.roots[b].is_proven:
            subtract_forced_playouts(tree, options, b, weights)
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
def write_visits(tree: Tree, b: int, weights: NDArray[np.float64]) -> None:
    """Writes the visits of the root's edges."""
    first = tree.nodes[b, ROOT].first_edge
    for index in range(tree.nodes[b, ROOT].num_edges):
        weights[index] = float(tree.edges[b, first + index].visits)


@kernel_function
def is_empty(weights: NDArray[np.float64], count: int) -> bool:
    """Whether all of them are 0."""
    for index in range(count):
        if weights[index] != 0.0:
            return False
    return True


@kernel_function
def keep_candidates(tree: Tree, options: Options, b: int, weights: NDArray[np.float64]) -> None:
    """Sets moves that are not worth playing to 0, unless no other move has weight.

    If templates proved the root and no candidate was tried, all candidates count the same.
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
def subtract_forced_playouts(
    tree: Tree, options: Options, b: int, visits: NDArray[np.float64]
) -> None:
    """Subtracts the visits that PUCT alone would not have made (KataGo's target pruning)."""
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
def choose_action(
    tree: Tree, scratch: Scratch, options: Options, b: int, temperature: float
) -> int:
    """The move to play: Gumbel's, or drawn by visits^(1/τ), or the most visited for τ near 0."""
    first = tree.nodes[b, ROOT].first_edge
    has_visits = tree.nodes[b, ROOT].sum_visits > 0
    if options.selection == GUMBEL and has_visits and not tree.roots[b].is_proven:
        return tree.edges[b, first + best_by_gumbel(tree, scratch, options, b)].action
    if temperature < SMALLEST_TEMPERATURE or not has_visits:
        return tree.edges[b, first + most_visited(tree, options, b)].action
    return tree.edges[b, first + draw_by_visits(tree, scratch, options, b, temperature)].action


@kernel_function
def best_by_gumbel(tree: Tree, scratch: Scratch, options: Options, b: int) -> int:
    """The index of the largest g + ℓ + σ(Q) among the candidates most visited in this search."""
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
def most_visited(tree: Tree, options: Options, b: int) -> int:
    """The index of the most visited candidate; ties by `is_better`."""
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
def is_better(tree: Tree, options: Options, b: int, edge: int, other: int) -> bool:
    """Compares by visits, then by Q (the prior if neither was tried), then by lowest action."""
    one, two = tree.edges[b, edge], tree.edges[b, other]
    if one.visits != two.visits:
        return one.visits > two.visits
    mine, theirs = tie_value(tree, options, b, edge), tie_value(tree, options, b, other)
    if mine != theirs:
        return mine > theirs
    return one.action < two.action


@kernel_function
def tie_value(tree: Tree, options: Options, b: int, edge: int) -> float:
    """Q, exact if proven; the prior of a move never tried."""
    if tree.edges[b, edge].visits == 0:
        return float(tree.edges[b, edge].prior)
    return completed_q(tree, options, b, edge, 0.0)


@kernel_function
def draw_by_visits(
    tree: Tree, scratch: Scratch, options: Options, b: int, temperature: float
) -> int:
    """The index of a candidate, drawn in proportion to visits^(1/τ)."""
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
