"""An example game: take one to three stones from a heap; whoever takes the last one wins.

plainzero check examples/nim.py:Nim
plainzero play "examples/nim.py:Nim(stones=15)"
"""

import numpy as np

from plainzero import Game, field


class Nim(Game):
    """Take one, two or three stones; whoever takes the last one wins."""

    stones: int = 21

    num_actions = 3
    observation_shape = property(lambda self: (self.stones + 1,))
    max_turns = property(lambda self: self.stones)

    def fields(self):
        """The stones that are left."""
        return {"left": field(np.int16)}

    def reset(self, state):
        """The heap is full."""
        state.left = self.stones

    def legal_actions(self, state, actions):
        """No more than are left."""
        count = min(3, int(state.left))
        for action in range(count):
            actions[action] = action
        return count

    def play(self, state, action):
        """Action 0 takes one stone."""
        state.left -= action + 1
        if state.left == 0:
            self.win(state, state.to_play)
        self.end_turn(state)

    def observe(self, state, planes):
        """A one at the number of stones."""
        planes[state.left] = 1.0

    def action_name(self, action):
        """How many are taken."""
        return str(action + 1)

    def text(self, state):
        """A stroke for each stone."""
        return f"{'|' * int(state.left)} ({state.left})"
