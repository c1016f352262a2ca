"""One simulation, in the paper's order: select, evaluate, expand, back up.

The same functions run on the CPU (cpu.py) and on CUDA (cuda.py), for game b of a batch. With an
evaluator outside (a network) a round is cut in two: `select_leaves`, then `finish_leaves`.
"""

import math
from typing import Any

from tesuji.compiling import kernel_function
from tesuji.games.rules import observe
from tesuji.search.amaf import lay_trail, learn_from_trail
from tesuji.search.backup import backup
from tesuji.search.expansion import (
    expand,
    grow,
    is_full,
    set_priors,
    sort_edges,
    spare_place,
    start_node,
)
from tesuji.search.options import AMAF_OFF
from tesuji.search.proof import is_proven, is_recognised, prove
from tesuji.search.reuse import let_go_of_proven
from tesuji.search.rollout import add_rollouts
from tesuji.search.root import prepare_root
from tesuji.search.scratch import EXPANDED, FINISHED, NOT_A_NUMBER, NOT_KEPT, PROVEN
from tesuji.search.selection import select_edge
from tesuji.search.tree import MOST_VISITS, ROOT, UNVISITED

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
def begin(tree: Any, scratch: Any, options: Any, b: Any, state: Any) -> None:
    """Makes a root of `state`, which then waits, or prepares the one reused; once a search."""
    if scratch.work[b].has_begun:
        return
    scratch.work[b].has_begun = True
    root = tree.roots[b]
    if root.num_nodes == 0:
        root.num_nodes = 1
        root.used_edges = 0
        root.has_clean_prior = False
        root.is_proven = False
        for player in range(root.num_templates.shape[0]):
            root.num_templates[player] = 0
        tree.states[b, ROOT] = state
        start_node(tree, scratch, options, b, ROOT, ROOT, 0)
        expand(tree, scratch, options, b, ROOT)
    elif tree.nodes[b, ROOT].num_edges > 0:
        prepare_root(tree, scratch, options, b)


@kernel_function
def simulate(tree: Any, scratch: Any, options: Any, b: Any) -> None:
    """One round with the uniform evaluator, whose value is 0, or with rollouts."""
    select_leaves(tree, scratch, options, b)
    for k in range(scratch.work[b].num_leaves):
        stop_waiting(tree, b, scratch.leaves[b, k])
        finish_leaf(tree, scratch, options, b, scratch.leaves[b, k])
    scratch.work[b].num_leaves = 0


@kernel_function
def select_leaves(tree: Any, scratch: Any, options: Any, b: Any) -> None:
    """Selects up to `leaves` leaves of game b; what ends in a known result is backed up at once."""
    scratch.work[b].num_leaves = 0
    if tree.nodes[b, ROOT].num_edges < 0:
        scratch.leaves[b, 0] = ROOT
        scratch.work[b].num_leaves = 1
        return
    known = 0
    if options.proven_values and is_full(tree, scratch, options, b):
        if not is_finished(tree, scratch, options, b):
            let_go_of_proven(tree, scratch, b)
    while scratch.work[b].num_leaves < options.leaves:
        if is_finished(tree, scratch, options, b):
            return
        if known >= options.known_results and scratch.work[b].num_leaves == 0:
            return
        leaf = descend(tree, scratch, options, b)
        if leaf == TAKEN_BACK:
            return
        if tree.nodes[b, leaf].num_edges < 0:
            scratch.leaves[b, scratch.work[b].num_leaves] = leaf
            scratch.work[b].num_leaves += 1
        else:
            finish_known(tree, scratch, options, b, leaf)
            known += 1


@kernel_function
def is_finished(tree: Any, scratch: Any, options: Any, b: Any) -> Any:
    """Whether a budget of game b is used up, its root proven, or the search stopped.

    The root is evaluated in any case.
    """
    if tree.nodes[b, ROOT].num_edges < 0:
        return False
    waiting = scratch.work[b].num_leaves
    started = scratch.work[b].simulations + waiting
    return (
        (options.simulations > 0 and started >= options.simulations)
        or (options.visits > 0 and tree.nodes[b, ROOT].sum_visits + waiting >= options.visits)
        or (options.nodes > 0 and tree.roots[b].num_nodes >= options.nodes)
        or tree.roots[b].is_proven
        or tree.nodes[b, ROOT].sum_visits >= MOST_VISITS
        or scratch.work[b].stop != 0
        or scratch.work[b].faults != 0
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
        if options.leaves > 1:
            tree.extras[b, edge].pending += 1
        child = tree.edges[b, edge].child
        if is_proven(tree, options, b, edge):
            if child == UNVISITED:
                child = unkept_result(tree, scratch, options, b, node, edge)
            return child
        is_new = child == UNVISITED
        if is_new:
            child = grow(tree, scratch, options, b, node, edge)
        if tree.nodes[b, child].num_edges < 0 and not is_new:
            take_back(tree, b, child)
            return TAKEN_BACK
        node = child


@kernel_function
def unkept_result(tree: Any, scratch: Any, options: Any, b: Any, node: Any, edge: Any) -> Any:
    """A place from which to back up a proven edge whose child a full tree did not keep."""
    place = spare_place(tree, scratch, options, b)
    tree.nodes[b, place].parent = node
    tree.nodes[b, place].parent_edge = edge
    tree.nodes[b, place].num_edges = 0
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
        stop_waiting(tree, b, leaf)
        take_values(tree, scratch, b, leaf, values, row + k)
        if is_kept(tree, b, leaf):
            set_priors(tree, scratch, b, leaf, logits, row + k)
            if options.widening > 0.0:
                sort_edges(tree, b, leaf)
        finish_leaf(tree, scratch, options, b, leaf)
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
    for k in range(scratch.work[b].num_leaves):
        observe(tree.states[b, scratch.leaves[b, k]], planes[row + k])
