"""Random games by the compiled rules, recorded whole, to be replayed by somebody else's rules."""

from typing import Any, NamedTuple

import numpy as np

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games import rules
from plainzero.games.contract import Game


class Recorded(NamedTuple):
    """Games of different length; what lies behind a game's length is unused."""

    lengths: Any  # [games]
    actions: Any  # [games, turns]
    players: Any  # [games, turns] who was to play
    legal_masks: Any  # [games, turns, actions]
    returns: Any  # [games, players]


@Kernel
def _record(recorded, states, choices, legal):
    for game in range(choices.shape[0]):
        states[1] = states[0]
        state = states[1]
        ply = 0
        while not state.is_over:
            count = rules.legal_actions(state, legal)
            for i in range(count):
                recorded.legal_masks[game, ply, legal[i]] = True
            action = legal[int(choices[game, ply] * count)]
            recorded.players[game, ply] = state.to_play
            recorded.actions[game, ply] = action
            rules.play(state, action)
            ply += 1
        recorded.lengths[game] = ply
        for player in range(recorded.returns.shape[1]):
            recorded.returns[game, player] = state.returns[player]


def record_games(game: Game, games: int, seed: int) -> Recorded:
    """Plays uniformly random games without chance by the compiled rules."""
    turns, actions = game.max_turns, game.num_actions
    recorded = Recorded(
        np.zeros(games, np.int64),
        np.zeros((games, turns), np.int64),
        np.zeros((games, turns), np.int64),
        np.zeros((games, turns, actions), np.bool_),
        np.zeros((games, game.num_players), np.float64),
    )
    states = np.zeros(2, game.dtype)
    states[0] = game.new_state()
    choices = np.random.default_rng(seed).random((games, turns))
    _record(rules.register(game), recorded, states, choices, np.zeros(actions, np.int32))
    return recorded
