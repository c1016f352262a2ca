"""Gomoku: five in a row on the intersections of a board, by the rules in common use.

Each player's stones are bits of numbers, one for each line, so the lines through a point are words
that a few operations evaluate, see `stone_lines.py`. What renju and double-three forbid is in
`forbidden_points.py`.
"""

from typing import Any, Literal

import numpy as np

from plainzero.compiler.bit_numbers import count_bits, lowest_bit
from plainzero.games.bundled.gomoku.board import GomokuBoard
from plainzero.games.bundled.gomoku.captures import enclosed_pairs, turn_pairs
from plainzero.games.bundled.gomoku.forbidden_candidates import update_suspects
from plainzero.games.bundled.gomoku.forbidden_points import Side, forbidden_points
from plainzero.games.bundled.gomoku.line_patterns import has_five, standing_five
from plainzero.games.bundled.gomoku.stone_lines import cell_at, line_words
from plainzero.games.contract import PIECES, Field, Grid, field


class Gomoku(GomokuBoard):
    """Five in a row, column or diagonal win."""

    rule: Literal["freestyle", "standard", "renju"] = "freestyle"
    captures: int = 0  # captured pairs that win; 0: no captures
    double_three: Literal["allowed", "forbidden"] = "allowed"

    set_up_knows_the_end = True  # a five may wait for its answer, and then has not yet won
    observation_shape = property(
        lambda self: (2 + self.is_renju + 2 * self.is_capturing, self.size, self.size)
    )
    # A stone for each point, and for each that a capture freed; one pair less than wins is taken.
    max_turns = property(lambda self: self.num_actions + 4 * max(0, self.captures - 1))
    is_renju = property(lambda self: self.rule == "renju")
    is_standard = property(lambda self: self.rule == "standard")
    is_capturing = property(lambda self: self.captures > 0)
    bars_double_threes = property(lambda self: self.double_three == "forbidden")
    has_forbidden = property(lambda self: self.is_renju or self.bars_double_threes)

    def __post_init__(self) -> None:
        """Refuses rules that cannot be combined."""
        super().__post_init__()
        if not 0 <= self.captures <= 10:
            raise ValueError(f"{self.title()}: captures must be 0 to 10, not {self.captures}")
        if self.is_renju and (self.is_capturing or self.bars_double_threes):
            raise ValueError(
                f"{self.title()}: rule=renju has its own forbidden moves and no captures; "
                "leave captures=0 and double_three=allowed, or take another rule"
            )

    def fields(self) -> dict[str, Field]:
        """The stones, and what else these rules need."""
        point = np.uint8 if self.num_actions <= 256 else np.uint16
        fields = {
            **super().fields(),
            "pairs": field(np.int8, (2,)),  # taken by each player
            "is_pending": field(np.bool_),  # whether the opponent has a five that can be answered
        }
        if self.has_forbidden:
            # Points by rows, bit `col`: those that may be forbidden to each player, see
            # `forbidden_candidates.py`, and those that are, to the next player.
            fields["suspects"] = field(fields["stones"].dtype, (2, self.size))
            fields["forbidden"] = field(fields["stones"].dtype, (self.size,))
        else:
            fields["empty"] = field(point, (self.num_actions,))  # empty points in order, then zeros
            fields["num_empty"] = field(np.int16)
        return fields

    def reset(self, state: Any) -> None:
        """An empty board."""
        if not self.has_forbidden:
            self.list_empty(state)

    def list_empty(self, state: Any) -> None:
        """Rebuilds the list of empty points."""
        count = 0
        for row in range(self.size):
            points = self.empty_points(state, row)
            for col in range(self.size):
                if (points >> col) & 1:
                    state.empty[count] = row * self.size + col
                    count += 1
        for index in range(count, self.num_actions):
            state.empty[index] = 0
        state.num_empty = count

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Every empty point that is not forbidden, row by row from the top left."""
        if self.has_forbidden:
            count = 0
            for row in range(self.size):
                points = self.allowed_points(state, row)
                more = count_bits(points)
                for index in range(self.size):  # without a branch; `more` of them stand
                    actions[count + index] = row * self.size + lowest_bit(points)
                    points &= points - 1
                count += more
            return count
        for index in range(state.num_empty):
            actions[index] = state.empty[index]
        return int(state.num_empty)

    def is_legal(self, state: Any, action: Any) -> bool:
        """Whether that point is empty and not forbidden."""
        row, col = action // self.size, action % self.size
        return bool((self.allowed_points(state, row) >> col) & 1)

    def allowed_points(self, state: Any, row: Any) -> Any:
        """The points of a row on which the next player may put a stone, as bits."""
        points = self.empty_points(state, row)
        if self.has_forbidden:
            points &= ~int(state.forbidden[row])
        return points

    def play(self, state: Any, action: Any) -> None:
        """Places a stone and captures the pairs that it encloses."""
        point, player = int(action), int(state.to_play)
        row, col = point // self.size, point % self.size
        self.turn_stone(state, player, row, col)
        if not self.has_forbidden:
            self.take_point(state, point)
        if self.is_capturing:
            self.take_pairs(state, player, row, col)
        if self.has_forbidden:
            self.find_forbidden(state, 1 - player)
        if self.is_capturing:
            self.settle_captures(state, player, row, col)
        elif self.makes_five(state, player, row, col):
            self.win(state, player)
        if not state.is_over and not self.can_move(state):
            self.draw(state)
        self.end_turn(state)

    def turn_stone(self, state: Any, player: Any, row: Any, col: Any) -> None:
        """Puts a player's stone on a point, or takes it away."""
        super().turn_stone(state, player, row, col)
        if self.has_forbidden:
            lines = self.lines(state)
            update_suspects(lines, state.suspects, player, row, col, self.is_renju)

    def take_point(self, state: Any, point: Any) -> None:
        """Removes a point from the sorted list of empty points."""
        last = state.num_empty - 1
        for index in range(last):  # without a search or a branch, so that it is vectorised
            here, following = state.empty[index], state.empty[index + 1]
            state.empty[index] = following if here >= point else here
        state.empty[last] = 0
        state.num_empty = last

    def makes_five(self, state: Any, player: Any, row: Any, col: Any) -> Any:
        """Whether a player's stone on this point stands in a five."""
        words = line_words(self.lines(state), player, row, col)
        return has_five(words, self.is_exact(player))

    def find_forbidden(self, state: Any, player: Any) -> None:
        """Notes what is forbidden to a player who is to move next."""
        is_barred = self.bars_double_threes or player == 0  # in renju the first player only
        for row in range(self.size):
            points = 0
            if is_barred:
                lines, is_exact = self.lines(state), self.is_exact(player)
                side = Side(lines, state.suspects, player, self.is_renju, is_exact)
                points = forbidden_points(side, row, self.empty_points(state, row))
            state.forbidden[row] = points

    def is_exact(self, player: Any) -> Any:
        """Whether six or more in a row do not count for this player."""
        return self.is_standard or (self.is_renju and player == 0)

    def can_move(self, state: Any) -> Any:
        """Whether there is a point on which the next player may put a stone."""
        if self.has_forbidden:
            for row in range(self.size):
                if self.allowed_points(state, row):
                    return True
            return False
        return state.num_empty > 0

    def take_pairs(self, state: Any, player: Any, row: Any, col: Any) -> None:
        """Removes what a player's new stone encloses from the board."""
        pairs = enclosed_pairs(self.lines(state), player, row, col)
        if pairs:
            state.pairs[player] += count_bits(pairs) // 2
            while pairs:
                there, beside = cell_at(row, col, lowest_bit(pairs))
                pairs &= pairs - 1
                self.turn_stone(state, 1 - player, there, beside)
            if not self.has_forbidden:
                self.list_empty(state)

    def settle_captures(self, state: Any, player: Any, row: Any, col: Any) -> None:
        """Who has won, with captures: a five that can be answered must wait one move."""
        was_pending, state.is_pending = state.is_pending, False
        if state.pairs[player] >= self.captures:
            self.win(state, player)
        elif was_pending and self.has_standing_five(state, 1 - player):
            self.win(state, 1 - player)
        elif self.makes_five(state, player, row, col):
            self.claim_five(state, player)

    def claim_five(self, state: Any, player: Any) -> None:
        """A player's five wins, or waits for the answer to it."""
        if self.is_capturing and self.can_answer(state, 1 - player):
            state.is_pending = True
        else:
            self.win(state, player)

    def has_standing_five(self, state: Any, player: Any) -> Any:
        """Whether a player has a five anywhere."""
        return standing_five(state.stones, player, self.size, self.is_exact(player))

    def can_answer(self, state: Any, player: Any) -> bool:
        """Whether a move takes the pairs that a player still needs, or breaks the other's fives."""
        for row in range(self.size):
            points = self.allowed_points(state, row)
            for col in range(self.size):
                if (points >> col) & 1:
                    pairs = enclosed_pairs(self.lines(state), player, row, col)
                    if pairs and (
                        state.pairs[player] + count_bits(pairs) // 2 >= self.captures
                        or self.breaks_fives(state, player, row, col, pairs)
                    ):
                        return True
        return False

    def breaks_fives(self, state: Any, player: Any, row: Any, col: Any, pairs: Any) -> Any:
        """Whether the opponent has no five left when a player takes these pairs."""
        turn_pairs(self.lines(state), 1 - player, row, col, pairs)
        is_broken = not self.has_standing_five(state, 1 - player)
        turn_pairs(self.lines(state), 1 - player, row, col, pairs)
        return is_broken

    def observe(self, state: Any, planes: Any) -> None:
        """The mover's stones, the opponent's; then whether the mover is first, or pairs taken."""
        player = state.to_play
        if self.is_renju:
            self.fill_plane(planes, 2, 1 - player)
        if self.is_capturing:
            self.fill_plane(planes, 2, state.pairs[player] / self.captures)
            self.fill_plane(planes, 3, state.pairs[1 - player] / self.captures)
        for row in range(self.size):
            own = int(state.stones[player, 0, row])
            stones = own | int(state.stones[1 - player, 0, row])
            if stones != 0:
                for col in range(self.size):
                    if (stones >> col) & 1:
                        planes[0 if (own >> col) & 1 else 1, row, col] = 1.0

    def fill_plane(self, planes: Any, plane: Any, value: Any) -> None:
        """Writes the same number to all cells of a plane."""
        for row in range(self.size):
            for col in range(self.size):
                planes[plane, row, col] = value

    def view(self, state: Any) -> Grid:
        """The board, each point clickable; fives are marked."""
        cells, places = self.draw_stones(state), range(self.size)
        actions = np.arange(self.num_actions).reshape(self.size, self.size).tolist()
        marks = [
            (row, col)
            for player in range(2)
            if self.has_standing_five(state, player)
            for row in places
            for col in places
            if cells[row][col] == PIECES[player] and self.makes_five(state, player, row, col)
        ]
        letters = [chr(ord("a") + col) for col in places]
        numbers = [str(self.size - row) for row in places]
        return Grid(cells, actions, marks, "points", columns=letters, rows=numbers)

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Any number of stones of each player; no pairs are taken, and a five has won.

        Where there are captures, a five of the player who is not to move waits for the answer.
        """
        self.put_stones(state, cells)
        if self.has_forbidden:
            self.find_forbidden(state, state.to_play)
        else:
            self.list_empty(state)
        mover, other = state.to_play, 1 - state.to_play
        if self.is_capturing and self.has_standing_five(state, mover):
            self.win(state, mover)  # the answer to it was the last move
        elif self.has_standing_five(state, other):
            self.claim_five(state, other)
        elif self.has_standing_five(state, mover):
            self.win(state, mover)
        elif not self.can_move(state):
            self.draw(state)

    def text(self, state: Any) -> str:
        """The board with the names of its rows and columns, and the pairs taken."""
        pairs = f"\npairs: x {state.pairs[0]}, o {state.pairs[1]}" if self.is_capturing else ""
        return super().text(state) + pairs
