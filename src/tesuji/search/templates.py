"""Templates: wins that rest on a few cells, learned by the search and recognised elsewhere.

For games whose moves take cells for good (`Game.moves_take_cells`), as in Hex. A proven win rests
on a *zone*: cells that the winner holds, and free ones where he answers. Wherever else his opponent
plays, the same answers win; so the refutation of one move refutes every move outside its zone
(Hayward and others, "Solving 7×7 Hex", 2005: the must-play region). And wherever a zone looks like
that again, it wins again (Shih, Wu and others, "A novel approach to solving goal-achieving problems
for board games", 2022): a lost position leaves a template, its zone and those cells of the zone
that the winner must hold.

With one bit a template and 64 of them in a word, all are compared with a position cell by cell.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from tesuji.compiling import KERNEL, compiled_as, kernel_function
from tesuji.games.rules import game_of_type, holder, winning_cells
from tesuji.search.tree import NEED, ZONE

UNFIT, LACKING = 0, 1  # of scratch.fits: by bits, which templates do not fit, and which lack a cell
NOBODY = -1
_FIRST_VISITS, _ONE = 8, np.uint64(1)


def for_cells(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a kernel function that does nothing, and is not compiled, for other games."""

    def choose(tree: Any, *_: Any) -> Any:
        states: types.Array = tree.types[tree.fields.index("states")]
        if game_of_type(states.dtype).moves_take_cells:
            return function
        return lambda tree, scratch, options, b, place: False

    compiled_as(function, KERNEL)(choose)
    return function


# ---- zones ---------------------------------------------------------------------------------------


@for_cells
def rest_on_cells(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> Any:
    """Writes the zone of a finished game; whether zones are kept."""
    if options.templates == 0:
        return False
    cells = scratch.work[b].actions
    for cell in range(cells.shape[0]):
        cells[cell] = 0
    winning_cells(tree.states[b, place], cells)
    clear_zone(tree, b, place)
    for cell in range(cells.shape[0]):
        if cells[cell] != 0:
            tree.zones[b, place, cell // 64] |= _ONE << np.uint64(cell % 64)
    learn(tree, scratch, b, place, 0 if tree.states[b, place].returns[0] > 0.0 else 1)
    return True


@for_cells
def rest_on_child(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> Any:
    """Tells a node the zone of its child `place`, just proven; whether zones are kept.

    A winning child's zone is the node's. A losing one's refutes more moves; the zones of all
    refutations together are the node's, and a template, once no move is left.
    """
    if options.templates == 0:
        return False
    node, edge = tree.nodes[b, place].parent, tree.nodes[b, place].parent_edge
    if tree.extras[b, edge].exact == 1.0:
        for word in range(tree.zones.shape[2]):
            tree.zones[b, node, word] = tree.zones[b, place, word]
        return True
    for word in range(tree.zones.shape[2]):
        tree.zones[b, node, word] |= tree.zones[b, place, word]
    if refute(tree, b, node, tree.zones[b, place]) == 0:
        learn(tree, scratch, b, node, 1 - tree.nodes[b, node].mover)
    return True


@kernel_function
def clear_zone(tree: Any, b: Any, place: Any) -> None:
    """No cells."""
    for word in range(tree.zones.shape[2]):
        tree.zones[b, place, word] = np.uint64(0)


@kernel_function
def is_in(zone: Any, cell: Any) -> Any:
    """Whether the cell is one of the zone."""
    return (zone[cell // 64] >> np.uint64(cell % 64)) & _ONE != np.uint64(0)


@kernel_function
def refute(tree: Any, b: Any, place: Any, zone: Any) -> Any:
    """Marks the node's moves outside the zone as lost; returns how many moves are left."""
    first, left = tree.nodes[b, place].first_edge, 0
    for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
        if not is_in(zone, tree.edges[b, edge].action):
            mark_edge(tree, b, edge, -1.0)
        if not tree.extras[b, edge].is_proven:
            left += 1
    return left


@kernel_function
def mark_edge(tree: Any, b: Any, edge: Any, exact: Any) -> None:
    """The edge is proven."""
    tree.extras[b, edge].is_proven = True
    tree.extras[b, edge].exact = exact


# ---- recognising ---------------------------------------------------------------------------------


@kernel_function
def recall(tree: Any, scratch: Any, options: Any, b: Any, place: Any) -> Any:
    """Whether templates prove the node; they may also refute some of its moves.

    Looked up when a node is new, and again each time its visits have doubled.
    """
    if options.templates == 0 or tree.nodes[b, place].num_edges == 0:
        return False
    is_new, visits = tree.nodes[b, place].num_edges < 0, tree.nodes[b, place].sum_visits
    if not is_new and (visits < _FIRST_VISITS or visits & (visits - 1) != 0):
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
            fitting &= fitting - _ONE
            read_zone(tree, b, opponent, word * 64 + bit, zone)
            now_left = refute(tree, b, place, zone)
            if now_left < left:
                left = now_left
                for part in range(zone.shape[0]):
                    tree.zones[b, place, part] |= zone[part]
            if left == 0:
                learn(tree, scratch, b, place, opponent)
                return True
    return False


@kernel_function
def count_left(tree: Any, b: Any, place: Any) -> Any:
    """The node's moves that are not proven."""
    first, left = tree.nodes[b, place].first_edge, 0
    for edge in range(first, first + abs(tree.nodes[b, place].num_edges)):
        if not tree.extras[b, edge].is_proven:
            left += 1
    return left


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
            zone[cell // 64] |= _ONE << np.uint64(cell % 64)


@kernel_function
def has_bit(words: Any, template: Any) -> Any:
    """Whether the template's bit is set."""
    return (words[template // 64] >> np.uint64(template % 64)) & _ONE != np.uint64(0)


@kernel_function
def lowest(word: Any) -> Any:
    """The place of the lowest bit that is set."""
    bit = 0
    while (word >> np.uint64(bit)) & _ONE == np.uint64(0):
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
    mask = _ONE << np.uint64(template % 64)
    if is_set:
        words[template // 64] |= mask
    else:
        words[template // 64] &= ~mask
