"""Othello on boards of 4×4, 6×6 and 8×8: each player's discs are one integer of 64 bits.

Bit `row * size + col` is a square, a1 (bit 0) at the top left; its number is also its action. One
more action passes, and is legal only if no square is. As in OpenSpiel the game is over as soon
as neither player can place a disc, so two passes never follow each other.
"""

from typing import Any, Literal

import numpy as np

from plainzero.games.contract import Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import grid_symmetries

ONE = np.uint64(1)
NOTHING = np.uint64(0)
PRIME = np.uint64(67)  # 2 generates its residues: all 64 bits leave different remainders
BIT_NUMBERS = tuple(
    next((bit for bit in range(64) if pow(2, bit, 67) == rest), -1) for rest in range(67)
)
PAIRS = np.uint64(0x5555555555555555)
FOURS = np.uint64(0x3333333333333333)
EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)


class Othello(Game):
    """Enclose the opponent's discs to flip them; whoever has more at the end wins."""

    size: int = 8
    result: Literal["win", "discs"] = "win"  # discs: the returns are the margin

    num_squares = property(lambda self: self.size * self.size)
    num_actions = property(lambda self: self.num_squares + 1)
    largest_score = num_squares
    pass_action = num_squares
    set_up_knows_the_end = True
    observation_shape = property(lambda self: (3, self.size, self.size))
    # After a pass a disc is placed, so there are fewer than 2 (size² − 4) plays from the beginning;
    # positions set up by hand may have fewer discs than that, or begin with a pass.
    max_turns = property(lambda self: 2 * self.num_squares)
    counts_discs = property(lambda self: self.result == "discs")
    board_bits = property(lambda self: np.uint64(2**self.num_squares - 1))

    @property
    def steps(self) -> Any:
        """From a bit to the next along a row, a column and both diagonals."""
        return tuple(np.uint64(step) for step in (1, self.size, self.size - 1, self.size + 1))

    @property
    def line_bits(self) -> Any:
        """Where discs can be enclosed in these directions: inside a row, but for columns."""
        row = sum(1 << col for col in range(1, self.size - 1))
        inside = np.uint64(sum(row << self.size * number for number in range(self.size)))
        return inside, self.board_bits, inside, inside

    def __post_init__(self) -> None:
        """Refuses boards that do not fit."""
        super().__post_init__()
        if self.size not in (4, 6, 8):
            raise ValueError(f"othello: size must be 4, 6 or 8, not {self.size}")

    def fields(self) -> dict[str, Field]:
        """The discs of each player, and where the mover may place one, as bit boards."""
        return {"discs": field(np.uint64, (2,)), "moves": field(np.uint64)}

    def reset(self, state: Any) -> None:
        """Two discs each in the middle, those of the first player at the top right."""
        low, high = self.size // 2 - 1, self.size // 2
        state.discs[0] = self.bit(low * self.size + high) | self.bit(high * self.size + low)
        state.discs[1] = self.bit(low * self.size + low) | self.bit(high * self.size + high)
        state.moves = self.find_moves(state.discs[0], state.discs[1])

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every square that encloses discs; a pass if there is none."""
        rest = state.moves
        count = 0
        while rest != NOTHING:
            below = rest - ONE
            actions[count] = BIT_NUMBERS[(rest & ~below) % PRIME]  # of the lowest bit
            rest &= below
            count += 1
        if count == 0:
            actions[0] = self.pass_action
            count = 1
        return count

    def play(self, state: Any, action: Any) -> None:
        """Places a disc and flips what it encloses, or passes."""
        own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
        if action != self.pass_action:
            disc = self.bit(action)
            turned = self.find_turned(own, other, disc)
            own, other = own | disc | turned, other ^ turned
            state.discs[state.to_play], state.discs[1 - state.to_play] = own, other
        self.end_turn(state)
        state.moves = self.find_moves(other, own)
        if state.moves == NOTHING and self.find_moves(own, other) == NOTHING:
            self.end_game(state)

    def bit(self, square: Any) -> Any:
        """The square as a bit."""
        return ONE << np.uint64(square)

    def find_moves(self, own: Any, other: Any) -> Any:
        """The empty squares from which a line of `other` leads to a disc of `own`."""
        found = NOTHING
        for direction in range(4):
            step = self.steps[direction]
            lines = other & self.line_bits[direction]
            found |= self.line_up(own, lines, step) << step
            found |= self.line_down(own, lines, step) >> step
        return found & ~(own | other) & self.board_bits

    def find_turned(self, own: Any, other: Any, disc: Any) -> Any:
        """The discs of `other` that a new disc encloses in the eight directions."""
        found = NOTHING
        for direction in range(4):
            step = self.steps[direction]
            lines = other & self.line_bits[direction]
            line = self.line_up(disc, lines, step)
            if (line << step) & own:
                found |= line
            line = self.line_down(disc, lines, step)
            if (line >> step) & own:
                found |= line
        return found

    def line_up(self, start: Any, other: Any, step: Any) -> Any:
        """The discs of `other` in unbroken lines from `start` towards higher bits.

        Two steps singly, then two by pairs, reach six discs, the most that can be enclosed.
        """
        line = other & (start << step)
        line |= other & (line << step)
        pairs = other & (other << step)
        line |= pairs & (line << (step + step))
        return line | (pairs & (line << (step + step)))

    def line_down(self, start: Any, other: Any, step: Any) -> Any:
        """The same towards lower bits."""
        line = other & (start >> step)
        line |= other & (line >> step)
        pairs = other & (other >> step)
        line |= pairs & (line >> (step + step))
        return line | (pairs & (line >> (step + step)))

    def end_game(self, state: Any) -> None:
        """More discs win; with `result` discs the return is the margin, empty squares included."""
        lead = self.score(state)
        if self.counts_discs:
            state.returns[0] = lead / self.num_squares
            state.returns[1] = -lead / self.num_squares
            self.finish(state)
        elif lead > 0:
            self.win(state, 0)
        elif lead < 0:
            self.win(state, 1)
        else:
            self.draw(state)

    def score(self, state: Any) -> Any:
        """The first player's lead in discs; empty squares are the winner's."""
        lead = self.count(state.discs[0]) - self.count(state.discs[1])
        empty = self.num_squares - self.count(state.discs[0] | state.discs[1])
        if lead > 0:
            lead += empty
        elif lead < 0:
            lead -= empty
        return lead

    def ownership(self, state: Any, cells: Any) -> None:
        """Whose discs the squares have."""
        for square in range(self.num_squares):
            if state.discs[0] & self.bit(square):
                cells[square] = 1.0
            elif state.discs[1] & self.bit(square):
                cells[square] = -1.0

    def count(self, discs: Any) -> Any:
        """The number of set bits: sums of neighbours, twice as wide at each step."""
        sums = discs - ((discs >> ONE) & PAIRS)
        sums = (sums & FOURS) + ((sums >> np.uint64(2)) & FOURS)
        sums = (sums + (sums >> np.uint64(4))) & EIGHTS
        sums += sums >> np.uint64(8)
        sums += sums >> np.uint64(16)
        sums += sums >> np.uint64(32)
        return np.int64(sums & np.uint64(127))

    def observe(self, state: Any, planes: Any) -> None:
        """Plane 0: the mover's discs; 1: the opponent's; 2: where the mover may place one."""
        own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
        for row in range(self.size):
            for col in range(self.size):
                square = self.bit(row * self.size + col)
                if own & square:
                    planes[0, row, col] = 1.0
                elif other & square:
                    planes[1, row, col] = 1.0
                elif state.moves & square:
                    planes[2, row, col] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square; a pass stays a pass."""
        squares = np.arange(self.num_squares).reshape(self.size, self.size)
        return grid_symmetries(squares, unmoved=[self.pass_action])

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the top left; or pass."""
        if action == self.pass_action:
            return "pass"
        return f"{chr(ord('a') + action % self.size)}{action // self.size + 1}"

    def parse_action(self, text: str) -> int:
        """The action of that name, in upper or lower case."""
        return super().parse_action(text.lower())

    def view(self, state: Any) -> Grid:
        """The board, each square clickable."""
        squares = np.arange(self.num_squares).reshape(self.size, self.size).tolist()
        return Grid([[self._mark(state, square) for square in row] for row in squares], squares)

    def _mark(self, state: Any, square: int) -> str:
        bit = self.bit(square)
        return "x" if state.discs[0] & bit else "o" if state.discs[1] & bit else "."

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Any discs; the game is over if neither player can place another."""
        for square, text in enumerate(text for row in cells for text in row):
            if text in ("x", "o"):
                state.discs["xo".index(text)] |= self.bit(square)
        own, other = state.discs[state.to_play], state.discs[1 - state.to_play]
        state.turn = max(0, self.count(own | other) - 4)  # as if nobody had passed
        state.moves = self.find_moves(own, other)
        if state.moves == NOTHING and self.find_moves(other, own) == NOTHING:
            self.end_game(state)
