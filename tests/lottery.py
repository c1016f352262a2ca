"""One decision between tickets of known worth: priors and formulas are all there is to see."""

from typing import Any

import numpy as np

from plainzero import Game, field


class Lottery(Game):
    """One player, one turn, as many tickets as the position offers, each of the worth it names."""

    num_players = 1
    num_actions = 6
    observation_shape = (1,)
    max_turns = 1

    def fields(self) -> Any:
        """What each ticket pays, how many there are, and the one drawn."""
        return {
            "worth": field(np.float64, (6,)),
            "tickets": field(np.int8),
            "drawn": field(np.int8),
        }

    def reset(self, state: Any) -> None:
        """One ticket that pays nothing; `offer` makes the positions to search."""
        state.tickets = 1

    def legal_actions(self, state: Any, actions: Any) -> int:
        """All of them."""
        for action in range(state.tickets):
            actions[action] = action
        return state.tickets

    def play(self, state: Any, action: Any) -> None:
        """Pays, and ends the game."""
        state.drawn = action
        state.returns[0] = state.worth[action]
        self.finish(state)

    def observe(self, state: Any, planes: Any) -> None:
        """Always the same."""
        planes[0] = 1.0


LOTTERY = Lottery()


def offer(*worth: float) -> Any:
    """The position in which there are tickets of this worth."""
    state = LOTTERY.new_state()
    state.tickets = len(worth)
    state.worth[: len(worth)] = worth
    return state
