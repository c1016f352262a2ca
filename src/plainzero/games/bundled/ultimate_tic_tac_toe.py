"""Ultimate tic-tac-toe: nine boards in one; each move decides where the opponent must move.

Each player's marks on a small board are nine bits, and so are the boards a player has won.
"""

from typing import Any

import numpy as np

from plainzero.games.contract import PIECES, Field, Game, Grid, Symmetry, field
from plainzero.games.symmetries import grid_symmetries

LINES = (0b111, 0b111000, 0b111000000, 0b1001001, 0b10010010, 0b100100100, 0b100010001, 0b1010100)
FULL = 0b111111111
ANYWHERE = 9


class UltimateTicTacToe(Game):
    """Win small boards; three of them in a row win the game."""

    num_actions = 81
    observation_shape = (5, 9, 9)
    max_turns = 81
    set_up_knows_the_end = True

    def fields(self) -> dict[str, Field]:
        """Marks and won boards of each player, boards that are closed, and where to move."""
        return {
            "marks": field(np.int16, (2, 9)),
            "won": field(np.int16, (2,)),
            "closed": field(np.int16),
            "forced": field(np.int8),
        }

    def reset(self, state: Any) -> None:
        """The first move may go anywhere."""
        state.forced = ANYWHERE

    def legal_actions(self, state: Any, actions: Any) -> int:
        """The empty cells of the forced board, or of all open boards, row by row."""
        if state.forced != ANYWHERE:
            return self.free_cells(state, state.forced, actions)
        count = 0
        for action in range(81):
            board = self.board_of(action)
            if not state.closed >> board & 1:
                marks = state.marks[0, board] | state.marks[1, board]
                if not marks >> self.cell_of(action) & 1:
                    actions[count] = action
                    count += 1
        return count

    def free_cells(self, state: Any, board: Any, actions: Any) -> int:
        """The empty cells of one board, which is enough in most positions."""
        marks, count = state.marks[0, board] | state.marks[1, board], 0
        first = board // 3 * 27 + board % 3 * 3
        for cell in range(9):
            if not marks >> cell & 1:
                actions[count] = first + cell // 3 * 9 + cell % 3
                count += 1
        return count

    def board_of(self, action: Any) -> Any:
        """The small board of a cell, row by row."""
        return action // 27 * 3 + action % 9 // 3

    def cell_of(self, action: Any) -> Any:
        """The cell's place on its small board, row by row."""
        return action // 9 % 3 * 3 + action % 3

    def play(self, state: Any, action: Any) -> None:
        """Makes a mark; closes its board when that is won or full; sends the opponent on."""
        board, cell, mover = self.board_of(action), self.cell_of(action), state.to_play
        state.marks[mover, board] |= 1 << cell
        if self.has_line(state.marks[mover, board]):
            state.won[mover] |= 1 << board
            state.closed |= 1 << board
        elif state.marks[0, board] | state.marks[1, board] == FULL:
            state.closed |= 1 << board
        state.forced = ANYWHERE if state.closed >> cell & 1 else cell
        if self.has_line(state.won[mover]):
            self.win(state, mover)
        elif state.closed == FULL:
            self.draw(state)
        if state.is_over:
            state.forced = ANYWHERE  # otherwise equal positions would differ
        self.end_turn(state)

    def has_line(self, marks: Any) -> bool:
        """Whether the nine bits hold three in a row."""
        for line in LINES:
            if marks & line == line:
                return True
        return False

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
        dotted = set()
        for action in range(81):
            text = cells[action // 9][action % 9]
            if text in PIECES[:2]:
                player = PIECES.index(text)
                state.marks[player, self.board_of(action)] |= 1 << self.cell_of(action)
            elif text == ".":
                dotted.add(self.board_of(action))
        for board in range(9):
            winners = [p for p in range(2) if self.has_line(state.marks[p, board])]
            if len(winners) == 2:
                raise ValueError(f"both players have a line on board {board + 1}")
            for player in winners:
                state.won[player] |= 1 << board
            if winners or state.marks[0, board] | state.marks[1, board] == FULL:
                state.closed |= 1 << board
        is_forced = len(dotted) == 1 and not state.closed >> min(dotted) & 1
        state.forced = min(dotted) if is_forced else ANYWHERE
        ended = [player for player in range(2) if self.has_line(state.won[player])]
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
