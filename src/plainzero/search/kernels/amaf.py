"""All moves as first (RAVE, GRAVE): what a move was worth wherever it was played below a node.

Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go", 2011;
Cazenave, "Generalized rapid action value estimation", 2015. A move is told by player and action:
its *code* is player · A + action.
"""

from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.search.kernels.formulas import amaf_share
from plainzero.search.resolve_options import GRAVE
from plainzero.search.tree_memory import ROOT

NO_MOVE = -1  # chance's moves teach nothing


@kernel_function
def amaf_reference(tree: Any, options: Any, b: Any, node: Any) -> Any:
    """The node whose values count: itself (RAVE), or the nearest one visited enough (GRAVE)."""
    if options.amaf == GRAVE:
        while node != ROOT and tree.nodes[b, node].sum_visits < options.grave_visits:
            node = tree.nodes[b, node].parent
    return node


@kernel_function
def mix_amaf(tree: Any, options: Any, b: Any, edge: Any, node: Any, mover: Any, q: Any) -> Any:
    """(1 − β) · Q + β · Q̃ with the AMAF values of `node`."""
    num_actions = tree.amaf.shape[2] // tree.states[b, ROOT].returns.shape[0]
    known = tree.amaf[b, node, mover * num_actions + tree.edges[b, edge].action]
    if known.visits == 0:
        return q
    share = amaf_share(tree.edges[b, edge].visits, known.visits, options.amaf_bias)
    return (1.0 - share) * q + share * (known.value_sum / known.visits)


@kernel_function
def clear_amaf(tree: Any, b: Any, node: Any) -> None:
    """A new node knows nothing."""
    for code in range(tree.amaf.shape[2]):
        tree.amaf[b, node, code].visits = 0
        tree.amaf[b, node, code].value_sum = 0.0


@kernel_function
def lay_trail(tree: Any, scratch: Any, b: Any, leaf: Any) -> Any:
    """Writes the moves from the root to `leaf` to the trail; returns how many."""
    depth = 0
    node = leaf
    while node != ROOT:
        depth += 1
        node = tree.nodes[b, node].parent
    place = depth
    node = leaf
    while node != ROOT:
        edge = tree.nodes[b, node].parent_edge
        node = tree.nodes[b, node].parent
        place -= 1
        mover = tree.nodes[b, node].mover
        add_to_trail(scratch, b, place, mover, tree.edges[b, edge].action)
    return depth


@kernel_function
def add_to_trail(scratch: Any, b: Any, place: Any, player: Any, action: Any) -> None:
    """Writes one move of the simulation."""
    work = scratch.work[b]
    num_actions = work.last_place.shape[0] // work.values.shape[0]
    scratch.trail[b, place].code = NO_MOVE if player == CHANCE else player * num_actions + action


@kernel_function
def learn_from_trail(tree: Any, scratch: Any, b: Any, leaf: Any, depth: Any, length: Any) -> None:
    """Every kept node of the path learns work.values of the moves at and after it, each once."""
    link_repetitions(scratch, b, length)
    values = scratch.work[b].values
    num_actions = tree.amaf.shape[2] // values.shape[0]
    node = leaf
    while True:
        if node < tree.roots[b].num_nodes:
            for place in range(depth, length):
                code = scratch.trail[b, place].code
                # The first time this move occurs from here on.
                if code != NO_MOVE and scratch.trail[b, place].before < depth:
                    tree.amaf[b, node, code].visits += 1
                    tree.amaf[b, node, code].value_sum += values[code // num_actions]
        if node == ROOT:
            return
        node = tree.nodes[b, node].parent
        depth -= 1


@kernel_function
def link_repetitions(scratch: Any, b: Any, length: Any) -> None:
    """Writes for each move of the trail where the same move occurred last before it."""
    last_place = scratch.work[b].last_place
    for place in range(length):
        move = scratch.trail[b, place]
        if move.code != NO_MOVE:
            move.before = last_place[move.code]
            last_place[move.code] = place
    for place in range(length):
        move = scratch.trail[b, place]
        if move.code != NO_MOVE:
            last_place[move.code] = -1
