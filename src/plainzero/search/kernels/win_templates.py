"""Templates: wins that rest on a few cells, learned by the search and recognised elsewhere.

Wherever the zone of a win looks the same again, it wins again (Shih, Wu and others, "A novel
approach to solving goal-achieving problems for board games", 2022). A lost position yields a
template: its zone, and the cells of the zone that the winner must hold.

Each template is one bit, 64 to a word, so that all are compared with a position cell by cell.
"""

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.rules import holder, winning_cells
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.proof_zones import (
    add_cell,
    add_zone,
    clear_zone,
    count_left,
    for_cells,
    is_in,
    mark_edge,
    refute,
)
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import NEED, ZONE, Tree

UNFIT, LACKING = 0, 1  # of scratch.fits; bits: templates that do not fit, or lack one cell
NOBODY = -1
_VISITS = 8  # a node is looked up again then; a lookup costs as much as a playout
_BIT = np.uint64(1)


@for_cells
def start_zone(tree: Tree, scratch: Scratch, options: Options, b: int, place: int) -> None:
    """Writes the zone of a finished game, and learns a template from it."""
    if options.templates == 0:
        return
    cells = scratch.work[b].actions
    for cell in range(cells.shape[0]):
        cells[cell] = 0
    winning_cells(tree.states[b, place], cells)
    clear_zone(tree, b, place)
    for cell in range(cells.shape[0]):
        if cells[cell] != 0:
            add_cell(tree.zones[b, place], cell)
    learn(tree, scratch, b, place, 0 if tree.states[b, place].returns[0] > 0.0 else 1)


@for_cells
def hand_zone_up(tree: Tree, scratch: Scratch, options: Options, b: int, place: int) -> None:
    """Passes the zone of `place`, which was just proven, to its parent.

    A winning move's zone is the parent's. A losing move's zone refutes other moves too; the union
    of all refutations is the parent's zone, and a template once no move is left.
    """
    node, edge = tree.nodes[b, place].parent, tree.nodes[b, place].parent_edge
    if options.templates == 0:
        return
    if tree.extras[b, edge].exact == 1.0:
        clear_zone(tree, b, node)
        add_zone(tree, b, node, tree.zones[b, place])
    elif tree.extras[b, edge].exact == -1.0:
        add_zone(tree, b, node, tree.zones[b, place])
        length = tree.extras[b, edge].proof_length  # the same replies meet the moves outside
        if refute(tree, b, node, tree.zones[b, place], length) == 0:
            learn(tree, scratch, b, node, 1 - tree.nodes[b, node].mover)


# ---- recognising ---------------------------------------------------------------------------------


@kernel_function
def recognise(tree: Tree, scratch: Scratch, options: Options, b: int, place: int) -> bool:
    """Whether templates prove the node; they may also refute some of its moves.

    Nodes are looked up when they are new, and again each time their visits have doubled. How long
    such a proof takes is not known: its length is that of the longest game from here.
    """
    if options.templates == 0 or tree.nodes[b, place].num_edges == 0:
        return False
    is_new, visits = tree.nodes[b, place].num_edges < 0, tree.nodes[b, place].sum_visits
    if not is_new and (visits < _VISITS or visits & (visits - 1) != 0):
        return False
    mover, length = tree.nodes[b, place].mover, options.max_turns - tree.states[b, place].turn
    read_holders(tree, scratch, b, place)
    if is_won(tree, scratch, b, place, mover, length):
        return True
    return is_lost(tree, scratch, b, place, 1 - mover, length)


@kernel_function
def read_holders(tree: Tree, scratch: Scratch, b: int, place: int) -> None:
    """Writes who holds each cell to the working memory."""
    holders = scratch.work[b].holders
    for cell in range(holders.shape[0]):
        holders[cell] = holder(tree.states[b, place], cell)


@kernel_function
def is_won(tree: Tree, scratch: Scratch, b: int, place: int, mover: int, proof_length: int) -> bool:
    """Whether a template of the mover is complete, or is with one more cell: that move wins."""
    words = compare(tree, scratch, b, mover)
    for word in range(words):
        fitting = ~scratch.fits[b, UNFIT, word]
        if fitting != np.uint64(0):
            template = word * 64 + lowest(fitting)
            read_zone(tree, b, mover, template, tree.zones[b, place])
            first = tree.nodes[b, place].first_edge
            best = first
            for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
                if has_bit(tree.templates[b, mover, NEED, tree.edges[b, edge].action], template):
                    best = edge
            mark_edge(tree, b, best, 1.0, proof_length)
            return True
    return False


@kernel_function
def is_lost(
    tree: Tree, scratch: Scratch, b: int, place: int, opponent: int, proof_length: int
) -> bool:
    """Whether the opponent's templates refute every move of the mover.

    A complete template refutes all moves; one that lacks a single cell is a threat, and refutes the
    moves outside its zone.
    """
    words = compare(tree, scratch, b, opponent)
    zone = scratch.work[b].zone
    for word in range(words):
        complete = ~(scratch.fits[b, UNFIT, word] | scratch.fits[b, LACKING, word])
        if complete != np.uint64(0):
            read_zone(tree, b, opponent, word * 64 + lowest(complete), tree.zones[b, place])
            first = tree.nodes[b, place].first_edge
            for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
                mark_edge(tree, b, edge, -1.0, proof_length)
            return True
    left = count_left(tree, b, place)
    for word in range(words):
        fitting = ~scratch.fits[b, UNFIT, word]
        while fitting != np.uint64(0):
            bit = lowest(fitting)
            fitting &= fitting - _BIT
            read_zone(tree, b, opponent, word * 64 + bit, zone)
            now_left = refute(tree, b, place, zone, proof_length)
            if now_left < left:
                left = now_left
                add_zone(tree, b, place, zone)
            if left == 0:
                learn(tree, scratch, b, place, opponent)
                return True
    return False


@kernel_function
def compare(tree: Tree, scratch: Scratch, b: int, player: int) -> int:
    """Writes which of the player's templates fit to scratch.fits; returns the number of words.

    A template fits if the opponent holds no cell of its zone, and the player holds all the cells it
    needs but at most one.
    """
    words = start_comparing(tree, scratch, b, player)
    holders = scratch.work[b].holders
    for cell in range(holders.shape[0]):
        if holders[cell] == NOBODY:
            for word in range(words):
                needed = tree.templates[b, player, NEED, cell, word]
                scratch.fits[b, UNFIT, word] |= scratch.fits[b, LACKING, word] & needed
                scratch.fits[b, LACKING, word] |= needed
        elif holders[cell] != player:
            for word in range(words):
                scratch.fits[b, UNFIT, word] |= tree.templates[b, player, ZONE, cell, word]
    return words


@kernel_function
def start_comparing(tree: Tree, scratch: Scratch, b: int, player: int) -> int:
    """Marks all templates as fitting, except unused bits; returns the number of words."""
    count = min(tree.roots[b].num_templates[player], 64 * tree.templates.shape[4])
    words = (count + 63) // 64
    for word in range(words):
        scratch.fits[b, UNFIT, word] = np.uint64(0)
        scratch.fits[b, LACKING, word] = np.uint64(0)
    if count % 64 != 0:
        scratch.fits[b, UNFIT, words - 1] = ~np.uint64(0) << np.uint64(count % 64)
    return words


@kernel_function
def read_zone(tree: Tree, b: int, player: int, template: int, zone: NDArray[np.uint64]) -> None:
    """Copies a template's zone."""
    for word in range(zone.shape[0]):
        zone[word] = np.uint64(0)
    for cell in range(tree.templates.shape[3]):
        if has_bit(tree.templates[b, player, ZONE, cell], template):
            add_cell(zone, cell)


@kernel_function
def has_bit(words: NDArray[np.uint64], template: int) -> bool:
    """Whether the template's bit is set."""
    return (words[template // 64] >> np.uint64(template % 64)) & _BIT != np.uint64(0)


@kernel_function
def lowest(word: np.uint64) -> int:
    """The index of the lowest set bit."""
    bit = 0
    while (word >> np.uint64(bit)) & _BIT == np.uint64(0):
        bit += 1
    return bit


# ---- learning ------------------------------------------------------------------------------------


@kernel_function
def learn(tree: Tree, scratch: Scratch, b: int, place: int, winner: int) -> None:
    """Stores a template for the node's win, and its symmetric images, replacing the oldest."""
    read_holders(tree, scratch, b, place)
    work = scratch.work[b]
    for image in range(scratch.images.shape[0]):
        for cell in range(work.holders.shape[0]):
            turned = scratch.images[image, cell]
            is_inside = is_in(tree.zones[b, place], cell)
            work.in_zone[turned] = is_inside
            work.is_needed[turned] = is_inside and work.holders[cell] == winner
        if not is_known(tree, scratch, b, winner):
            write_template(tree, scratch, b, winner)


@kernel_function
def is_known(tree: Tree, scratch: Scratch, b: int, player: int) -> bool:
    """Whether a stored template covers this one with fewer cells."""
    words = start_comparing(tree, scratch, b, player)
    work = scratch.work[b]
    for cell in range(work.in_zone.shape[0]):
        if not work.in_zone[cell]:
            for word in range(words):
                scratch.fits[b, UNFIT, word] |= tree.templates[b, player, ZONE, cell, word]
        elif not work.is_needed[cell]:
            for word in range(words):
                scratch.fits[b, UNFIT, word] |= tree.templates[b, player, NEED, cell, word]
    for word in range(words):
        if ~scratch.fits[b, UNFIT, word] != np.uint64(0):
            return True
    return False


@kernel_function
def write_template(tree: Tree, scratch: Scratch, b: int, player: int) -> None:
    """Stores the template that is in the working memory."""
    work, count = scratch.work[b], tree.roots[b].num_templates[player]
    tree.roots[b].num_templates[player] = count + 1
    template = count % (64 * tree.templates.shape[4])
    for cell in range(work.in_zone.shape[0]):
        set_bit(tree.templates[b, player, ZONE, cell], template, work.in_zone[cell])
        set_bit(tree.templates[b, player, NEED, cell], template, work.is_needed[cell])


@kernel_function
def set_bit(words: NDArray[np.uint64], template: int, is_set: bool) -> None:
    """Sets or clears the template's bit."""
    mask = _BIT << np.uint64(template % 64)
    if is_set:
        words[template // 64] |= mask
    else:
        words[template // 64] &= ~mask
