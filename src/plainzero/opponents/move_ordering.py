"""The order in which alpha-beta tries moves: likely refutations first.

The best move in the table comes first; the others are weighed only if it is not enough. When many
plies are left, each move is played and its replies are counted: a move that ends the game is ranked
by its result, any other by how few moves it leaves the other side, or how many its own. Ties are
broken by how often a move refuted other positions, at this ply or overall.
"""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.games.rules import legal_actions, play
from plainzero.opponents.alpha_beta_stack import TreeWork

LOOK_AHEAD_PLIES = 5
"""With fewer plies left, counting replies costs more than it saves."""

_ENDING = 1e9  # more than any number of replies
_KILLER = 1.0
_HALF_TRUSTED = 1000.0  # the history that counts half as much as a killer move


@kernel_function
def bring_forward(work: TreeWork, ply: int) -> None:
    """Moves the most promising untried move to the front; ties go to the one listed first."""
    frame, actions, weights = work.frames[ply], work.actions[ply], work.weights[ply]
    best = frame.next
    if frame.next == 0:
        for index in range(frame.count):
            if actions[index] == frame.best_action:
                actions[0], actions[index] = actions[index], actions[0]
                return
    if not frame.is_weighed:
        weigh_moves(work, ply)
    for index in range(frame.next + 1, frame.count):
        if weights[index] > weights[best]:
            best = index
    actions[frame.next], actions[best] = actions[best], actions[frame.next]
    weights[frame.next], weights[best] = weights[best], weights[frame.next]


@kernel_function
def weigh_moves(work: TreeWork, ply: int) -> None:
    """Weighs the untried moves."""
    frame, actions, weights = work.frames[ply], work.actions[ply], work.weights[ply]
    frame.is_weighed = True
    for index in range(frame.next, frame.count):
        weights[index] = weigh_refutations(work, ply, actions[index])
        if frame.remaining >= LOOK_AHEAD_PLIES:
            weights[index] += weigh_replies(work, ply, actions[index])


@kernel_function
def weigh_refutations(work: TreeWork, ply: int, action: int) -> float:
    """From 0 to 1: how often the move refuted other positions."""
    if action == work.killers[ply, 0] or action == work.killers[ply, 1]:
        return _KILLER
    history = work.history[(1 - work.frames[ply].side) // 2, action]
    return _KILLER * history / (history + _HALF_TRUSTED)


@kernel_function
def weigh_replies(work: TreeWork, ply: int, action: int) -> float:
    """The weighted result of a move that ends the game, or the number of replies it leaves."""
    frame, cursor = work.frames[ply], work.cursor[0]
    work.states[ply + 1] = work.states[ply]  # unused until a child is opened, as are its actions
    state = work.states[ply + 1]
    play(state, action)
    if state.is_over:
        return frame.side * float(state.returns[cursor.viewer]) * _ENDING
    if state.to_play == CHANCE:
        return 0.0
    replies = float(legal_actions(state, work.actions[ply + 1]))
    return replies if (state.to_play == cursor.viewer) == (frame.side == 1) else -replies


@kernel_function
def remember_refutation(work: TreeWork, ply: int, action: int) -> None:
    """Records the move, to try it early in other positions at this ply and by this side."""
    frame = work.frames[ply]
    work.history[(1 - frame.side) // 2, action] += float(frame.remaining) * frame.remaining
    if work.killers[ply, 0] != action:
        work.killers[ply, 1] = work.killers[ply, 0]
        work.killers[ply, 0] = action
