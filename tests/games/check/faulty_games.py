"""Games with one planted fault each, for the check to find. `# fault` marks the line to name."""

import random

import numpy as np

from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.bundled.dots_and_boxes import DotsAndBoxes
from plainzero.games.bundled.hex import Hex
from plainzero.games.bundled.othello import Othello
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.bundled.trio import Trio
from plainzero.games.bundled.twenty_forty_eight import TwentyFortyEight
from plainzero.games.contract import CHANCE, Game, Grid, Step, Symmetry, field

REMEMBERED = [0]
MOVES = []
UNEQUAL = [[1, 2], [3]]


class ActionTwice(TicTacToe):
    def legal_actions(self, state, actions):
        count = super().legal_actions(state, actions)
        if count > 1:
            actions[1] = actions[0]
        return count


class ActionOutOfRange(TicTacToe):
    def legal_actions(self, state, actions):
        count = super().legal_actions(state, actions)
        actions[0] = self.num_actions
        return count


class TooManyActions(TicTacToe):
    def legal_actions(self, state, actions):
        for action in range(self.num_actions + 1):
            actions[action] = action
        return self.num_actions


class CountsOneTooMany(TicTacToe):
    def legal_actions(self, state, actions):
        return super().legal_actions(state, actions) + 1


class NoMoveLeft(TicTacToe):
    def legal_actions(self, state, actions):
        return 0 if state.turn == 3 else super().legal_actions(state, actions)


class LegalActionsPlay(TicTacToe):
    def legal_actions(self, state, actions):
        count = super().legal_actions(state, actions)
        state.board[0, 0] = 1
        return count


class PlayerThree(TicTacToe):
    def end_turn(self, state):
        state.to_play += 1


class BothWin(TicTacToe):
    def win(self, state, player):
        state.returns[0] = state.returns[1] = 1.0
        self.finish(state)


class WinsTen(TicTacToe):
    def win(self, state, player):
        state.returns[player], state.returns[1 - player] = 10.0, -10.0
        self.finish(state)


class ReturnsNotANumber(TicTacToe):
    def draw(self, state):
        state.returns[0] = np.nan
        self.finish(state)

    def win(self, state, player):
        self.draw(state)


class PaysEarly(TicTacToe):
    def end_turn(self, state):
        state.returns[0], state.returns[1] = 0.5, -0.5
        super().end_turn(state)


class RemembersInModule(TicTacToe):
    def play(self, state, action):
        REMEMBERED[0] += 1
        super().play(state, action)
        if REMEMBERED[0] % 5 == 0 and not state.is_over:
            self.draw(state)


class RemembersInClass(TicTacToe):
    history = []  # noqa: RUF012

    def fields(self):
        return {**super().fields(), "moves": field(np.int32)}

    def play(self, state, action):
        self.history.append(action)
        state.moves = len(self.history)
        super().play(state, action)


class ResetRemembers(TicTacToe):
    def reset(self, state):
        REMEMBERED[0] += 1
        state.to_play = REMEMBERED[0] % 2


class ThrowsDice(TicTacToe):
    def play(self, state, action):
        super().play(state, action)
        if random.random() < 0.5:
            super().end_turn(state)


class SeesAsFirstPlayer(TicTacToe):
    def observe(self, state, planes):
        for row in range(self.size):
            for col in range(self.size):
                if state.board[row, col] != 0:
                    planes[state.board[row, col] - 1, row, col] = 1.0


class ConnectFourAsFirst(ConnectFour):
    def observe(self, state, planes):
        for row in range(self.rows):
            for col in range(self.cols):
                for player in range(2):
                    if state.stones[player] & self.bit(row, col):
                        planes[player, row, col] = 1.0

    def symmetries(self):
        return []


class BoxesAsFirst(DotsAndBoxes):
    def observe(self, state, planes):
        for row in range(self.rows):
            for col in range(self.cols):
                owner = state.owner[row * self.cols + col]
                if owner != 0:
                    planes[owner, row, col] = 1.0
        for line in range(self.num_actions):
            planes[0, 0, 0] += self.is_drawn(state, line)

    def symmetries(self):
        return []


class TrioAsFirst(Trio):
    def observe(self, state, planes):
        for row in range(self.size):
            for col in range(self.size):
                if state.board[row, col] != 0:
                    planes[state.board[row, col] - 1, row, col] = 1.0


class SeesNothing(TicTacToe):
    def observe(self, state, planes):
        planes[0, 0, 0] = 1.0


class SeesNotANumber(TicTacToe):
    def observe(self, state, planes):
        planes[0, 0, 0] = np.nan


class ObservationPlays(TicTacToe):
    def observe(self, state, planes):
        super().observe(state, planes)
        state.board[1, 1] = 1


class NoObserve(Game):
    num_actions = 2
    observation_shape = (1,)
    max_turns = 1

    def fields(self):
        return {"mark": field(np.int8)}

    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, 1
        return 2

    def play(self, state, action):
        state.mark = action
        self.win(state, action)


class TurnedOntoTwo(TicTacToe):
    def symmetries(self):
        return [Symmetry(lambda planes: planes, [0, 0, 2, 3, 4, 5, 6, 7, 8])]


class TurnedPlanesOnly(TicTacToe):
    def symmetries(self):
        return [Symmetry(lambda planes: planes[..., ::-1], range(9))]


class TurnedToAnotherShape(TicTacToe):
    def symmetries(self):
        return [Symmetry(lambda planes: planes[:1], range(9))]


class UpsideDown(ConnectFour):
    """Gravity forbids it: the planes turn, the game does not."""

    def symmetries(self):
        return [Symmetry(lambda planes: planes[..., ::-1, :], range(7))]


class LiesElsewhere(TicTacToe):
    """Upside down, while its symmetries turn the board as it is drawn."""

    def board_actions(self):
        return np.arange(9).reshape(3, 3)[::-1]


class LuckTurnedWrongly(TwentyFortyEight):
    def symmetries(self):
        return [Symmetry(lambda planes: planes[..., ::-1], [0, 1, 2, 3])]


class NeverEnds(TicTacToe):
    def win(self, state, player):
        pass

    def draw(self, state):
        pass

    def legal_actions(self, state, actions):
        actions[0] = 0
        return 1


class CountsTurns(TicTacToe):
    def end_turn(self, state):
        super().end_turn(state)
        state.turn += 1


class _Coin(TwentyFortyEight):
    def outcome(self, actions, probabilities, count, probability):
        actions[count], probabilities[count] = count, probability


class CoinOnItsEdge(_Coin):
    def chance_outcomes(self, state, actions, probabilities):
        self.outcome(actions, probabilities, 0, 0.5)
        self.outcome(actions, probabilities, 1, 0.4)
        return 2


class NegativeChance(_Coin):
    def chance_outcomes(self, state, actions, probabilities):
        self.outcome(actions, probabilities, 0, 1.5)
        self.outcome(actions, probabilities, 1, -0.5)
        return 2


class TooManyOutcomes(_Coin):
    max_chance_outcomes = 2

    def chance_outcomes(self, state, actions, probabilities):
        for count in range(3):
            self.outcome(actions, probabilities, count, 1 / 3)
        return 3


class OutcomeTwice(_Coin):
    def chance_outcomes(self, state, actions, probabilities):
        self.outcome(actions, probabilities, 0, 0.5)
        self.outcome(actions, probabilities, 1, 0.5)
        actions[1] = 0
        return 2


class NothingHappens(TicTacToe):
    def reset(self, state):
        state.to_play = CHANCE


class SmallIntegers(TicTacToe):
    def fields(self):
        return {**super().fields(), "step": field(np.int8), "sum": field(np.int32)}

    def play(self, state, action):
        state.step = 100
        state.sum = state.step + state.step  # -56 as NumPy's int8, 200 compiled
        super().play(state, action)


class SmallIntegersSeen(TicTacToe):
    def fields(self):
        return {**super().fields(), "step": field(np.int8)}

    def reset(self, state):
        state.step = 100

    def observe(self, state, planes):
        super().observe(state, planes)
        if state.step + state.step > 0:  # -56 as NumPy's int8, 200 compiled
            planes[0, 0, 0] = 1.0

    def symmetries(self):
        return []


class UsesADict(TicTacToe):
    def play(self, state, action):
        names = {0: "x", 1: [2]}  # fault
        if names[0] == "x":
            super().play(state, action)


class ReadsAFile(TicTacToe):
    def observe(self, state, planes):
        super().observe(state, planes)
        planes[0, 0, 0] += len(str(open)) * 0  # fault


class ChangesItsType(TicTacToe):
    def legal_actions(self, state, actions):
        best = None
        if state.turn > 100:
            best = (1, 2)
        elif state.turn > 200:
            best = "nothing"
        return super().legal_actions(state, actions) if best is None else 0  # fault


class FaultInAHelper(TicTacToe):
    def has_line(self, state, row, col):
        if state.turn > 100:
            return "x" + state.board[row, col] == "x"  # fault
        return super().has_line(state, row, col)


class CollectsInAList(TicTacToe):
    def play(self, state, action):
        seen = [1]
        seen.append("x" if state.turn > 100 else None)  # fault
        super().play(state, action)


class NamesWhatIsNot(TicTacToe):
    def play(self, state, action):
        if state.turn > 100:
            state.board[0, 0] = self.colour  # fault
        super().play(state, action)


class ReadsBehindTheBoard(TicTacToe):
    def play(self, state, action):
        if state.turn == 4:
            state.board[self.size, 0] = 1  # fault
        super().play(state, action)


class ObservesBehindThePlanes(TicTacToe):
    def observe(self, state, planes):
        planes[2, 0, 0] = 1.0  # fault


class SameNames(TicTacToe):
    def action_name(self, action):
        return "abc"[action % 3]


class NamesLeadElsewhere(TicTacToe):
    def parse_action(self, text):
        return 0


class NamesNoText(TicTacToe):
    def action_name(self, action):
        return action


class FieldCalledTurn(TicTacToe):
    def fields(self):
        return {**super().fields(), "turn": field(np.int32)}


class FieldOfObjects(TicTacToe):
    def fields(self):
        return {**super().fields(), "history": field(object)}


class FieldOfBools(TicTacToe):
    def fields(self):
        return {**super().fields(), "marked": field(np.bool_, (9,))}


class NoFields(TicTacToe):
    def fields(self):
        return [("board", np.int8)]


class HalfAnAction(TicTacToe):
    num_actions = 9.5


class RaggedView(TicTacToe):
    def view(self, state):
        return Grid([["."], [".", "."]], [[0], [1]])


class ClicksOutside(TicTacToe):
    def view(self, state):
        return Grid([["."]], [[99]])


class MarksOutside(TicTacToe):
    def view(self, state):
        return super().view(state)._replace(marks=[(0, 0), (2, 3)])


class MarksANumber(TicTacToe):
    def view(self, state):
        return super().view(state)._replace(marks=[4])


class MarksTwice(TicTacToe):
    def view(self, state):
        return super().view(state)._replace(marks=[(0, 0), (0, 0)])


class StepsOutside(TicTacToe):
    def view(self, state):
        return super().view(state)._replace(steps=[Step(0, (0, 0), (3, 0))])


class RoundLayout(TicTacToe):
    def view(self, state):
        return super().view(state)._replace(layout="round")


class SetUpMirrored(TicTacToe):
    def set_up(self, state, cells):
        for row in range(3):
            for col in range(3):
                state.board[row, 2 - col] = ".xo".index(cells[row][col])


class SetUpForgets(ConnectFour):
    def symmetries(self):
        return []

    def fields(self):
        return {**super().fields(), "frozen": field(np.int8)}

    def legal_actions(self, state, actions):
        count = super().legal_actions(state, actions)
        return 1 if state.frozen else count

    def play(self, state, action):
        state.frozen = action == 3
        super().play(state, action)


class SetUpTrips(TicTacToe):
    def set_up(self, state, cells):
        state.pieces = cells


class PlaysOutNothing(TicTacToe):
    def playout_actions(self, state, actions):
        return 0 if state.turn == 3 else self.legal_actions(state, actions)


class PlaysOutIllegally(TicTacToe):
    def playout_actions(self, state, actions):
        actions[0] = 4
        return 1


class PlaysOutTwice(TicTacToe):
    def playout_actions(self, state, actions):
        count = self.legal_actions(state, actions)
        actions[count - 1] = actions[0]
        return count


class PlaysOutForGood(TicTacToe):
    def playout_actions(self, state, actions):
        state.board[1, 1] = 1
        return self.legal_actions(state, actions)


class PlaysOutTooMany(TicTacToe):
    def playout_actions(self, state, actions):
        actions[self.num_actions] = 0
        return self.legal_actions(state, actions)


class PlaysOutByADict(TicTacToe):
    def playout_actions(self, state, actions):
        names = {0: "x", 1: [2]}  # fault
        return self.legal_actions(state, actions) if names[0] == "x" else 0


class PlaysOutSmallIntegers(TicTacToe):
    def playout_actions(self, state, actions):
        count = self.legal_actions(state, actions)
        product = state.board[0, 0] * np.int8(100) + np.int8(100)  # fault
        return count if product > 0 else 1


class RecognisesTakenCells(TicTacToe):
    def is_legal(self, state, action):
        return True


class RecognisesOthers(TicTacToe):
    def playout_actions(self, state, actions):
        actions[0] = self.legal(state)[0]
        return 1

    def is_playout_action(self, state, action):
        return action == self.legal(state)[-1]


class RecognisesWithoutAList(TicTacToe):
    def is_playout_action(self, state, action):
        return state.board.ravel()[action] == 0


class RecognisesForGood(TicTacToe):
    def is_legal(self, state, action):
        state.board[1, 1] = 1
        return super().is_legal(state, action)


class RecognisesByADict(TicTacToe):
    def is_legal(self, state, action):
        names = {0: "x", 1: [2]}  # fault
        return names[0] == "x" and state.board[action // 3, action % 3] == 0


class RecognisesSmallIntegers(TicTacToe):
    def is_legal(self, state, action):
        product = np.int8(state.turn) * np.int8(0) + np.int8(100) + np.int8(100)  # fault
        return (state.board[action // 3, action % 3] == 0) == (product < 0)


class HoldsOtherCells(Hex):
    size = 3

    def holder(self, state, action):
        return super().holder(state, self.num_cells - 1 - action)


class WinsByNothing(Hex):
    size = 3

    def winning_cells(self, state, cells):
        pass


class WinsByTheLosersCells(Hex):
    size = 3

    def winning_cells(self, state, cells):
        for action in range(self.num_cells):
            cells[action] = state.board[self.place(action)] != 0


class ScoresForTheOther(DotsAndBoxes):
    def score(self, state):
        return -super().score(state)


class ScoresTooMuch(DotsAndBoxes):
    largest_score = 1


class ScoresAndForgets(DotsAndBoxes):
    def score(self, state):
        state.score[1] -= state.score[0]
        return int(-state.score[1])


class ScoresThreePlayers(Trio):
    largest_score = 1


class ScoresByAList(DotsAndBoxes):
    def score(self, state):
        held = [[], 1, "x"]  # fault
        return super().score(state) + len(held) - 3


class OwnsTwice(DotsAndBoxes):
    def ownership(self, state, cells):
        cells[8] = 2.0


class OwnsInACorner(Othello):
    size = 4

    def ownership(self, state, cells):
        cells[0] = 1.0


class OwnsSmallIntegers(DotsAndBoxes):
    def ownership(self, state, cells):
        small = state.owner[0]
        for _ in range(7):
            small = small + small
        cells[12] = 1.0 if small > 0 else -1.0


class TakesCellsAndDraws(TicTacToe):
    moves_take_cells = True

    def holder(self, state, action):
        return state.board[action // 3, action % 3] - 1

    def winning_cells(self, state, cells):
        for action in range(9):
            cells[action] = state.returns[self.holder(state, action)] > 0


class TakesTwoCells(Hex):
    size = 3

    def end_turn(self, state):
        state.to_play = (state.turn + 2) // 2 % 2


class TakesSomeCells(Hex):
    size = 3

    def legal_actions(self, state, actions):
        return min(super().legal_actions(state, actions), 3)


class HoldsByAList(Hex):
    size = 3

    def holder(self, state, action):
        held = [[], 1, "x"]  # fault
        return super().holder(state, action) + len(held) - 3


class OnlyTheFirstMoves(TicTacToe):
    def end_turn(self, state):
        pass


class SkipsThePlayer(Trio):
    def end_turn(self, state):
        state.to_play = 1 - state.to_play


class StoresTooMuch(TicTacToe):
    def fields(self):
        return {**super().fields(), "score": field(np.int8)}

    def play(self, state, action):
        super().play(state, action)
        state.score += 50  # fault


class StoresAWideNumber(TicTacToe):
    def fields(self):
        return {**super().fields(), "score": field(np.uint8)}

    def play(self, state, action):
        state.score = np.int64(150) * state.turn
        super().play(state, action)


class StoresAPythonNumber(TicTacToe):
    def fields(self):
        return {**super().fields(), "score": field(np.uint8)}

    def play(self, state, action):
        state.score = 150 * int(state.turn)  # fault
        super().play(state, action)


class RecursiveRule(TicTacToe):
    def flood(self, state, cell):
        return 0 if cell == 9 else 1 + self.flood(state, cell + 1)  # fault

    def play(self, state, action):
        if self.flood(state, 0) == 9:
            super().play(state, action)


class ChangesAGlobalList(TicTacToe):
    def play(self, state, action):
        MOVES.append(action)  # fault
        super().play(state, action)


class IndexesUnequalRows(TicTacToe):
    def play(self, state, action):
        if UNEQUAL[action % 2][0] > 0:  # fault
            super().play(state, action)


class ReplacesTheBoard(TicTacToe):
    def play(self, state, action):
        board = state.board
        state.board = board  # fault
        super().play(state, action)


class RemembersInSelf(TicTacToe):
    def play(self, state, action):
        self.last = action  # fault
        super().play(state, action)


class AsksAGenerator(TicTacToe):
    def play(self, state, action):
        if not any(state.board[i, i] == 7 for i in range(3)):  # fault
            super().play(state, action)


class BuildsAList(TicTacToe):
    def play(self, state, action):
        found = [action]  # fault
        found.append(3)
        if len(found) == 2:
            super().play(state, action)


class BuildsADict(TicTacToe):
    def play(self, state, action):
        found = {1: 2}  # fault
        if len(found) == 1:
            super().play(state, action)


class ComparesTexts(TicTacToe):
    kind: str = "free"

    def play(self, state, action):
        if self.kind == "free":  # fault
            super().play(state, action)


class RaisesATextWithANumber(TicTacToe):
    def play(self, state, action):
        if action > 20:
            raise ValueError(f"there is no action {action}")  # fault
        super().play(state, action)


class MakesATemporaryArray(TicTacToe):
    def play(self, state, action):
        board = state.board
        marked = board == 1  # fault
        super().play(state, action)
        state.board[0, 0] += 0 * marked[0, 0]


class CallsNumPy(TicTacToe):
    def play(self, state, action):
        if np.count_nonzero(state.board) < 9:  # fault
            super().play(state, action)


class TemporaryInAHelper(TicTacToe):
    """Nothing in the helper's own source says that `cells` is an array."""

    def doubled(self, cells):
        return (cells + cells)[0, 0]  # fault

    def play(self, state, action):
        if self.doubled(state.board) < 9:
            super().play(state, action)
