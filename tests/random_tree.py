"""A game without a board: a tree whose ends were drawn at random, a quarter of them draws."""

from typing import Any

import numpy as np

from plainzero import Game, field


class RandomTree(Game):
    """Two players choose one of three moves, six times in all; `number` says which tree it is."""

    num_actions = 3
    observation_shape = (1,)
    max_turns = 6

    def fields(self) -> Any:
        """The tree, and the moves so far as one number."""
        return {"number": field(np.int64), "path": field(np.int64)}

    def reset(self, state: Any) -> None:
        """Tree 0, before the first move."""
        state.number = 0
        state.path = 1

    def legal_actions(self, state: Any, actions: Any) -> int:
        """All three."""
        for action in range(3):
            actions[action] = action
        return 3

    def play(self, state: Any, action: Any) -> None:
        """After the last move, mixes the path's number to a win, a loss or a draw."""
        state.path = 3 * state.path + action
        if state.turn < 5:
            self.end_turn(state)
        else:
            x = (state.path * 7919 + state.number * 104729) % 1000003
            x = (x * x + 12345 * x) % 1000003
            if x % 8 < 3:
                self.win(state, 0)
            elif x % 8 < 6:
                self.win(state, 1)
            else:
                self.draw(state)

    def observe(self, state: Any, planes: Any) -> None:
        """Always the same."""
        planes[0] = 1.0


RANDOM_TREE = RandomTree()


def start(number: int) -> Any:
    """The first position of a tree."""
    state = RANDOM_TREE.new_state()
    state.number = number
    return state


def solve(state: Any) -> tuple[int, int]:
    """The value for the mover and the moves to the end, by minimax.

    Winners hurry, others do not.
    """
    if state.is_over:
        return int(state.returns[state.to_play]), 0
    found = []
    for action in range(3):
        after = RANDOM_TREE.copy(state)
        RANDOM_TREE.apply(after, action)
        value, length = solve(after)
        found.append((value if after.to_play == state.to_play else -value, 1 + length))
    value = max(value for value, _ in found)
    lengths = [length for found_value, length in found if found_value == value]
    return value, min(lengths) if value > 0 else max(lengths)
