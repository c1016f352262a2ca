"""Plain minimax in Python, to any depth: the reference for alpha-beta."""

from plainzero import CHANCE


def minimax_values(game, state, depth, decay=1.0):
    """The value of each legal move for the mover, by full search to `depth` plies.

    The mover maximises its own return, all others minimise it; chance is averaged; positions
    beyond the depth are worth 0.
    """
    viewer = int(state.to_play)
    values = {}
    for action in game.legal(state):
        values[action] = decay * _value(game, _after(game, state, action), depth - 1, viewer, decay)
    return values


def is_known(game, state, depth):
    """Whether every line of play ends within `depth` plies."""
    if state.is_over:
        return True
    moves = game.legal(state)
    return depth > 0 and all(is_known(game, _after(game, state, a), depth - 1) for a in moves)


def _value(game, state, depth, viewer, decay):
    if state.is_over:
        return float(state.returns[viewer])
    if depth == 0:
        return 0.0
    if state.to_play == CHANCE:
        return sum(
            probability
            * decay
            * _value(game, _after(game, state, outcome), depth - 1, viewer, decay)
            for outcome, probability in game.chances(state)
        )
    values = [
        decay * _value(game, _after(game, state, action), depth - 1, viewer, decay)
        for action in game.legal(state)
    ]
    return max(values) if state.to_play == viewer else min(values)


def _after(game, state, action):
    after = game.copy(state)
    game.apply(after, action)
    return after
