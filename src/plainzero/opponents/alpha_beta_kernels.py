"""Alpha-beta search of any game to a depth, compiled, with a stack of its own.

All values are returns of one player, the *viewer*; his *side* is he alone, and the other players
are the other side, as if they had joined against him. With two players that is minimax; with three
or more it is the "paranoid" search of Sturtevant and Korf (2000), which can prune where max^n
hardly can; with one there is no other side. A frame's values are from the point of view of its own
side, so a value changes sign only where the sides of parent and child differ. Chance's positions
are averages (expectiminimax), and their children are searched with an open window.

Of a position's moves only the first is searched with its whole window. The others are asked whether
they are better ("principal variation search"), and searched again if they are.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import CHANCE
from plainzero.games.rules import chance_outcomes, legal_actions, play
from plainzero.opponents.move_ordering import bring_forward, remember_refutation
from plainzero.opponents.transposition_table import NO_ACTION, find_entry, store_entry, use_entry

TIE = 1e-9
"""Values nearer to each other than this are equal."""

_LIMIT = 1.0  # returns are from −1 to 1

FRAME = record_dtype(
    alpha=np.float64,  # values up to this change nothing above
    beta=np.float64,  # from this on the position is not reached
    floor=np.float64,  # alpha when the frame was opened
    best=np.float64,
    check=np.uint64,  # see transpositions
    slot=np.int64,
    side=np.int64,  # 1 the viewer's, −1 the other
    count=np.int64,  # of moves
    next=np.int64,  # the first not yet tried
    best_action=np.int32,
    remaining=np.int16,
    is_chance=np.bool_,
    is_complete=np.bool_,
    is_weighed=np.bool_,  # the moves not yet tried
    is_narrow=np.bool_,  # the window of the child searched now
    is_repeated=np.bool_,  # the next move was found to be better: it gets the whole window
)
CURSOR = record_dtype(
    ply=np.int64,  # of the frame searched now; −1: not begun
    nodes=np.int64,
    depth=np.int64,
    viewer=np.int64,
    salt=np.uint64,  # entries of the table made with another one are not found
    decay=np.float64,  # of a value for each ply it lies ahead: quicker wins are worth more
    needs_all=np.bool_,  # exact values of all root moves, not only of the best
    has_no_action=np.bool_,  # the rules gave no legal action
)


class TreeWork(NamedTuple):
    """The stack and the tables. D the depth, W words a state, A actions, M moves of a position."""

    states: NDArray[Any]  # [D + 1]
    words: NDArray[Any]  # [D + 1, W] the same memory
    masks: NDArray[Any]  # [W]
    frames: NDArray[Any]  # [D + 1] see FRAME
    actions: NDArray[np.int32]  # [D + 1, M]
    weights: NDArray[np.float64]  # [D + 1, M] order of moves, or chance's probabilities
    killers: NDArray[np.int32]  # [D + 1, 2] moves that refuted another position at this ply
    history: NDArray[np.float64]  # [2, A] how much each side's moves have refuted
    table: NDArray[Any]  # [2^k] see transpositions
    root_values: NDArray[np.float64]  # [A] for the side to move at the root
    cursor: NDArray[Any]  # [1] see CURSOR


@Kernel
def search_tree(work: Any, budget: Any) -> Any:
    """Searches states[0] to cursor.depth; False when `budget` steps were not enough."""
    cursor = work.cursor[0]
    if cursor.ply < 0:
        open_root(work)
    ply = cursor.ply
    for _ in range(budget):
        frame = work.frames[ply]
        if frame.next < frame.count and (frame.is_chance or frame.alpha < frame.beta):
            open_child(work, ply)
            if enter(work, ply + 1):
                ply += 1
            else:
                receive(work, ply)
        else:
            if work.table.shape[0] > 0:
                store_entry(work.table[frame.slot], frame)
            ply -= 1
            if ply < 0:
                cursor.ply = ply
                return True
            receive(work, ply)
    cursor.ply = ply
    return False


@kernel_function
def open_root(work: Any) -> None:
    """Opens the frame of states[0], which is not over and not chance's."""
    cursor, frame = work.cursor[0], work.frames[0]
    cursor.ply = 0
    frame.remaining = cursor.depth
    frame.side = 1 if work.states[0].to_play == cursor.viewer else -1
    frame.alpha, frame.beta, frame.floor = -_LIMIT, _LIMIT, -_LIMIT
    frame.best_action = NO_ACTION
    if work.table.shape[0] > 0:
        find_entry(work, frame, 0, cursor.salt)
        use_entry(work.table[frame.slot], frame)  # for its move alone
    list_moves(work, 0)


@kernel_function
def open_child(work: Any, ply: Any) -> None:
    """Plays the frame's next move; the child's frame gets its window."""
    frame, child, cursor = work.frames[ply], work.frames[ply + 1], work.cursor[0]
    if not frame.is_chance:
        bring_forward(work, ply)
    cursor.nodes += 1
    work.states[ply + 1] = work.states[ply]
    play(work.states[ply + 1], work.actions[ply, frame.next])
    frame.next += 1
    child.remaining = frame.remaining - 1
    child.side = 1 if work.states[ply + 1].to_play in (cursor.viewer, CHANCE) else -1
    alpha, beta = frame.alpha, frame.beta
    if ply == 0:
        alpha = -_LIMIT if cursor.needs_all else frame.best - TIE
    is_first = frame.next == 1 or (ply == 0 and cursor.needs_all)
    frame.is_narrow = not (is_first or frame.is_chance or frame.is_repeated)
    frame.is_repeated = False
    if frame.is_narrow:
        beta = min(beta, max(frame.alpha, frame.best) + TIE)
    if child.side == frame.side:
        child.alpha, child.beta = alpha / cursor.decay, beta / cursor.decay
    else:
        child.alpha, child.beta = -beta / cursor.decay, -alpha / cursor.decay


@kernel_function
def enter(work: Any, ply: Any) -> Any:
    """Whether the position at `ply` has to be searched; if not, its frame has its value."""
    state, frame, cursor = work.states[ply], work.frames[ply], work.cursor[0]
    if state.is_over:
        frame.best = frame.side * float(state.returns[cursor.viewer])
        frame.is_complete = True
        return False
    if frame.remaining <= 0:
        frame.best, frame.is_complete = 0.0, False
        return False
    frame.is_chance = state.to_play == CHANCE
    if frame.is_chance:
        frame.alpha, frame.beta = -_LIMIT, _LIMIT
    frame.floor, frame.best_action = frame.alpha, NO_ACTION
    if work.table.shape[0] > 0:
        find_entry(work, frame, ply, cursor.salt)
        if use_entry(work.table[frame.slot], frame):
            return False
    list_moves(work, ply)
    return True


@kernel_function
def list_moves(work: Any, ply: Any) -> None:
    """Lists the moves, or chance's outcomes and weights; the frame has found nothing yet."""
    state, frame = work.states[ply], work.frames[ply]
    actions, weights = work.actions[ply], work.weights[ply]
    frame.next, frame.is_complete = 0, True
    frame.is_weighed = frame.is_repeated = False
    if frame.is_chance:
        frame.best = 0.0
        frame.count = chance_outcomes(state, actions, weights)
        return
    frame.best = -2.0 * _LIMIT
    frame.count = legal_actions(state, actions)
    if frame.count == 0:
        work.cursor[0].has_no_action = True
        frame.best = 0.0


@kernel_function
def receive(work: Any, ply: Any) -> None:
    """Takes the value of the child just searched into its parent at `ply`."""
    frame, child, cursor = work.frames[ply], work.frames[ply + 1], work.cursor[0]
    value = cursor.decay * child.best
    if child.side != frame.side:
        value = -value
    index = frame.next - 1
    if frame.is_chance:
        frame.best += work.weights[ply, index] * value
        frame.is_complete = frame.is_complete and child.is_complete
        return
    if frame.is_narrow and max(frame.alpha, frame.best) + TIE / 2 < value < frame.beta:
        frame.next, frame.is_repeated = index, True
        return
    action = work.actions[ply, index]
    if ply == 0:
        work.root_values[action] = value
    if value > frame.best:
        frame.best, frame.best_action = value, action
    if ply > 0 and value > frame.alpha:
        frame.alpha = value
        if value >= frame.beta:  # what the other moves are worth does not matter any more
            frame.is_complete = child.is_complete
            remember_refutation(work, ply, action)
            return
    frame.is_complete = frame.is_complete and child.is_complete
