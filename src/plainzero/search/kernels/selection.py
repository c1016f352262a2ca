"""Which edge of a node a simulation follows: chance, UCT and PUCT. Gumbel's is in gumbel.py."""

import math
from typing import NamedTuple

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.record_types import Record
from plainzero.games.contract import CHANCE
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
from plainzero.search.kernels.lanes import best_of_lanes, lane, leaders, leads, num_lanes
from plainzero.search.kernels.options import (
    AMAF_OFF,
    BALANCED,
    FPU_INFINITE,
    FPU_REDUCTION,
    FPU_ZERO,
    GUMBEL,
    PUCT,
    PUCT_LOG,
    UCT,
    Options,
)
from plainzero.search.kernels.proof import is_proven
from plainzero.search.kernels.random_streams import random_unit
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, Tree


@kernel_function
def select_edge(tree: Tree, scratch: Scratch, options: Options, b: int, node: int) -> int:
    """The edge to follow from `node` in game b."""
    if tree.nodes[b, node].mover == CHANCE or options.selection == GUMBEL:
        edge = 0
        if leads():
            edge = select_alone(tree, scratch, options, b, node)
        return leaders(edge)
    return best_edge(tree, options, b, node)


@kernel_function
def select_alone(tree: Tree, scratch: Scratch, options: Options, b: int, node: int) -> int:
    """`select_edge` for chance and Gumbel's selection, which one thread computes alone."""
    if tree.nodes[b, node].mover == CHANCE:
        return choose_outcome(tree, scratch, options, b, node)
    if node == ROOT:
        return select_gumbel_root(tree, scratch, options, b)
    return select_gumbel_interior(tree, scratch, options, b, node)


@kernel_function
def choose_outcome(tree: Tree, scratch: Scratch, options: Options, b: int, node: int) -> int:
    """An edge of a chance node, drawn by `outcome_weight`."""
    first = tree.nodes[b, node].first_edge
    last = first + tree.nodes[b, node].num_edges
    visits, weights = 1, 1.0  # of the node, this one included; the sum of all weights
    if options.chance == BALANCED:
        for edge in range(first, last):
            visits += tree.edges[b, edge].visits + pending_leaves(tree, options, b, edge)
        weights = 0.0
        for edge in range(first, last):
            weights += outcome_weight(tree, options, b, edge, visits)
    x = random_unit(scratch.streams, b) * weights
    total = 0.0
    for edge in range(first, last):
        total += outcome_weight(tree, options, b, edge, visits)
        if x < total:
            return edge
    return last - 1


@kernel_function
def outcome_weight(tree: Tree, options: Options, b: int, edge: int, visits: int) -> float:
    """An outcome's probability, or how many visits it lacks to have its share of `visits`."""
    probability = float(tree.edges[b, edge].prior)
    if options.chance == BALANCED:
        tried = tree.edges[b, edge].visits + pending_leaves(tree, options, b, edge)
        return max(0.0, probability * visits - tried)
    return probability


class Terms(NamedTuple):
    """What the scores of a node's edges have in common."""

    sum_visits: int  # S', pending leaves included
    first_play: float  # Q of an edge never tried
    c: float  # the exploration constant here
    parent: float  # the parent's visits as the formula takes them: T^e, or a logarithm
    mover: int
    amaf_node: int  # the node whose AMAF values are used here
    limit: int  # progressive widening: edges from this index on are skipped
    floor: float  # pruning: edges of a lower value are skipped
    forced_playouts: float  # k, at the root


@kernel_function
def best_edge(tree: Tree, options: Options, b: int, node: int) -> int:
    """The edge with the largest score among those not skipped; the first of equals."""
    terms = node_terms(tree, options, b, node)
    if options.selection == PUCT and options.is_plain and not options.filters:
        return best_by_puct(tree, b, node, terms)
    for is_strict in (True, False):  # a loop, because a second call would be inlined again
        edge = best_among(tree, options, b, node, terms, is_strict)
        if edge >= 0:
            return edge
    return tree.nodes[b, node].first_edge


@kernel_function
def best_by_puct(tree: Tree, b: int, node: int, terms: Terms) -> int:
    """`best_edge` for PUCT without further options."""
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
def best_among(
    tree: Tree, options: Options, b: int, node: int, terms: Terms, is_strict: bool
) -> int:
    """`best_edge`, or −1 if every edge is skipped; unless `is_strict`, only if proven."""
    first = tree.nodes[b, node].first_edge
    last = first + tree.nodes[b, node].num_edges
    # Local variables, because the compiler cannot know that options never change.
    filters, is_plain, selection = options.filters, options.is_plain, options.selection
    best, best_score = -1, -INFINITE
    for place in range(first + lane(), last, num_lanes()):
        if filters and is_skipped(tree, options, b, place, place - first, terms, is_strict):
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
def edge_score(selection: int, q: float, prior: float, visits: int, terms: Terms) -> float:
    """Q + U by the selected formula."""
    if selection == PUCT:
        return puct_score(q, prior, visits, terms.parent, terms.c)
    if selection == PUCT_LOG:
        return puct_log_score(q, prior, visits, terms.parent, terms.c)
    return uct_score(q, visits, terms.parent, terms.c) if visits > 0 else INFINITE


@kernel_function
def optional_q(
    tree: Tree, options: Options, b: int, node: int, place: int, tried: int, terms: Terms
) -> float:
    """Q of an edge with pending leaves, AMAF, proofs, forced playouts, first-play urgency."""
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
def is_forced(edge: Record, tried: int, terms: Terms) -> bool:
    """Whether a root edge has fewer visits than its forced playouts."""
    granted = math.sqrt(terms.forced_playouts * float(edge.prior) * terms.sum_visits)
    return edge.visits > 0 and tried < granted


@kernel_function
def pending_leaves(tree: Tree, options: Options, b: int, edge: int) -> int:
    """p: leaves below the edge that wait for their evaluation, its virtual visits."""
    return tree.extras[b, edge].pending if options.leaves > 1 else 0


@kernel_function
def node_terms(tree: Tree, options: Options, b: int, node: int) -> Terms:
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
def parent_term(options: Options, sum_visits: int, node_visits: int) -> float:
    """The parent's visits as the selected formula takes them."""
    if options.selection == PUCT:
        return visit_term(options.visit_term, sum_visits, node_visits, options.visit_exponent)
    if options.selection == PUCT_LOG:
        return math.log(1.0 + node_visits + options.c_puct_base)
    return math.log(max(1.0, float(node_visits)))


@kernel_function
def pending_below(tree: Tree, options: Options, b: int, node: int) -> int:
    """Σp: leaves below the node that wait for their evaluation."""
    total = 0
    if options.leaves > 1:
        first = tree.nodes[b, node].first_edge
        for edge in range(first, first + tree.nodes[b, node].num_edges):
            total += tree.extras[b, edge].pending
    return total


@kernel_function
def first_play_value(tree: Tree, options: Options, b: int, node: int, mover: int) -> float:
    """Q of an edge never tried; if that is infinite, of one whose first leaf is pending."""
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
    tree: Tree, options: Options, b: int, node: int, node_visits: int, mover: int
) -> float:
    """C of the selected formula, growing with visits and scaled by the spread of results."""
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
def pruning_floor(tree: Tree, options: Options, b: int, node: int) -> float:
    """The value below which an edge visited often enough is pruned."""
    best = -INFINITE
    first = tree.nodes[b, node].first_edge
    for edge in range(first, first + tree.nodes[b, node].num_edges):
        if tree.edges[b, edge].visits >= options.prune_visits:
            best = max(best, tree.edges[b, edge].q)
    return best - options.prune_margin


@kernel_function
def is_skipped(
    tree: Tree, options: Options, b: int, edge: int, index: int, terms: Terms, is_strict: bool
) -> bool:
    """Whether selection skips the edge; unless `is_strict`, only if it is proven."""
    if is_proven(tree, options, b, edge):
        return True
    if not is_strict:
        return False
    if index >= terms.limit or float(tree.edges[b, edge].prior) < options.prior_threshold:
        return True
    return (
        tree.edges[b, edge].visits >= options.prune_visits and tree.edges[b, edge].q < terms.floor
    )
