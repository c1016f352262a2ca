"""Correct games as people write them from the contract alone, with what Python offers."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from plainzero import Game, field


class Piece(IntEnum):
    EMPTY = 0
    FIRST = 1
    SECOND = 2


class Step(NamedTuple):
    down: int
    right: int


STEPS = [Step(0, 1), Step(1, 0), Step(1, 1), Step(1, -1)]


class Strangers(Game):
    """Three in a row on 3×3, told with temporaries, enums, named tuples and private helpers."""

    size: int = 3
    EMPTY = Piece.EMPTY

    num_actions = property(lambda self: self.size**2)
    observation_shape = property(lambda self: (2, self.size, self.size))
    max_turns = num_actions

    def fields(self):
        return {"board": field(np.int8, (self.size, self.size)), "size": field(np.int16)}

    def legal_actions(self, state, actions):
        free = [cell for cell in range(self.num_actions) if self.__at(state, cell) == self.EMPTY]
        for i in range(len(free)):
            actions[i] = free[i]
        return len(free)

    def __at(self, state, cell):
        return state.board[cell // self.size, cell % self.size]

    def play(self, state, action):
        mark = Piece.FIRST if state.to_play == 0 else Piece.SECOND
        state.board[action // self.size, action % self.size] = mark
        state.size += 1
        if self.wins(state.board == state.to_play + 1):
            self.win(state, state.to_play)
        elif np.count_nonzero(state.board) == self.num_actions:
            self.draw(state)
        self.end_turn(state)

    def wins(self, mine, length=3):
        for row in range(self.size):
            for col in range(self.size):
                for step in STEPS:
                    count = 0
                    for i in range(length):
                        r, c = row + i * step.down, col + i * step.right
                        if 0 <= r < self.size and 0 <= c < self.size and mine[r, c]:
                            count += 1
                    if count == length:
                        return True
        return False

    def observe(self, state, planes):
        planes[0] = state.board == state.to_play + 1
        planes[1] = state.board == 2 - state.to_play
