"""Which edge of a node a simulation follows: chance, UCT and PUCT. Gumbel's way is in gumbel.py."""

import math
from typing import Any, NamedTuple

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.search.gpu.warp_lanes import best_of_lanes, lane, leaders, leads, num_lanes
from plainzero.search.kernels.amaf import amaf_reference, mix_amaf
from plainzero.search.kernels.formulas import (
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
from plainzero.search.kernels.gumbel import select_gumbel_interior, select_gumbel_root
from plainzero.search.kernels.proof import is_proven, is_proven_loss
from plainzero.search.kernels.random_streams import random_unit
from plainzero.search.resolve_options import (
    AMAF_OFF,
    FPU_INFINITE,
    FPU_REDUCTION,
    FPU_ZERO,
    GUMBEL,
    PUCT,
    PUCT_LOG,
    UCT,
)
from plainzero.search.tree_memory import ROOT


@kernel_function
def select_edge(tree: Any, scratch: Any, options: Any, b: Any, node: Any) -> Any:
    """The edge to follow from `node` in game b."""
    if tree.nodes[b, node].mover == CHANCE or options.selection == GUMBEL:
        edge = 0
        if leads():
            edge = select_alone(tree, scratch, options, b, node)
        return leaders(edge)
    return best_edge(tree, options, b, node)


@kernel_function
def select_alone(tree: Any, scratch: Any, options: Any, b: Any, node: Any) -> Any:
    """As `select_edge` where one thread does it: chance, which draws, and Gumbel's way."""
    if tree.nodes[b, node].mover == CHANCE:
        return sample_outcome(tree, scratch, b, node)
    if node == ROOT:
        return select_gumbel_root(tree, scratch, options, b)
    return select_gumbel_interior(tree, scratch, options, b, node)


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
    first_play: Any  # Q of an edge never tried
    c: Any  # the exploration constant here
    parent: Any  # the parent's visits as the formula takes them: T^e, or a logarithm
    mover: Any
    amaf_node: Any  # whose AMAF values count here
    limit: Any  # progressive widening: edges from this index on are left out
    floor: Any  # pruning: edges worth less are left out
    forced_playouts: Any  # k of those at a root


@kernel_function
def best_edge(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The edge with the largest score, of equals the first, among those not left out."""
    terms = node_terms(tree, options, b, node)
    if options.selection == PUCT and options.is_plain and not options.filters:
        return best_by_puct(tree, b, node, terms)
    for is_strict in (True, False):  # a loop, because a second call would be inlined once more
        edge = best_among(tree, options, b, node, terms, is_strict)
        if edge >= 0:
            return edge
    return tree.nodes[b, node].first_edge


@kernel_function
def best_by_puct(tree: Any, b: Any, node: Any, terms: Any) -> Any:
    """As `best_edge` for PUCT without further options."""
    first = tree.nodes[b, node].first_edge
    best, best_score = first, -INFINITE
    for place in range(first + lane(), first + tree.nodes[b, node].num_edges, num_lanes()):
        edge = tree.edges[b, place]
        q = edge.q if edge.visits > 0 else terms.first_play
        score = puct_score(q, float(edge.prior), edge.visits, terms.parent, terms.c)
        if score > best_score:
            best, best_score = place, score
    return best_of_lanes(best, best_score)


@kernel_function
def best_among(tree: Any, options: Any, b: Any, node: Any, terms: Any, is_strict: Any) -> Any:
    """As `best_edge`; −1 if every edge is left out, by proof alone where not `is_strict`."""
    first = tree.nodes[b, node].first_edge
    last = first + tree.nodes[b, node].num_edges
    # In locals, because the compiler cannot know that these never change.
    filters, is_plain, selection = options.filters, options.is_plain, options.selection
    best, best_score = -1, -INFINITE
    for place in range(first + lane(), last, num_lanes()):
        if filters and is_left_out(tree, options, b, place, place - first, terms, is_strict):
            continue
        edge = tree.edges[b, place]
        visits = edge.visits
        if is_plain:
            q = edge.q if visits > 0 else terms.first_play
        else:
            visits += pending_leaves(tree, options, b, place)
            q = optional_q(tree, options, b, node, place, visits, terms)
        score = edge_score(selection, q, float(edge.prior), visits, terms)
        if score > best_score:
            best, best_score = place, score
    return best_of_lanes(best, best_score)


@kernel_function
def edge_score(selection: Any, q: Any, prior: Any, visits: Any, terms: Any) -> Any:
    """Q + U by the selected formula."""
    if selection == PUCT:
        return puct_score(q, prior, visits, terms.parent, terms.c)
    if selection == PUCT_LOG:
        return puct_log_score(q, prior, visits, terms.parent, terms.c)
    return uct_score(q, visits, terms.parent, terms.c) if visits > 0 else INFINITE


@kernel_function
def optional_q(
    tree: Any, options: Any, b: Any, node: Any, place: Any, tried: Any, terms: Any
) -> Any:
    """Q of an edge with leaves on their way, AMAF, proofs, forced playouts, first-play urgency."""
    edge = tree.edges[b, place]
    if tried == 0 and options.fpu == FPU_INFINITE:
        return INFINITE
    if is_proven(tree, options, b, place):
        return float(tree.extras[b, place].exact)
    if node == ROOT and is_forced(edge, tried, terms):
        return INFINITE
    q = q_of(edge.value_sum, edge.visits, tried - edge.visits, options.pending, terms.first_play)
    if options.amaf != AMAF_OFF:
        q = mix_amaf(tree, options, b, place, terms.amaf_node, terms.mover, q)
    return q


@kernel_function
def is_forced(edge: Any, tried: Any, terms: Any) -> Any:
    """Whether a root edge has fewer visits than forced playouts grant it."""
    granted = math.sqrt(terms.forced_playouts * float(edge.prior) * terms.sum_visits)
    return edge.visits > 0 and tried < granted


@kernel_function
def pending_leaves(tree: Any, options: Any, b: Any, edge: Any) -> Any:
    """p: leaves below the edge that wait for their evaluation."""
    return tree.extras[b, edge].pending if options.leaves > 1 else 0


@kernel_function
def node_terms(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The `Terms` of a decision node."""
    sum_visits = tree.nodes[b, node].sum_visits + pending_below(tree, options, b, node)
    node_visits = sum_visits if node == ROOT else sum_visits + 1
    mover = tree.nodes[b, node].mover
    limit, floor, forced = tree.nodes[b, node].num_edges, -INFINITE, options.forced_playouts
    if forced > 0.0 and tree.roots[b].is_cheap:
        forced = 0.0
    if options.widening > 0.0:
        limit = widening_limit(options.widening, options.widening_exponent, sum_visits)
    if options.prune_margin > 0.0:
        floor = pruning_floor(tree, options, b, node)
    return Terms(
        sum_visits,
        first_play_value(tree, options, b, node, mover),
        exploration_constant(tree, options, b, node, node_visits, mover),
        parent_term(options, sum_visits, node_visits),
        mover,
        node if options.amaf == AMAF_OFF else amaf_reference(tree, options, b, node),
        limit,
        floor,
        forced,
    )


@kernel_function
def parent_term(options: Any, sum_visits: Any, node_visits: Any) -> Any:
    """The parent's visits as the selected formula takes them."""
    if options.selection == PUCT:
        return visit_term(options.visit_term, sum_visits, node_visits, options.visit_exponent)
    if options.selection == PUCT_LOG:
        return math.log(1.0 + node_visits + options.c_puct_base)
    return math.log(max(1.0, float(node_visits)))


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
            if tree.edges[b, edge].visits + pending_leaves(tree, options, b, edge) > 0:
                tried_prior += float(tree.edges[b, edge].prior)
        value -= options.fpu_reduction * math.sqrt(tried_prior)
    return value


@kernel_function
def exploration_constant(
    tree: Any, options: Any, b: Any, node: Any, node_visits: Any, mover: Any
) -> Any:
    """The c of the selected formula, grown with visits and scaled by the spread of results."""
    if options.selection == UCT:
        c = options.c_uct
    elif options.selection == PUCT:
        c = growing_c_puct(options.c_puct, options.c_puct_base, node_visits)
    else:
        c = options.c_puct
    if options.c_puct_spread > 0.0:
        count = 1.0 + tree.nodes[b, node].sum_visits
        mean = tree.nodes[b, node].value_sum[mover] / count
        c *= spread_factor(mean, tree.node_extras[b, node].square_sum / count, count, options)
    return c


@kernel_function
def pruning_floor(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The value below which an edge visited often enough is pruned."""
    best = -INFINITE
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if tree.edges[b, edge].visits >= options.prune_visits:
            best = max(best, tree.edges[b, edge].q)
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
    return (
        tree.edges[b, edge].visits >= options.prune_visits and tree.edges[b, edge].q < terms.floor
    )
