"""One simulation, in the paper's order: select, evaluate, expand, back up.

The same functions run on the CPU (cpu.py) and on CUDA (cuda.py), for game b of a batch. With an
evaluator outside (a network) a round is cut in two: `select_leaves`, then `finish_leaves`.
"""

import math
from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.rules import observe
from plainzero.search.gpu.warp_lanes import join_lanes, lane, leads, num_lanes
from plainzero.search.kernels.amaf import lay_trail, learn_from_trail
from plainzero.search.kernels.backup import backup
from plainzero.search.kernels.expansion import (
    grow,
    is_full,
    sort_edges,
    spare_place,
    start_edges,
    start_equal_edges,
)
from plainzero.search.kernels.proof import is_proven, is_recognised, prove
from plainzero.search.kernels.reuse import let_go_of_proven
from plainzero.search.kernels.rollout import add_rollouts
from plainzero.search.kernels.root import begin, prepare_root
from plainzero.search.kernels.scratch import EXPANDED, FINISHED, NOT_A_NUMBER, NOT_KEPT, PROVEN
from plainzero.search.kernels.selection import select_edge
from plainzero.search.resolve_options import AMAF_OFF
from plainzero.search.tree_memory import MOST_VISITS, ROOT, UNVISITED

TAKEN_BACK = -1


@kernel_function
def simulate_game(tree: Any, scratch: Any, options: Any, b: Any, state: Any, rounds: Any) -> None:
    """Runs up to `rounds` rounds of game b with a built-in evaluator."""
    begin(tree, scratch, options, b, state)
    for _ in range(rounds):
        if is_finished(tree, scratch, options, b):
            break
        simulate(tree, scratch, options, b)


@kernel_function
def select_in_game(tree: Any, scratch: Any, options: Any, b: Any, state: Any) -> None:
    """Selects the leaves of one round in game b, to be evaluated outside."""
    begin(tree, scratch, options, b, state)
    select_leaves(tree, scratch, options, b)


@kernel_function
def simulate(tree: Any, scratch: Any, options: Any, b: Any) -> None:
    """One round with the uniform evaluator, whose value is 0, or with rollouts."""
    select_leaves(tree, scratch, options, b)
    for k in range(scratch.work[b].num_leaves):
        leaf = scratch.leaves[b, k]
        if is_kept(tree, b, leaf):
            start_equal_edges(tree, scratch, b, k)
        join_lanes()
        if leads():
            stop_waiting(tree, b, leaf)
            finish_leaf(tree, scratch, options, b, leaf)
        join_lanes()
    if leads():
        scratch.work[b].num_leaves = 0
    join_lanes()


@kernel_function
def select_leaves(tree: Any, scratch: Any, options: Any, b: Any) -> None:
    """Selects up to `leaves` leaves of game b; what ends in a known result is backed up at once."""
    is_waiting = tree.nodes[b, ROOT].num_edges < 0
    join_lanes()
    if leads():
        scratch.work[b].num_leaves = 1 if is_waiting else 0
        scratch.leaves[b, 0] = ROOT
        if options.proven_values and not is_waiting and is_full(tree, scratch, options, b):
            if not is_finished(tree, scratch, options, b):
                let_go_of_proven(tree, scratch, b)
    join_lanes()
    known = 0
    while not is_waiting and scratch.work[b].num_leaves < options.leaves:
        if is_finished(tree, scratch, options, b):
            return
        if known >= options.known_results and scratch.work[b].num_leaves == 0:
            return
        leaf = descend(tree, scratch, options, b)
        if leaf == TAKEN_BACK:
            return
        has_value = tree.nodes[b, leaf].num_edges >= 0
        known += has_value
        join_lanes()
        if leads():
            if has_value:
                finish_known(tree, scratch, options, b, leaf)
            else:
                scratch.leaves[b, scratch.work[b].num_leaves] = leaf
                scratch.work[b].num_leaves += 1
        join_lanes()


@kernel_function
def is_finished(tree: Any, scratch: Any, options: Any, b: Any) -> Any:
    """Whether a budget of game b is used up, its root proven, or the search stopped.

    The root is evaluated in any case.
    """
    work, root, node = scratch.work[b], tree.roots[b], tree.nodes[b, ROOT]
    started = work.simulations + work.num_leaves
    visits = node.sum_visits + work.num_leaves
    # With | instead of `or` a GPU waits once for all of it, not for one after the other.
    return (node.num_edges >= 0) & (
        ((work.simulation_limit > 0) & (started >= work.simulation_limit))
        | ((work.visit_limit > 0) & (visits >= work.visit_limit))
        | ((options.nodes > 0) & (root.num_nodes >= options.nodes))
        | root.is_proven
        | (node.sum_visits >= MOST_VISITS)
        | (work.stop != 0)
        | (work.faults != 0)
    )


@kernel_function
def descend(tree: Any, scratch: Any, options: Any, b: Any) -> Any:
    """Follows edges from the root to a leaf or to a known result; returns that node."""
    node = ROOT
    while True:
        if is_recognised(tree, scratch, options, b, node):
            return TAKEN_BACK if node == ROOT else node
        if tree.nodes[b, node].num_edges <= 0:
            return node
        edge = select_edge(tree, scratch, options, b, node)
        child = tree.edges[b, edge].child
        if leads() and options.leaves > 1:
            tree.extras[b, edge].pending += 1
        if is_proven(tree, options, b, edge):
            if child == UNVISITED:
                child = unkept_result(tree, scratch, options, b, node, edge)
            return child
        is_new = child == UNVISITED
        if is_new:
            child = grow(tree, scratch, options, b, node, edge)
        elif tree.nodes[b, child].num_edges < 0:
            if leads():
                take_back(tree, b, child)
            return TAKEN_BACK
        node = child


@kernel_function
def unkept_result(tree: Any, scratch: Any, options: Any, b: Any, node: Any, edge: Any) -> Any:
    """A place from which to back up a proven edge whose child a full tree did not keep."""
    place = spare_place(tree, scratch, options, b)
    if leads():
        tree.nodes[b, place].parent = node
        tree.nodes[b, place].parent_edge = edge
        tree.nodes[b, place].num_edges = 0
    join_lanes()
    return place


@kernel_function
def take_back(tree: Any, b: Any, node: Any) -> None:
    """Undoes a descent that met a leaf which another one waits for."""
    while node != ROOT:
        tree.extras[b, tree.nodes[b, node].parent_edge].pending -= 1
        node = tree.nodes[b, node].parent


@kernel_function
def finish_known(tree: Any, scratch: Any, options: Any, b: Any, leaf: Any) -> None:
    """Backs up a finished or proven position."""
    edge, mover = tree.nodes[b, leaf].parent_edge, tree.nodes[b, tree.nodes[b, leaf].parent].mover
    values = scratch.work[b].values
    is_exact = is_proven(tree, options, b, edge)
    for player in range(values.shape[0]):
        if is_exact:
            exact = float(tree.extras[b, edge].exact)
            values[player] = exact if player == mover else -exact
        else:
            values[player] = float(tree.states[b, leaf].returns[player])
    if options.amaf != AMAF_OFF:
        depth = lay_trail(tree, scratch, b, leaf)
        learn_from_trail(tree, scratch, b, leaf, depth, depth)
    backup(tree, options, b, leaf, values)
    if options.proven_values and not is_exact:
        prove(tree, scratch, options, b, leaf)
    count_simulation(tree, scratch, b, leaf, values, PROVEN if is_exact else FINISHED)


@kernel_function
def finish_leaves(
    tree: Any, scratch: Any, options: Any, b: Any, logits: Any, values: Any, row: Any
) -> None:
    """Expands and backs up game b's leaves with what the evaluator said in rows `row` and on."""
    for k in range(scratch.work[b].num_leaves):
        leaf = scratch.leaves[b, k]
        if leads():
            stop_waiting(tree, b, leaf)
            take_values(tree, scratch, b, leaf, values, row + k)
        join_lanes()
        if is_kept(tree, b, leaf):
            start_edges(tree, scratch, b, k, logits, row + k)
        join_lanes()
        if leads():
            if options.widening > 0.0 and is_kept(tree, b, leaf):
                sort_edges(tree, b, leaf)
            finish_leaf(tree, scratch, options, b, leaf)
        join_lanes()
    if leads():
        scratch.work[b].num_leaves = 0


@kernel_function
def stop_waiting(tree: Any, b: Any, leaf: Any) -> None:
    """The leaf is evaluated: its edges may be followed."""
    tree.nodes[b, leaf].num_edges = abs(tree.nodes[b, leaf].num_edges)


@kernel_function
def take_values(tree: Any, scratch: Any, b: Any, leaf: Any, values: Any, row: Any) -> None:
    """The leaf's value per player: column k is the k-th player's after the mover, in seat order.

    A single number is the mover's, its negative the other's.
    """
    node = tree.nodes[b, leaf]
    players = node.value_sum.shape[0]
    is_for_mover = values.shape[1] < players
    for k in range(players):
        value = float(values[row, 0 if is_for_mover else k])
        if not math.isfinite(value):
            scratch.work[b].faults |= NOT_A_NUMBER
        node.value_sum[(node.mover + k) % players] = -value if is_for_mover and k > 0 else value


@kernel_function
def is_kept(tree: Any, b: Any, leaf: Any) -> Any:
    """Whether the leaf found a place in the tree."""
    return leaf < tree.roots[b].num_nodes


@kernel_function
def finish_leaf(tree: Any, scratch: Any, options: Any, b: Any, leaf: Any) -> None:
    """Backs up a leaf, with rollouts where they count; the root's own value only prepares it."""
    node = tree.nodes[b, leaf]
    if options.rollout_weight > 0.0:
        add_rollouts(tree, scratch, options, b, leaf)
    elif options.amaf != AMAF_OFF:
        for player in range(node.value_sum.shape[0]):
            scratch.work[b].values[player] = node.value_sum[player]
        depth = lay_trail(tree, scratch, b, leaf)
        learn_from_trail(tree, scratch, b, leaf, depth, depth)
    if options.has_node_extras:
        value = node.value_sum[node.mover]
        tree.node_extras[b, leaf].own_value = value
        tree.node_extras[b, leaf].square_sum = value * value
    if leaf == ROOT:
        prepare_root(tree, scratch, options, b)
    else:
        backup(tree, options, b, leaf, node.value_sum)
        kind = EXPANDED if is_kept(tree, b, leaf) else NOT_KEPT
        count_simulation(tree, scratch, b, leaf, node.value_sum, kind)


@kernel_function
def count_simulation(tree: Any, scratch: Any, b: Any, leaf: Any, values: Any, kind: Any) -> None:
    """Counts a finished simulation, and records it where a trace is wanted."""
    simulation = scratch.work[b].simulations
    if simulation < scratch.trace.shape[1]:
        step = scratch.trace[b, simulation]
        step.leaf = leaf if is_kept(tree, b, leaf) else -1
        step.edge = tree.nodes[b, leaf].parent_edge
        step.kind = kind
        for player in range(values.shape[0]):
            step.values[player] = values[player]
    scratch.work[b].simulations = simulation + 1


@kernel_function
def observe_leaves(tree: Any, scratch: Any, b: Any, planes: Any, row: Any) -> None:
    """Writes what a network sees of game b's leaves to the zeroed planes[row] and on."""
    for k in range(lane(), scratch.work[b].num_leaves, num_lanes()):
        observe(tree.states[b, scratch.leaves[b, k]], planes[row + k])


@kernel_function
def clear_rows(cells: Any, row: Any, count: Any) -> None:
    """Sets so many rows of observations, each flat, to zero, for leaves to be observed there."""
    for k in range(count):
        for cell in range(lane(), cells.shape[1], num_lanes()):
            cells[row + k, cell] = 0.0
    join_lanes()
