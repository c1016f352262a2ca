"""Ultimate tic-tac-toe: nine boards in one; each move decides where the opponent must move.

Each player's marks on a small board are nine bits, and so are the boards a player has won. Actions,
boards and the cells of each are numbered row by row: cell 0 of board 4 is action 30.
"""

from typing import Any

import numpy as np

from plainzero.compiler.bit_numbers import lowest_bit
from plainzero.games.contract import PIECES, Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import grid_symmetries

LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)
FULL = 0b111111111
ANYWHERE = 9
BAND = 27  # actions in three rows, which hold three boards
BOARD = 0b111 | 0b111 << 9 | 0b111 << 18  # the cells of a band's first board, by action

# What the rules would compute again with every move.
HAS_LINE = np.array([any(n & line == line for line in LINES) for n in range(512)], np.uint8)
BOARD_OF = np.array([a // 27 * 3 + a % 9 // 3 for a in range(81)])  # by action
CELL_OF = np.array([a // 9 % 3 * 3 + a % 3 for a in range(81)])
FIRST = np.array([board // 3 * 27 + board % 3 * 3 for board in range(9)])  # its action


class UltimateTicTacToe(Game):
    """Win small boards; three of them in a row win the game."""

    num_actions = 81
    observation_shape = (5, 9, 9)
    max_turns = 81
    set_up_knows_the_end = True

    def fields(self) -> dict[str, Field]:
        """Marks and won boards of each player, boards that are closed, and where to move.

        `free` repeats what marks and closed boards tell, in the order of actions: for each three
        rows, bits of the empty cells of boards that are open.
        """
        return {
            "marks": field(np.int16, (2, 9)),
            "free": field(np.int32, (3,)),
            "won": field(np.int16, (2,)),
            "closed": field(np.int16),
            "forced": field(np.int8),
        }

    def reset(self, state: Any) -> None:
        """The first move may go anywhere."""
        state.forced = ANYWHERE
        for band in range(3):
            state.free[band] = 2**BAND - 1

    def legal_actions(self, state: Any, actions: Any) -> int:
        """The empty cells of the forced board, or of all open boards, row by row."""
        if state.forced != ANYWHERE:
            return self.free_cells(state, int(state.forced), actions)
        count = 0
        for band in range(3):
            cells = state.free[band]
            while cells:
                actions[count] = BAND * band + lowest_bit(cells)
                cells &= cells - 1
                count += 1
        return count

    def free_cells(self, state: Any, board: Any, actions: Any) -> int:
        """The empty cells of one board, which is enough in most positions."""
        free = ~(state.marks[0, board] | state.marks[1, board])
        first, count = int(FIRST[board]), 0
        for row in range(3):
            for col in range(3):
                actions[count] = first + 9 * row + col  # stands only if it is counted
                count += free >> (3 * row + col) & 1
        return count

    def board_of(self, action: Any) -> int:
        """The small board of a cell, row by row."""
        return int(BOARD_OF[action])

    def cell_of(self, action: Any) -> int:
        """The cell's place on its small board, row by row."""
        return int(CELL_OF[action])

    def play(self, state: Any, action: Any) -> None:
        """Makes a mark; closes its board when that is won or full; sends the opponent on."""
        board, cell, mover = self.board_of(action), self.cell_of(action), int(state.to_play)
        marks = state.marks[mover, board] | 1 << cell
        state.marks[mover, board] = marks
        state.free[board // 3] &= ~(1 << action % BAND)
        if HAS_LINE[marks]:
            state.won[mover] |= 1 << board
            self.close(state, board)
        elif marks | state.marks[1 - mover, board] == FULL:
            self.close(state, board)
        state.forced = ANYWHERE if state.closed >> cell & 1 else cell
        if HAS_LINE[state.won[mover]]:
            self.win(state, mover)
        elif state.closed == FULL:
            self.draw(state)
        if state.is_over:
            state.forced = ANYWHERE  # otherwise equal positions would differ
        self.end_turn(state)

    def close(self, state: Any, board: Any) -> None:
        """Allows no more marks on a board."""
        state.closed |= 1 << board
        state.free[board // 3] &= ~(BOARD << board % 3 * 3)

    def observe(self, state: Any, planes: Any) -> None:
        """Marks and won boards, the mover's before the opponent's, and where the mover may play."""
        for action in range(81):
            row, col = action // 9, action % 9
            board, cell = self.board_of(action), self.cell_of(action)
            for which in range(2):
                player = (state.to_play + which) % 2
                planes[which, row, col] = state.marks[player, board] >> cell & 1
                planes[2 + which, row, col] = state.won[player] >> board & 1
            is_open = state.forced in (board, ANYWHERE) and not state.closed >> board & 1
            if is_open and planes[0, row, col] + planes[1, row, col] == 0.0:
                planes[4, row, col] = 1.0

    def symmetries(self) -> list[Symmetry]:
        """The seven turns and reflections of the square."""
        return grid_symmetries(np.arange(81).reshape(9, 9))

    def action_name(self, action: int) -> str:
        """Column letter and row number, a1 at the top left."""
        return f"{chr(ord('a') + action % 9)}{action // 9 + 1}"

    def parse_action(self, text: str) -> int:
        """The cell of that name, in upper or lower case."""
        return super().parse_action(text.lower())

    def view(self, state: Any) -> Grid:
        """All 81 cells, empty ones " " beside a board that is forced; won boards are marked."""
        actions = np.arange(81).reshape(9, 9)
        owners = [[self._owner(state, int(action)) for action in row] for row in actions]
        marks = [(int(a) // 9, int(a) % 9) for a in range(81) if owners[a // 9][a % 9] >= 0]
        cells = [[self._mark(state, int(action)) for action in row] for row in actions]
        return Grid(cells, actions.tolist(), marks, blocks=3, owners=owners)

    def _owner(self, state: Any, action: int) -> int:
        """Who has won the board of a cell."""
        return next((p for p in range(2) if state.won[p] >> self.board_of(action) & 1), -1)

    def _mark(self, state: Any, action: int) -> str:
        for player in range(2):
            if state.marks[player, self.board_of(action)] >> self.cell_of(action) & 1:
                return PIECES[player]
        return "." if state.forced in (self.board_of(action), ANYWHERE) or state.is_over else " "

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Marks anywhere; a board is forced if it alone has empty cells drawn as "."."""
        self.reset(state)
        dotted = set()
        for action in range(81):
            text = cells[action // 9][action % 9]
            if text in PIECES[:2]:
                player = PIECES.index(text)
                state.marks[player, self.board_of(action)] |= 1 << self.cell_of(action)
                state.free[action // BAND] &= ~(1 << action % BAND)
            elif text == ".":
                dotted.add(self.board_of(action))
        for board in range(9):
            winners = [p for p in range(2) if HAS_LINE[state.marks[p, board]]]
            if len(winners) == 2:
                raise ValueError(f"both players have a line on board {board + 1}")
            for player in winners:
                state.won[player] |= 1 << board
            if winners or state.marks[0, board] | state.marks[1, board] == FULL:
                self.close(state, board)
        is_forced = len(dotted) == 1 and not state.closed >> min(dotted) & 1
        state.forced = min(dotted) if is_forced else ANYWHERE
        ended = [player for player in range(2) if HAS_LINE[state.won[player]]]
        if len(ended) == 2:
            raise ValueError("both players have three boards in a row")
        if ended:
            self.win(state, ended[0])
        elif state.closed == FULL:
            self.draw(state)
        if state.is_over:
            state.forced = ANYWHERE

    def text(self, state: Any) -> str:
        """The boards, separated, and where the next move must go."""
        lines = []
        for row, cells in enumerate(self.view(state).cells):
            if row in (3, 6):
                lines.append("------+-------+------")
            lines.append(" | ".join(" ".join(cells[at : at + 3]) for at in (0, 3, 6)))
        place = "anywhere" if state.forced == ANYWHERE else f"on board {state.forced + 1}"
        going = "" if state.is_over else f"; next move {place}"
        won = ["".join(str(b + 1) for b in range(9) if state.won[p] >> b & 1) for p in range(2)]
        lines.append(f"boards x {won[0] or '-'}, o {won[1] or '-'}{going}")
        return "\n".join(lines)
