"""Connect Four's opening book: the outcome of every position of the first plies on the 6×7 board.

The file holds outcomes but no positions: for each ply those of all reachable positions, mirror
images once, in the order of `enumerate_openings`. data/README.md says how it was made.
"""

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.contract import Game
from plainzero.opponents.connect_four.bitboard import (
    Board,
    column_cells,
    make_board,
    playable_cells,
    winning_cells,
)
from plainzero.opponents.connect_four.kernels import ILLEGAL

BOOK_GAME = ConnectFour()
"""The only game with a book."""

BOOK_PLIES = 8
"""The last ply in the book."""

NOT_FOUND = -128

_FILE = Path(__file__).parents[1] / "data" / "connect_four_openings.npz"

Stones = NDArray[np.uint64]


class Openings(NamedTuple):
    """Positions of one ply, without mirror images, in increasing order of their keys."""

    keys: Stones  # [n] see `position_keys`
    own: Stones  # [n] the mover's stones
    occupied: Stones  # [n] all stones


class Moves(NamedTuple):
    """The results of a move in one column for n positions."""

    own: Stones  # [n] the stones of the player who moves next
    occupied: Stones  # [n] all stones
    is_legal: NDArray[np.bool_]  # [n]
    wins: NDArray[np.bool_]  # [n] for the player who made it


class OpeningBook:
    """Outcomes of positions of the first plies, for the mover."""

    def __init__(self, board: Board, outcomes: list[NDArray[np.int8]]) -> None:
        """Uses the outcomes of each ply from 0, in the order of `enumerate_openings`."""
        self.board, self.outcomes = board, outcomes
        self.openings = enumerate_openings(board, len(outcomes) - 1)

    def move_outcomes(self, own: int, occupied: int) -> NDArray[np.int8] | None:
        """The outcome of each move, [cols], as in `perfect.move_outcomes`; None: unknown.

        All reachable positions are known, except those of the book's last ply.

        Args:
            own: the mover's stones.
            occupied: all stones.
        """
        ply = occupied.bit_count()
        position = np.array([own], np.uint64), np.array([occupied], np.uint64)
        if ply + 1 >= len(self.outcomes) or self.find(ply, *position)[0] == NOT_FOUND:
            return None
        outcomes = np.full(self.board.cols, ILLEGAL, np.int8)
        for column in range(self.board.cols):
            moves = play_column(self.board, *position, column)
            if moves.wins[0]:
                outcomes[column] = 1
            elif moves.is_legal[0]:
                outcomes[column] = -self.find(ply + 1, moves.own, moves.occupied)[0]
        return outcomes

    def find(self, ply: int, own: Stones, occupied: Stones) -> NDArray[np.int8]:
        """The outcomes of positions of one ply, [n]; NOT_FOUND for unreachable ones."""
        openings = self.openings[ply]
        own, occupied = choose_images(self.board, own, occupied)
        rows = np.searchsorted(openings.keys, position_keys(self.board, own, occupied))
        rows = np.minimum(rows, len(openings.keys) - 1)
        # Floating stones may give the key of another position, so the stones are compared.
        is_found = (openings.own[rows] == own) & (openings.occupied[rows] == occupied)
        return np.where(is_found, self.outcomes[ply][rows], NOT_FOUND).astype(np.int8)


@functools.cache
def load_opening_book() -> OpeningBook:
    """The bundled book of `BOOK_GAME`."""
    with np.load(_FILE) as file:
        outcomes = [file[f"ply_{ply}"] for ply in range(BOOK_PLIES + 1)]
    return OpeningBook(make_board(BOOK_GAME.rows, BOOK_GAME.cols), outcomes)


def has_book(game: Game) -> bool:
    """Whether there is a book for the game."""
    return game == BOOK_GAME


def look_up(game: Game, state: Any) -> NDArray[np.int8] | None:
    """The outcome of each move, as in `OpeningBook.move_outcomes`; None if there is no book."""
    if not has_book(game) or getattr(state, "dtype", None) != game.dtype:
        return None
    own, occupied = int(state.stones[state.to_play]), int(state.stones[0] | state.stones[1])
    if occupied.bit_count() >= BOOK_PLIES:
        return None
    return load_opening_book().move_outcomes(own, occupied)


def enumerate_openings(board: Board, plies: int) -> list[Openings]:
    """All unfinished positions of each ply from 0 to `plies`."""
    nothing = np.zeros(1, np.uint64)
    levels = [Openings(position_keys(board, nothing, nothing), nothing, nothing)]
    for _ in range(plies):
        own: list[Stones] = []
        occupied: list[Stones] = []
        for column in range(board.cols):
            moves = play_column(board, levels[-1].own, levels[-1].occupied, column)
            is_unfinished = moves.is_legal & ~moves.wins
            own.append(moves.own[is_unfinished])
            occupied.append(moves.occupied[is_unfinished])
        levels.append(_sort_images(board, np.concatenate(own), np.concatenate(occupied)))
    return levels


def _sort_images(board: Board, own: Stones, occupied: Stones) -> Openings:
    own, occupied = choose_images(board, own, occupied)
    keys, rows = np.unique(position_keys(board, own, occupied), return_index=True)
    return Openings(keys, own[rows], occupied[rows])


def play_column(board: Board, own: Stones, occupied: Stones, column: int) -> Moves:
    """The results of a move in `column`."""
    stone = playable_cells(board, occupied) & column_cells(board, column)
    wins = (stone & winning_cells(board, own)) != 0
    return Moves(own ^ occupied, occupied | stone, stone != 0, wins)


def choose_images(board: Board, own: Stones, occupied: Stones) -> tuple[Stones, Stones]:
    """Each position or its mirror image, whichever has the smaller key."""
    mirrored = mirror(board, own), mirror(board, occupied)
    is_other = position_keys(board, *mirrored) < position_keys(board, own, occupied)
    return np.where(is_other, mirrored[0], own), np.where(is_other, mirrored[1], occupied)


def position_keys(board: Board, own: Stones, occupied: Stones) -> Stones:
    """Unique keys of positions: one more stone per column marks its height."""
    return own + occupied + board.bottom


def mirror(board: Board, stones: Stones) -> Stones:
    """The mirror images."""
    mirrored, height = np.zeros_like(stones), board.rows + 1
    for column in range(board.cols):
        cells = (stones & column_cells(board, column)) >> np.uint64(column * height)
        mirrored |= cells << np.uint64((board.cols - 1 - column) * height)
    return mirrored
