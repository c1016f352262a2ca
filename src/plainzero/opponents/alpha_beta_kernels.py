"""The compiled alpha-beta search of any game to a given depth, with an explicit stack.

All values are returns of one player, the *viewer*, who is one *side*; all other players form the
other side, as if they played together against the viewer. With two players that is minimax; with
three or more it is the "paranoid" search of Sturtevant and Korf (2000), which prunes much better
than max^n; with one player there is no other side. A frame's values are from the point of view of
its own side, so a value changes sign only if the sides of parent and child differ. Chance nodes are
averages (expectiminimax), and their children are searched with an open window.

Only a position's first move is searched with the full window. The others are tested for being
better with an empty window (principal variation search), and searched again if they are.
"""

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.games.contract import CHANCE
from plainzero.games.rules import chance_outcomes, legal_actions, play
from plainzero.opponents.alpha_beta_stack import TreeWork
from plainzero.opponents.move_ordering import bring_forward, remember_refutation
from plainzero.opponents.transposition_table import NO_ACTION, find_entry, store_entry, use_entry

TIE = 1e-9
"""Values that differ by less than this are equal."""

_LIMIT = 1.0  # returns are from −1 to 1


@Kernel
def search_tree(work: TreeWork, budget: int) -> bool:
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
def open_root(work: TreeWork) -> None:
    """Opens the frame of states[0], in which a player is to move."""
    cursor, frame = work.cursor[0], work.frames[0]
    cursor.ply = 0
    frame.remaining = cursor.depth
    frame.side = 1 if work.states[0].to_play == cursor.viewer else -1
    frame.alpha, frame.beta, frame.floor = -_LIMIT, _LIMIT, -_LIMIT
    frame.best_action = NO_ACTION
    if work.table.shape[0] > 0:
        find_entry(work, frame, 0, cursor.salt)
        use_entry(work.table[frame.slot], frame)  # only for its move
    list_moves(work, 0)


@kernel_function
def open_child(work: TreeWork, ply: int) -> None:
    """Plays the frame's next move, and sets the window of the child's frame."""
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
def enter(work: TreeWork, ply: int) -> bool:
    """Whether the position at `ply` must be searched; otherwise its frame holds its value."""
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
def list_moves(work: TreeWork, ply: int) -> None:
    """Lists the moves, or chance's outcomes and probabilities, and resets the frame's result."""
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
def receive(work: TreeWork, ply: int) -> None:
    """Passes the value of the child just searched to its parent at `ply`."""
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
        if value >= frame.beta:  # the other moves do not matter
            frame.is_complete = child.is_complete
            remember_refutation(work, ply, action)
            return
    frame.is_complete = frame.is_complete and child.is_complete
