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
    SMALLEST_PRIOR,
    completed_q,
    edge_logit,
    improve_policy,
    mixed_value,
    q_slope,
)
from plainzero.search.kernels.options import GUMBEL, Options
from plainzero.search.kernels.proof import best_exact, is_node_proven, is_proven, is_proven_loss
from plainzero.search.kernels.random_streams import random_unit
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.selection import node_terms
from plainzero.search.kernels.tree import ROOT, WORST_RESULT, Tree

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
        improve_policy(tree, options, b, ROOT, weights, False)
    else:
        write_visits(tree, b, weights)
        if options.forced_playouts > 0.0 and not tree.roots[b].is_proven:
            subtract_forced_playouts(tree, options, b, weights)
        credit_proven_moves(tree, options, b, weights)
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
def credit_proven_moves(tree: Tree, options: Options, b: int, visits: NDArray[np.float64]) -> None:
    """Moves visits of moves worth less than the best proven ones to these, in ratio of priors.

    As in `backup`: worse moves are tried to learn about them, with the proven ones in mind. Visits
    of proven moves say how much work the proofs were, and count as visits of worse ones.
    """
    best = best_exact(tree, b, ROOT) if options.proven_values else WORST_RESULT
    if best == WORST_RESULT and not tree.roots[b].is_proven:
        return
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    moved, priors = 0.0, 0.0
    for index in range(count):
        extra = tree.extras[b, first + index]
        if extra.is_proven or tree.edges[b, first + index].q < best:
            moved += visits[index]
            visits[index] = 0.0
        if extra.is_proven and extra.exact == best:
            priors += tree.roots[b].clean_prior[index] + SMALLEST_PRIOR
    for index in range(count):
        extra = tree.extras[b, first + index]
        if extra.is_proven and extra.exact == best:
            share = (tree.roots[b].clean_prior[index] + SMALLEST_PRIOR) / priors
            visits[index] = moved * share


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
    """The move to play: Gumbel's, or drawn by visits^(1/τ), or the best for τ near 0."""
    first = tree.nodes[b, ROOT].first_edge
    has_visits = tree.nodes[b, ROOT].sum_visits > 0
    if options.selection == GUMBEL and has_visits and not tree.roots[b].is_proven:
        return tree.edges[b, first + best_by_gumbel(tree, scratch, options, b)].action
    if temperature < SMALLEST_TEMPERATURE or not has_visits:
        return tree.edges[b, first + best_move(tree, options, b, ROOT)].action
    return tree.edges[b, first + draw_by_visits(tree, scratch, options, b, temperature)].action


@kernel_function
def best_by_gumbel(tree: Tree, scratch: Scratch, options: Options, b: int) -> int:
    """The index of the largest g + ℓ + σ(Q) among proven moves and the most visited of others.

    Visits count from the beginning of this search. Lost moves are left out.
    """
    first, work = tree.nodes[b, ROOT].first_edge, scratch.work[b]
    mixed = mixed_value(tree, options, b, ROOT)
    slope = q_slope(tree, options, b, ROOT, mixed)
    most = 0
    for index in range(tree.nodes[b, ROOT].num_edges):
        if not is_proven(tree, options, b, first + index):
            most = max(most, tree.edges[b, first + index].visits - work.base_visits[index])
    best, best_score = -1, 0.0
    for index in range(tree.nodes[b, ROOT].num_edges):
        edge = first + index
        visits = tree.edges[b, edge].visits - work.base_visits[index]
        if is_proven_loss(tree, options, b, edge):
            continue
        if is_proven(tree, options, b, edge) or visits == most:
            sigma = slope * (completed_q(tree, options, b, edge, mixed) + 1.0)
            score = work.gumbel[index] + edge_logit(tree, b, edge) + sigma
            if best < 0 or score > best_score:
                best, best_score = index, score
    return best


@kernel_function
def best_move(tree: Tree, options: Options, b: int, node: int) -> int:
    """The index of the node's best move: proven best, or the most visited if nothing is better."""
    if options.proven_values and is_node_proven(tree, b, node):
        return best_proven(tree, options, b, node)
    return at_least_proven(tree, options, b, node, most_visited(tree, options, b, node))


@kernel_function
def at_least_proven(tree: Tree, options: Options, b: int, node: int, index: int) -> int:
    """The index of an unproven move, or of a proven one that is not lost and worth as much."""
    first = tree.nodes[b, node].first_edge
    proven = best_proven(tree, options, b, node)
    if proven < 0 or is_proven_loss(tree, options, b, first + proven):
        return index
    edge = tree.edges[b, first + index]
    is_worse = edge.visits > 0 and tree.extras[b, first + proven].exact < edge.q
    return index if is_worse else proven


@kernel_function
def best_proven(tree: Tree, options: Options, b: int, node: int) -> int:
    """The index of the node's best proven move, or −1.

    Of equal values, the shortest win, or else the move after which the end is furthest away.
    """
    first, best = tree.nodes[b, node].first_edge, -1
    for index in range(tree.nodes[b, node].num_edges):
        if is_proven(tree, options, b, first + index):
            if best < 0 or is_better_proven(tree, options, b, first + index, first + best):
                best = index
    return best


@kernel_function
def is_better_proven(tree: Tree, options: Options, b: int, edge: int, other: int) -> bool:
    """Compares proven moves by value, by the length of their proofs, then by `is_better`."""
    one, two = tree.extras[b, edge], tree.extras[b, other]
    if one.exact != two.exact:
        return one.exact > two.exact
    if one.proof_length != two.proof_length:
        return (one.proof_length < two.proof_length) == (one.exact > 0.0)
    return is_better(tree, options, b, edge, other)


@kernel_function
def most_visited(tree: Tree, options: Options, b: int, node: int) -> int:
    """The index of the node's most visited unproven move; ties by `is_better`."""
    first, best = tree.nodes[b, node].first_edge, -1
    for index in range(tree.nodes[b, node].num_edges):
        if not is_proven(tree, options, b, first + index):
            if best < 0 or is_better(tree, options, b, first + index, first + best):
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
def write_playing_weights(
    tree: Tree, options: Options, b: int, weights: NDArray[np.float64]
) -> None:
    """Writes the visits of the moves worth playing, with those that proven moves deserve."""
    write_visits(tree, b, weights)
    credit_proven_moves(tree, options, b, weights)
    keep_candidates(tree, options, b, weights)


@kernel_function
def draw_by_visits(
    tree: Tree, scratch: Scratch, options: Options, b: int, temperature: float
) -> int:
    """The index of a candidate, drawn in proportion to visits^(1/τ)."""
    count, weights = tree.nodes[b, ROOT].num_edges, scratch.work[b].weights
    write_playing_weights(tree, options, b, weights)
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
