"""Templates: wins that rest on a few cells, learned by the search and recognised elsewhere.

Wherever the zone of a win looks the same again, it wins again (Shih, Wu and others, "A novel
approach to solving goal-achieving problems for board games", 2022). A lost position leaves a
template: its zone, and those cells of the zone that the winner must hold.

With one bit a template and 64 of them in a word, all are compared with a position cell by cell.
"""

from typing import Any

import numpy as np

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.rules import holder, winning_cells
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
from plainzero.search.tree_memory import NEED, ZONE

UNFIT, LACKING = 0, 1  # of scratch.fits: by bits, which templates do not fit, and which lack a cell
NOBODY = -1
_VISITS = 8  # a node is looked up again then; most have fewer, and looking is as dear as a playout
_BIT = np.uint64(1)


@for_cells
def start_zone(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> None:
    """Writes the zone of a finished game, and learns it."""
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
def hand_zone_up(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> None:
    """Gives the zone of `place`, just proven, to its parent.

    A winning child's zone is the parent's. A losing one's refutes more moves; the zones of all
    refutations together are the parent's, and a template, once no move is left.
    """
    node, edge = tree.nodes[b, place].parent, tree.nodes[b, place].parent_edge
    if options.templates == 0:
        return
    if tree.extras[b, edge].exact == 1.0:
        clear_zone(tree, b, node)
        add_zone(tree, b, node, tree.zones[b, place])
    elif tree.extras[b, edge].exact == -1.0:
        add_zone(tree, b, node, tree.zones[b, place])
        if refute(tree, b, node, tree.zones[b, place]) == 0:
            learn(tree, scratch, b, node, 1 - tree.nodes[b, node].mover)


# ---- recognising ---------------------------------------------------------------------------------


@kernel_function
def recognise(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> Any:
    """Whether templates prove the node; they may also refute some of its moves.

    Looked up when a node is new, and again each time its visits have doubled.
    """
    if options.templates == 0 or tree.nodes[b, place].num_edges == 0:
        return False
    is_new, visits = tree.nodes[b, place].num_edges < 0, tree.nodes[b, place].sum_visits
    if not is_new and (visits < _VISITS or visits & (visits - 1) != 0):
        return False
    mover = tree.nodes[b, place].mover
    read_holders(tree, scratch, b, place)
    return is_won(tree, scratch, b, place, mover) or is_lost(tree, scratch, b, place, 1 - mover)


@kernel_function
def read_holders(tree: Any, scratch: Any, b: Any, place: Any) -> None:
    """Who holds each cell, into the working memory."""
    holders = scratch.work[b].holders
    for cell in range(holders.shape[0]):
        holders[cell] = holder(tree.states[b, place], cell)


@kernel_function
def is_won(tree: Any, scratch: Any, b: Any, place: Any, mover: Any) -> Any:
    """Whether a template of the mover's stands, or would with one more cell; that move wins."""
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
            mark_edge(tree, b, best, 1.0)
            return True
    return False


@kernel_function
def is_lost(tree: Any, scratch: Any, b: Any, place: Any, opponent: Any) -> Any:
    """Whether the opponent's templates leave the mover no move.

    One that stands refutes them all; one that lacks a single cell is a threat, and refutes those
    outside its zone.
    """
    words = compare(tree, scratch, b, opponent)
    zone = scratch.work[b].zone
    for word in range(words):
        standing = ~(scratch.fits[b, UNFIT, word] | scratch.fits[b, LACKING, word])
        if standing != np.uint64(0):
            read_zone(tree, b, opponent, word * 64 + lowest(standing), tree.zones[b, place])
            first = tree.nodes[b, place].first_edge
            for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
                mark_edge(tree, b, edge, -1.0)
            return True
    left = count_left(tree, b, place)
    for word in range(words):
        fitting = ~scratch.fits[b, UNFIT, word]
        while fitting != np.uint64(0):
            bit = lowest(fitting)
            fitting &= fitting - _BIT
            read_zone(tree, b, opponent, word * 64 + bit, zone)
            now_left = refute(tree, b, place, zone)
            if now_left < left:
                left = now_left
                add_zone(tree, b, place, zone)
            if left == 0:
                learn(tree, scratch, b, place, opponent)
                return True
    return False


@kernel_function
def compare(tree: Any, scratch: Any, b: Any, player: Any) -> Any:
    """Writes which of the player's templates fit the holders to scratch.fits; returns the words.

    One fits where nobody else holds a cell of its zone, and the player all that he must but one.
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
def start_comparing(tree: Any, scratch: Any, b: Any, player: Any) -> Any:
    """All templates fit, but those in the last word that there are not; returns the words."""
    count = min(tree.roots[b].num_templates[player], 64 * tree.templates.shape[4])
    words = (count + 63) // 64
    for word in range(words):
        scratch.fits[b, UNFIT, word] = np.uint64(0)
        scratch.fits[b, LACKING, word] = np.uint64(0)
    if count % 64 != 0:
        scratch.fits[b, UNFIT, words - 1] = ~np.uint64(0) << np.uint64(count % 64)
    return words


@kernel_function
def read_zone(tree: Any, b: Any, player: Any, template: Any, zone: Any) -> None:
    """Copies a template's zone."""
    for word in range(zone.shape[0]):
        zone[word] = np.uint64(0)
    for cell in range(tree.templates.shape[3]):
        if has_bit(tree.templates[b, player, ZONE, cell], template):
            add_cell(zone, cell)


@kernel_function
def has_bit(words: Any, template: Any) -> Any:
    """Whether the template's bit is set."""
    return (words[template // 64] >> np.uint64(template % 64)) & _BIT != np.uint64(0)


@kernel_function
def lowest(word: Any) -> Any:
    """The place of the lowest bit that is set."""
    bit = 0
    while (word >> np.uint64(bit)) & _BIT == np.uint64(0):
        bit += 1
    return bit


# ---- learning ------------------------------------------------------------------------------------


@kernel_function
def learn(tree: Any, scratch: Any, b: Any, place: Any, winner: Any) -> None:
    """Remembers why the node is won, and the same turned; of too many, the oldest are forgotten."""
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
def is_known(tree: Any, scratch: Any, b: Any, player: Any) -> Any:
    """Whether a template says as much with fewer cells."""
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
def write_template(tree: Any, scratch: Any, b: Any, player: Any) -> None:
    """Puts the template in the working memory to the others."""
    work, count = scratch.work[b], tree.roots[b].num_templates[player]
    tree.roots[b].num_templates[player] = count + 1
    template = count % (64 * tree.templates.shape[4])
    for cell in range(work.in_zone.shape[0]):
        set_bit(tree.templates[b, player, ZONE, cell], template, work.in_zone[cell])
        set_bit(tree.templates[b, player, NEED, cell], template, work.is_needed[cell])


@kernel_function
def set_bit(words: Any, template: Any, is_set: Any) -> None:
    """Sets or clears the template's bit."""
    mask = _BIT << np.uint64(template % 64)
    if is_set:
        words[template // 64] |= mask
    else:
        words[template // 64] &= ~mask
