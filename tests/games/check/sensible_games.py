"""Unusual games without a fault: the check must be silent on them."""

import numpy as np

from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.contract import Game, field


class Nim(Game):
    """Take one to three of a heap; who takes the last wins. Nothing belongs to anybody."""

    heap: int = 12

    num_actions = 3
    observation_shape = (1,)
    max_turns = property(lambda self: self.heap)

    def fields(self):
        return {"left": field(np.int16)}

    def reset(self, state):
        state.left = self.heap

    def legal_actions(self, state, actions):
        count = min(3, state.left)
        for action in range(count):
            actions[action] = action
        return count

    def play(self, state, action):
        state.left -= action + 1
        if state.left == 0:
            self.win(state, state.to_play)
        self.end_turn(state)

    def observe(self, state, planes):
        planes[0] = state.left / self.heap


class TellsSidesByTurn(TicTacToe):
    """Sides alternate, so the turn says as much as to_play."""

    def observe(self, state, planes):
        for row in range(self.size):
            for col in range(self.size):
                mark = state.board[row, col]
                if mark != 0:
                    planes[(mark - 1 + state.turn) % 2, row, col] = 1.0


class SideInAPlane(TicTacToe):
    """Stones by colour, and a third plane that says whose turn it is."""

    observation_shape = property(lambda self: (3, self.size, self.size))

    def observe(self, state, planes):
        for row in range(self.size):
            for col in range(self.size):
                if state.board[row, col] != 0:
                    planes[state.board[row, col] - 1, row, col] = 1.0
                planes[2, row, col] = state.to_play


class OpponentFirst(TicTacToe):
    """The opponent's stones come first: unusual, but seen from the mover all the same."""

    def observe(self, state, planes):
        for row in range(self.size):
            for col in range(self.size):
                mark = state.board[row, col]
                if mark != 0:
                    planes[int(mark == state.to_play + 1), row, col] = 1.0


class Race(Game):
    """Four players race; each step is free, so players share a track and differ in pieces only."""

    length: int = 5

    num_players = 4
    num_actions = 2
    observation_shape = property(lambda self: (4, self.length + 1))
    max_turns = property(lambda self: 4 * self.length)

    def fields(self):
        return {"position": field(np.int8, 4)}

    def legal_actions(self, state, actions):
        actions[0], actions[1] = 1, 0
        return 2

    def play(self, state, action):
        state.position[state.to_play] += action + 1
        if state.position[state.to_play] >= self.length:
            self.win(state, state.to_play)
        self.end_turn(state)

    def observe(self, state, planes):
        for seat in range(4):
            planes[seat, state.position[(state.to_play + seat) % 4]] = 1.0


def score(state):
    return sum(int(cell) for cell in state.board.ravel())


class ScoreOfItsOwn(TicTacToe):
    """A field and a function for people have the same name; rules use the field alone."""

    def fields(self):
        return {**super().fields(), "score": field(np.int32, (2,))}

    def play(self, state, action):
        score = state.score
        score[state.to_play] += 1
        super().play(state, action)

    def text(self, state):
        return f"{super().text(state)}\n{score(state)}"


class RecognisesFreeCells(TicTacToe):
    """Says of each cell whether it is free, and plays out in the middle as long as it can."""

    def playout_actions(self, state, actions):
        if not self.is_playout_action(state, 4):
            return self.legal_actions(state, actions)
        actions[0] = 4
        return 1

    def is_playout_action(self, state, action):
        return action == 4 and state.board[1, 1] == 0
