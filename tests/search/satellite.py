"""One decision between five manoeuvres, all worth the same: priors are all there is."""

from typing import Any

import numpy as np

from tesuji import Game, field

PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL, HOLD = range(5)


class Satellite(Game):
    """One player, one turn, five actions, result 0."""

    num_players = 1
    num_actions = 5
    observation_shape = (1,)
    max_turns = 1

    def fields(self) -> Any:
        """The manoeuvre flown."""
        return {"manoeuvre": field(np.int8)}

    def legal_actions(self, state: Any, actions: Any) -> int:
        """All five."""
        for action in range(5):
            actions[action] = action
        return 5

    def play(self, state: Any, action: Any) -> None:
        """Ends the game."""
        state.manoeuvre = action
        self.draw(state)

    def observe(self, state: Any, planes: Any) -> None:
        """Always the same."""
        planes[0] = 1.0
