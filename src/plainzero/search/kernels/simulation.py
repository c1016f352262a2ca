"""One simulation, in the papers' order: select, evaluate, expand, back up.

The same functions run on the CPU (cpu.py) and on a GPU (gpu/kernels.py), for game b of a batch. If
the evaluator is a function, such as a network, a round has two halves: `select_leaves`, then
`finish_leaves`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import State
from plainzero.games.rules import observe
from plainzero.search.kernels.amaf import learn_from_trail, write_trail
from plainzero.search.kernels.backup import backup
from plainzero.search.kernels.expansion import (
    grow,
    is_full,
    sort_edges,
    start_edges,
    start_equal_edges,
)
from plainzero.search.kernels.lanes import join_lanes, lane, leads, num_lanes
from plainzero.search.kernels.options import AMAF_OFF, Options
from plainzero.search.kernels.proof import is_proven, is_recognised, prove
from plainzero.search.kernels.reuse import discard_proven
from plainzero.search.kernels.rollout import add_rollouts
from plainzero.search.kernels.root import begin, prepare_root
from plainzero.search.kernels.scratch import (
    EXPANDED,
    FINISHED,
    NOT_A_NUMBER,
    NOT_KEPT,
    PROVEN,
    Scratch,
)
from plainzero.search.kernels.selection import select_edge
from plainzero.search.kernels.tree import MOST_VISITS, ROOT, UNVISITED, Tree

UNDONE = -1  # instead of a leaf: the descent does not count


@kernel_function
def simulate_game(
    tree: Tree, scratch: Scratch, options: Options, b: int, state: State, rounds: int
) -> None:
    """Runs up to `rounds` rounds of game b with a built-in evaluator."""
    begin(tree, scratch, options, b, state)
    for _ in range(rounds):
        if is_finished(tree, scratch, options, b):
            break
        simulate(tree, scratch, options, b)


@kernel_function
def select_in_game(tree: Tree, scratch: Scratch, options: Options, b: int, state: State) -> None:
    """Selects the leaves of one round in game b, for an evaluator that is a function."""
    begin(tree, scratch, options, b, state)
    select_leaves(tree, scratch, options, b)


@kernel_function
def simulate(tree: Tree, scratch: Scratch, options: Options, b: int) -> None:
    """One round with the uniform evaluator, whose values are 0, or with rollouts."""
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
def select_leaves(tree: Tree, scratch: Scratch, options: Options, b: int) -> None:
    """Selects up to `leaves` leaves of game b; known results are backed up immediately."""
    is_waiting = tree.nodes[b, ROOT].num_edges < 0
    join_lanes()
    if leads():
        scratch.work[b].num_leaves = 1 if is_waiting else 0
        scratch.leaves[b, 0] = ROOT
        if options.proven_values and not is_waiting and is_full(tree, scratch, options, b):
            if not is_finished(tree, scratch, options, b):
                discard_proven(tree, scratch, b)
    join_lanes()
    known = 0
    while not is_waiting and scratch.work[b].num_leaves < options.leaves:
        if is_finished(tree, scratch, options, b):
            return
        if known >= options.known_results and scratch.work[b].num_leaves == 0:
            return
        leaf = descend(tree, scratch, options, b)
        if leaf == UNDONE:
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
def is_finished(tree: Tree, scratch: Scratch, options: Options, b: int) -> bool:
    """Whether a budget of game b is used up, its root is proven, or the search was stopped.

    Never before the root is evaluated.
    """
    work, root, node = scratch.work[b], tree.roots[b], tree.nodes[b, ROOT]
    started = work.simulations + work.num_leaves
    visits = node.sum_visits + work.num_leaves
    # With | instead of `or`, a GPU waits once for all loads, not for one after the other.
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
def descend(tree: Tree, scratch: Scratch, options: Options, b: int) -> int:
    """Follows edges from the root to a leaf or a known result; returns that node."""
    node = ROOT
    while True:
        if is_recognised(tree, scratch, options, b, node):
            return UNDONE if node == ROOT else node
        if tree.nodes[b, node].num_edges <= 0:
            return node
        edge = select_edge(tree, scratch, options, b, node)
        child = tree.edges[b, edge].child
        if leads() and options.leaves > 1:
            tree.extras[b, edge].pending += 1
        if child == UNVISITED:
            child = grow(tree, scratch, options, b, node, edge)
        elif tree.nodes[b, child].num_edges < 0:
            if leads():
                undo_descent(tree, b, child)
            return UNDONE
        node = child


@kernel_function
def undo_descent(tree: Tree, b: int, node: int) -> None:
    """Undoes a descent that reached a leaf already selected in this round."""
    while node != ROOT:
        tree.extras[b, tree.nodes[b, node].parent_edge].pending -= 1
        node = tree.nodes[b, node].parent


@kernel_function
def finish_known(tree: Tree, scratch: Scratch, options: Options, b: int, leaf: int) -> None:
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
        depth = write_trail(tree, scratch, b, leaf)
        learn_from_trail(tree, scratch, b, leaf, depth, depth)
    count_simulation(tree, scratch, b, leaf, values, PROVEN if is_exact else FINISHED)
    backup(tree, scratch, options, b, leaf, values)
    if options.proven_values and not is_exact:
        prove(tree, scratch, options, b, leaf)


@kernel_function
def finish_leaves(
    tree: Tree,
    scratch: Scratch,
    options: Options,
    b: int,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    row: int,
) -> None:
    """Expands and backs up game b's leaves, whose evaluations start at `row`."""
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
def stop_waiting(tree: Tree, b: int, leaf: int) -> None:
    """Marks the leaf as evaluated, so that its edges can be followed."""
    tree.nodes[b, leaf].num_edges = abs(tree.nodes[b, leaf].num_edges)


@kernel_function
def take_values(
    tree: Tree, scratch: Scratch, b: int, leaf: int, values: NDArray[np.float32], row: int
) -> None:
    """Sets the leaf's value for each player; column k is for the k-th player after the mover.

    A single column is for the mover, and its negative for the opponent.
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
def is_kept(tree: Tree, b: int, leaf: int) -> bool:
    """Whether the leaf is part of the tree."""
    return leaf < tree.roots[b].num_nodes


@kernel_function
def finish_leaf(tree: Tree, scratch: Scratch, options: Options, b: int, leaf: int) -> None:
    """Backs up a leaf, with rollouts if requested; the root is only prepared."""
    node = tree.nodes[b, leaf]
    if options.rollout_weight > 0.0:
        add_rollouts(tree, scratch, options, b, leaf)
    elif options.amaf != AMAF_OFF:
        for player in range(node.value_sum.shape[0]):
            scratch.work[b].values[player] = node.value_sum[player]
        depth = write_trail(tree, scratch, b, leaf)
        learn_from_trail(tree, scratch, b, leaf, depth, depth)
    if options.has_node_extras:
        value = node.value_sum[node.mover]
        tree.node_extras[b, leaf].own_value = value
        tree.node_extras[b, leaf].square_sum = value * value
    if leaf == ROOT:
        prepare_root(tree, scratch, options, b)
    else:
        kind = EXPANDED if is_kept(tree, b, leaf) else NOT_KEPT
        count_simulation(tree, scratch, b, leaf, node.value_sum, kind)
        if options.proven_values:
            values = scratch.work[b].values  # a copy, because the result may change on its way
            for player in range(values.shape[0]):
                values[player] = node.value_sum[player]
            backup(tree, scratch, options, b, leaf, values)
        else:
            backup(tree, scratch, options, b, leaf, node.value_sum)


@kernel_function
def count_simulation(
    tree: Tree, scratch: Scratch, b: int, leaf: int, values: NDArray[np.float64], kind: int
) -> None:
    """Counts a simulation that has a result, and records it if a trace was requested."""
    simulation = scratch.work[b].simulations
    if simulation < scratch.trace.shape[1]:
        step = scratch.trace[b, simulation]
        step.leaf = leaf if is_kept(tree, b, leaf) else -1
        step.edge = tree.nodes[b, leaf].parent_edge
        step.kind = kind
        step.raised_at = -1
        for player in range(values.shape[0]):
            step.values[player] = values[player]
    scratch.work[b].simulations = simulation + 1


@kernel_function
def observe_leaves(
    tree: Tree, scratch: Scratch, b: int, planes: NDArray[np.float32], row: int
) -> None:
    """Writes the observations of game b's leaves to zeroed planes, starting at `row`."""
    for k in range(lane(), scratch.work[b].num_leaves, num_lanes()):
        observe(tree.states[b, scratch.leaves[b, k]], planes[row + k])


@kernel_function
def clear_rows(cells: NDArray[np.float32], row: int, count: int) -> None:
    """Sets `count` rows of flat observations to zero, starting at `row`."""
    for k in range(count):
        for cell in range(lane(), cells.shape[1], num_lanes()):
            cells[row + k, cell] = 0.0
    join_lanes()
