"""New nodes, and the edges of a node once it is evaluated."""

import math

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.rules import awaits_chance, chance_outcomes, legal_actions, play
from plainzero.search.kernels.amaf import clear_amaf
from plainzero.search.kernels.lanes import (
    join_lanes,
    lane,
    largest_of_lanes,
    leaders,
    leads,
    num_lanes,
)
from plainzero.search.kernels.options import AMAF_OFF, Options
from plainzero.search.kernels.proof_zones import clear_zone
from plainzero.search.kernels.rollout import sample_chance
from plainzero.search.kernels.scratch import (
    NO_LEGAL_ACTION,
    NOT_A_NUMBER,
    NOT_ENDING,
    TREE_FULL,
    Scratch,
)
from plainzero.search.kernels.tree import UNVISITED, WAITING, WORST_RESULT, Tree
from plainzero.search.kernels.wide_copies import copy_record, fill_record


@kernel_function
def grow(tree: Tree, scratch: Scratch, options: Options, b: int, node: int, edge: int) -> int:
    """Plays the edge's move on a new node and returns it; a spare place if the tree is full."""
    is_kept = not is_full(tree, scratch, options, b)
    child = tree.roots[b].num_nodes if is_kept else spare_place(tree, scratch, options, b)
    join_lanes()
    copy_record(tree.states, b, child, node)
    join_lanes()
    if leads():
        play(tree.states[b, child], tree.edges[b, edge].action)
        start_node(tree, scratch, options, b, child, node, edge)
        if is_kept:
            tree.roots[b].num_nodes = child + 1
            tree.edges[b, edge].child = child
        else:
            scratch.work[b].notes |= TREE_FULL
            play_chance_moves(tree, scratch, b, child)
    join_lanes()
    if is_kept:
        expand(tree, scratch, options, b, child, scratch.work[b].num_leaves)
    return child


@kernel_function
def is_full(tree: Tree, scratch: Scratch, options: Options, b: int) -> bool:
    """Whether there is no room for a new node with the most edges it can have."""
    free_edges = tree.edges.shape[1] - tree.roots[b].used_edges
    return (
        tree.roots[b].num_nodes >= tree.nodes.shape[1] - options.leaves - 1
        or free_edges < scratch.work[b].actions.shape[0]
    )


@kernel_function
def spare_place(tree: Tree, scratch: Scratch, options: Options, b: int) -> int:
    """A place after the nodes, for a leaf that the tree cannot keep."""
    return tree.nodes.shape[1] - options.leaves - 1 + scratch.work[b].num_leaves


@kernel_function
def start_node(
    tree: Tree, scratch: Scratch, options: Options, b: int, place: int, parent: int, edge: int
) -> None:
    """Writes a new node, except for its state."""
    node, state = tree.nodes[b, place], tree.states[b, place]
    node.parent = parent
    node.parent_edge = edge
    node.first_edge = 0
    node.num_edges = 0
    node.sum_visits = 0
    node.mover = state.to_play
    node.is_ahead = False
    for player in range(node.value_sum.shape[0]):
        node.value_sum[player] = 0.0
    if options.amaf != AMAF_OFF:
        clear_amaf(tree, b, place)
    if options.templates > 0:
        clear_zone(tree, b, place)
    if not state.is_over and state.turn >= options.max_turns:
        scratch.work[b].faults |= NOT_ENDING


@kernel_function
def play_chance_moves(tree: Tree, scratch: Scratch, b: int, node: int) -> None:
    """Plays chance's moves on a spare node until a player is to move; the node then waits."""
    state = tree.states[b, node]
    while awaits_chance(state) and not state.is_over:
        play(state, sample_chance(state, scratch, b))
    tree.nodes[b, node].mover = state.to_play
    tree.nodes[b, node].num_edges = 0 if state.is_over else WAITING


@kernel_function
def expand(tree: Tree, scratch: Scratch, options: Options, b: int, place: int, k: int) -> None:
    """Reserves one edge per outcome of chance or per legal action.

    A player's node becomes the k-th leaf and waits: its edges are written once it is evaluated.
    """
    node, state, work = tree.nodes[b, place], tree.states[b, place], scratch.work[b]
    if state.is_over:
        return
    is_chance, first, count = awaits_chance(state), tree.roots[b].used_edges, 0
    actions = scratch.actions[b, k]
    join_lanes()
    if leads():
        if is_chance:
            count = chance_outcomes(state, actions, work.probabilities)
        else:
            count = legal_actions(state, actions)
        if count == 0:
            work.faults |= NO_LEGAL_ACTION
        node.first_edge = first
        node.num_edges = count if is_chance else -count
        tree.roots[b].used_edges = first + count
    count = leaders(count)
    join_lanes()
    is_written = is_chance or options.templates > 0  # which read the moves of a new node
    if is_written or options.has_extras:
        share = 1.0 / max(1, count)
        for index in range(lane(), count, num_lanes()):
            if is_written:
                prior = work.probabilities[index] if is_chance else share
                start_edge(tree, b, first + index, actions[index], prior)
            if options.has_extras:
                start_extra(tree, b, first + index)
    join_lanes()


@kernel_function
def start_edge(tree: Tree, b: int, place: int, action: int, prior: float) -> None:
    """Writes a new edge, except for its `extras`."""
    value_sum, q, visits, child = 0.0, 0.0, 0, UNVISITED
    fill_record(tree.edges[b, place], (value_sum, q, prior, visits, child, action))


@kernel_function
def start_extra(tree: Tree, b: int, place: int) -> None:
    """Writes the `extras` of a new edge."""
    extra = tree.extras[b, place]
    extra.square_sum = 0.0
    extra.exact = 0.0
    extra.floor = WORST_RESULT
    extra.pending = 0
    extra.proof_length = 0
    extra.is_proven = False


@kernel_function
def start_equal_edges(tree: Tree, scratch: Scratch, b: int, k: int) -> None:
    """Writes the edges of the k-th leaf with equal priors."""
    node = tree.nodes[b, scratch.leaves[b, k]]
    first, count = node.first_edge, abs(node.num_edges)
    share = 1.0 / max(1, count)
    for index in range(lane(), count, num_lanes()):
        start_edge(tree, b, first + index, scratch.actions[b, k, index], share)


@kernel_function
def start_edges(
    tree: Tree, scratch: Scratch, b: int, k: int, logits: NDArray[np.float32], row: int
) -> None:
    """Writes the edges of the k-th leaf with a softmax of logits[row]; equal if all are −∞."""
    node, actions = tree.nodes[b, scratch.leaves[b, k]], scratch.actions[b, k]
    first, count = node.first_edge, abs(node.num_edges)
    weights, largest, num_bad = scratch.work[b].weights, -math.inf, 0
    for index in range(lane(), count, num_lanes()):  # no writes here, so loads can overlap
        weight = float(logits[row, actions[index]])
        if not weight < math.inf:  # also true of NaN
            num_bad += 1
        largest = max(largest, weight)
    largest, num_bad = largest_of_lanes(largest), largest_of_lanes(num_bad)
    is_usable = num_bad == 0 and largest > -math.inf
    if leads() and not is_usable:
        if num_bad > 0:
            scratch.work[b].faults |= NOT_A_NUMBER
        else:
            scratch.work[b].fallbacks += 1
    for index in range(lane(), count, num_lanes()):
        weight = float(logits[row, actions[index]])
        weights[index] = math.exp(weight - largest) if is_usable else 1.0
    join_lanes()
    total = 0.0
    for index in range(count):  # by every lane in the same order, so that all sums are equal
        total += weights[index]
    for index in range(lane(), count, num_lanes()):
        start_edge(tree, b, first + index, actions[index], weights[index] / total)


@kernel_function
def sort_edges(tree: Tree, b: int, node: int) -> None:
    """Sorts the edges of a new node by decreasing prior; the sort is stable."""
    first = tree.nodes[b, node].first_edge
    for edge in range(first + 1, first + tree.nodes[b, node].num_edges):
        place = edge
        while place > first and tree.edges[b, place - 1].prior < tree.edges[b, place].prior:
            swap_edges(tree, b, place - 1, place)
            place -= 1


@kernel_function
def swap_edges(tree: Tree, b: int, one: int, other: int) -> None:
    """Swaps two edges never tried; templates may have proven one."""
    edges, extras = tree.edges, tree.extras
    action, prior = edges[b, one].action, edges[b, one].prior
    edges[b, one].action, edges[b, one].prior = edges[b, other].action, edges[b, other].prior
    edges[b, other].action, edges[b, other].prior = action, prior
    if extras.shape[1] > 0:
        proof = extras[b, one].is_proven, extras[b, one].exact, extras[b, one].proof_length
        extras[b, one].is_proven = extras[b, other].is_proven
        extras[b, one].exact = extras[b, other].exact
        extras[b, one].proof_length = extras[b, other].proof_length
        extras[b, other].is_proven, extras[b, other].exact, extras[b, other].proof_length = proof
