"""Which edge of a node a simulation follows: chance, UCT and PUCT. Gumbel's way is in gumbel.py."""

import math
from typing import Any, NamedTuple

from tesuji.compiling import kernel_function
from tesuji.games.contract import CHANCE
from tesuji.search.amaf import amaf_reference, mix_amaf
from tesuji.search.formulas import (
    INFINITE,
    growing_c_puct,
    puct_log_score,
    puct_score,
    q_of,
    spread_factor,
    uct_score,
    visit_term,
    widening_limit,
)
from tesuji.search.gumbel import select_gumbel_interior, select_gumbel_root
from tesuji.search.options import (
    AMAF_OFF,
    FPU_INFINITE,
    FPU_REDUCTION,
    FPU_ZERO,
    GUMBEL,
    PUCT,
    PUCT_LOG,
    UCT,
)
from tesuji.search.proof import is_proven, is_proven_loss
from tesuji.search.random import random_unit
from tesuji.search.tree import ROOT


@kernel_function
def select_edge(tree: Any, scratch: Any, options: Any, b: Any, node: Any) -> Any:
    """The edge to follow from `node` in game b."""
    if tree.states[b, node].to_play == CHANCE:
        return sample_outcome(tree, scratch, b, node)
    if options.selection == GUMBEL:
        if node == ROOT:
            return select_gumbel_root(tree, scratch, options, b)
        return select_gumbel_interior(tree, scratch, options, b, node)
    return best_edge(tree, options, b, node)


@kernel_function
def sample_outcome(tree: Any, scratch: Any, b: Any, node: Any) -> Any:
    """A chance node's edge, drawn with its probability."""
    x = random_unit(scratch.streams, b)
    first, count = tree.nodes[b, node].first_edge, tree.nodes[b, node].num_edges
    total = 0.0
    for edge in range(first, first + count):
        total += float(tree.edges[b, edge].prior)
        if x < total:
            return edge
    return first + count - 1


class Terms(NamedTuple):
    """What the scores of a node's edges have in common."""

    sum_visits: Any  # S', leaves on their way included
    node_visits: Any  # N'
    first_play: Any  # Q of an edge never tried
    c: Any  # the exploration constant here
    visit_term: Any  # T^e of PUCT
    mover: Any
    amaf_node: Any  # whose AMAF values count here
    limit: Any  # progressive widening: edges from this index on are left out
    floor: Any  # pruning: edges worth less are left out


@kernel_function
def best_edge(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The edge with the largest score, of equals the first, among those not left out."""
    terms = node_terms(tree, options, b, node)
    edge = best_among(tree, options, b, node, terms, True)
    if edge < 0:
        edge = best_among(tree, options, b, node, terms, False)
    return edge if edge >= 0 else tree.nodes[b, node].first_edge


@kernel_function
def best_among(tree: Any, options: Any, b: Any, node: Any, terms: Any, is_strict: Any) -> Any:
    """As `best_edge`; −1 if every edge is left out, by proof alone where not `is_strict`."""
    first = tree.nodes[b, node].first_edge
    best, best_score = -1, -INFINITE
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if options.filters and is_left_out(tree, options, b, edge, edge - first, terms, is_strict):
            continue
        score = edge_score(tree, options, b, node, edge, terms)
        if score > best_score:
            best, best_score = edge, score
    return best


@kernel_function
def edge_score(tree: Any, options: Any, b: Any, node: Any, edge: Any, terms: Any) -> Any:
    """Q + U of an edge, for the node's mover."""
    visits = tree.edges[b, edge].visits
    pending = tree.extras[b, edge].pending if options.leaves > 1 else 0
    tried = visits + pending
    prior = float(tree.edges[b, edge].prior)
    if tried == 0 and options.fpu == FPU_INFINITE:
        q = INFINITE
    else:
        q = q_of(tree.edges[b, edge].value_sum, visits, pending, options.pending, terms.first_play)
        if options.amaf != AMAF_OFF:
            q = mix_amaf(tree, options, b, edge, terms.amaf_node, terms.mover, q)
        if is_proven(tree, options, b, edge):
            q = float(tree.extras[b, edge].exact)
    if options.forced_playouts > 0.0 and node == ROOT and visits > 0:
        if tried < math.sqrt(options.forced_playouts * prior * terms.sum_visits):
            return INFINITE
    if options.selection == PUCT:
        return puct_score(q, prior, tried, terms.visit_term, terms.c)
    if options.selection == PUCT_LOG:
        return puct_log_score(q, prior, tried, terms.node_visits, terms.c, options.c_puct_base)
    if tried == 0:
        return INFINITE
    return uct_score(q, tried, max(1, terms.node_visits), terms.c)


@kernel_function
def node_terms(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The `Terms` of a decision node."""
    sum_visits = tree.nodes[b, node].sum_visits + pending_below(tree, options, b, node)
    node_visits = sum_visits if node == ROOT else sum_visits + 1
    mover = tree.states[b, node].to_play
    limit, floor = tree.nodes[b, node].num_edges, -INFINITE
    if options.widening > 0.0:
        limit = widening_limit(options.widening, options.widening_exponent, sum_visits)
    if options.prune_margin > 0.0:
        floor = pruning_floor(tree, options, b, node)
    return Terms(
        sum_visits,
        node_visits,
        first_play_value(tree, options, b, node, mover),
        exploration_constant(tree, options, b, node, node_visits, mover),
        visit_term(options.visit_term, sum_visits, node_visits, options.visit_exponent),
        mover,
        node if options.amaf == AMAF_OFF else amaf_reference(tree, options, b, node),
        limit,
        floor,
    )


@kernel_function
def pending_below(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """Σp: leaves below the node that wait for their evaluation."""
    total = 0
    if options.leaves > 1:
        first = tree.nodes[b, node].first_edge
        for edge in range(first, first + tree.nodes[b, node].num_edges):
            total += tree.extras[b, edge].pending
    return total


@kernel_function
def first_play_value(tree: Any, options: Any, b: Any, node: Any, mover: Any) -> Any:
    """Q of an edge never tried; where that is infinite, of one whose first leaf is on its way."""
    if options.fpu == FPU_ZERO or options.fpu == FPU_INFINITE:
        return 0.0
    value = tree.nodes[b, node].value_sum[mover] / (1.0 + tree.nodes[b, node].sum_visits)
    if options.fpu == FPU_REDUCTION:
        tried_prior = 0.0
        first = tree.nodes[b, node].first_edge
        for edge in range(first, first + tree.nodes[b, node].num_edges):
            pending = tree.extras[b, edge].pending if options.leaves > 1 else 0
            if tree.edges[b, edge].visits + pending > 0:
                tried_prior += float(tree.edges[b, edge].prior)
        value -= options.fpu_reduction * math.sqrt(tried_prior)
    return value


@kernel_function
def exploration_constant(
    tree: Any, options: Any, b: Any, node: Any, node_visits: Any, mover: Any
) -> Any:
    """c of the selected formula, grown with visits and scaled by the spread of results."""
    if options.selection == UCT:
        c = options.c_uct
    elif options.selection == PUCT:
        c = growing_c_puct(options.c_puct, options.c_puct_base, node_visits)
    else:
        c = options.c_puct
    if options.c_puct_spread > 0.0:
        count = 1.0 + tree.nodes[b, node].sum_visits
        mean = tree.nodes[b, node].value_sum[mover] / count
        c *= spread_factor(mean, tree.nodes[b, node].square_sum / count, count, options)
    return c


@kernel_function
def pruning_floor(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The value below which an edge visited often enough is pruned."""
    best = -INFINITE
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if tree.edges[b, edge].visits >= options.prune_visits:
            best = max(best, tree.edges[b, edge].value_sum / tree.edges[b, edge].visits)
    return best - options.prune_margin


@kernel_function
def is_left_out(
    tree: Any, options: Any, b: Any, edge: Any, index: Any, terms: Any, is_strict: Any
) -> Any:
    """Whether selection passes over the edge; by a proven loss alone where not `is_strict`."""
    if is_proven_loss(tree, options, b, edge):
        return True
    if not is_strict:
        return False
    if index >= terms.limit or float(tree.edges[b, edge].prior) < options.prior_threshold:
        return True
    visits = tree.edges[b, edge].visits
    return visits >= options.prune_visits and tree.edges[b, edge].value_sum / visits < terms.floor
