"""All moves as first (RAVE, GRAVE): a move's value wherever it was played below a node.

Gelly and Silver, "Monte-Carlo tree search and rapid action value estimation in computer Go", 2011;
Cazenave, "Generalized rapid action value estimation", 2015. A move is identified by its *code*,
player · A + action.
"""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.search.kernels.formulas import amaf_share
from plainzero.search.kernels.options import GRAVE, Options
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, Tree

NO_MOVE = -1  # code of chance's moves, which have no statistics


@kernel_function
def amaf_reference(tree: Tree, options: Options, b: int, node: int) -> int:
    """The node whose values are used: itself (RAVE), or the nearest visited enough (GRAVE)."""
    if options.amaf == GRAVE:
        while node != ROOT and tree.nodes[b, node].sum_visits < options.grave_visits:
            node = tree.nodes[b, node].parent
    return node


@kernel_function
def mix_amaf(
    tree: Tree, options: Options, b: int, edge: int, node: int, mover: int, q: float
) -> float:
    """(1 − β) · Q + β · Q̃ with the AMAF values of `node`."""
    num_actions = tree.amaf.shape[2] // tree.states[b, ROOT].returns.shape[0]
    known = tree.amaf[b, node, mover * num_actions + tree.edges[b, edge].action]
    if known.visits == 0:
        return q
    share = amaf_share(tree.edges[b, edge].visits, known.visits, options.amaf_bias)
    return (1.0 - share) * q + share * (known.value_sum / known.visits)


@kernel_function
def clear_amaf(tree: Tree, b: int, node: int) -> None:
    """Sets the statistics of a new node to 0."""
    for code in range(tree.amaf.shape[2]):
        tree.amaf[b, node, code].visits = 0
        tree.amaf[b, node, code].value_sum = 0.0


@kernel_function
def write_trail(tree: Tree, scratch: Scratch, b: int, leaf: int) -> int:
    """Writes the moves from the root to `leaf` to the trail; returns their number."""
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
def add_to_trail(scratch: Scratch, b: int, place: int, player: int, action: int) -> None:
    """Writes one move of the simulation."""
    work = scratch.work[b]
    num_actions = work.last_place.shape[0] // work.values.shape[0]
    scratch.trail[b, place].code = NO_MOVE if player == CHANCE else player * num_actions + action


@kernel_function
def learn_from_trail(
    tree: Tree, scratch: Scratch, b: int, leaf: int, depth: int, length: int
) -> None:
    """Adds work.values to the moves played at or after each node of the path, once per move."""
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
def link_repetitions(scratch: Scratch, b: int, length: int) -> None:
    """Writes for each move of the trail where the same move occurred before."""
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
