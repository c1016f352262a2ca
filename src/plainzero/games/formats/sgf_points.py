"""How SGF writes the points and moves of the games it has numbers for: Go, Othello, Gomoku, Hex.

Points are two letters, column and row from the top left, but in Hex, which has names like a1.
"""

import functools
from typing import NamedTuple

from plainzero.games.contract import Game

_PASS = "pass"
_SWAPS = ("swap-pieces", "swap")  # SGF's word in Hex, and ours


class Kind(NamedTuple):
    """How SGF represents one game."""

    number: int  # of GM
    size: int  # if SZ is missing
    has_letter_pairs: bool
    komi: str = ""  # the game's parameter that KM holds, if any


KINDS = {
    "go": Kind(1, 19, True, "komi"),
    "othello": Kind(2, 8, True),
    "gomoku": Kind(4, 15, True),
    "gomoku-42": Kind(4, 19, True),
    "hex": Kind(11, 11, False),
}
"""By the game's title."""

TITLES = {1: "go", 2: "othello", 4: "gomoku", 11: "hex"}


def board_size(game: Game) -> int:
    """The rows of the board; those games have as many columns."""
    return len(_action_grid(game))


def write_move(game: Game, action: int, name: str) -> str:
    """The move in SGF's notation; its name in games without a number."""
    if game.title() not in KINDS:
        return name
    if name in (_PASS, _SWAPS[1]):
        return "" if name == _PASS else _SWAPS[0]
    row, col = next(
        (row, actions.index(action))
        for row, actions in enumerate(_action_grid(game))
        if action in actions
    )
    return write_point(game, row, col)


def read_move(game: Game, value: str) -> str:
    """The name of the move with this notation in SGF."""
    kind = KINDS.get(game.title())
    if kind is None:
        return value
    value = value.strip()
    if not kind.has_letter_pairs:
        return _SWAPS[1] if value.lower() in _SWAPS else value.lower()
    if value == "" or (value == "tt" and board_size(game) <= 19):
        return _PASS
    if point := _points(game).get(value):
        return game.action_name(_action_grid(game)[point[0]][point[1]])
    return value  # Othello's players also write d3


def write_point(game: Game, row: int, col: int) -> str:
    """The point in that row and column from the top left."""
    if KINDS[game.title()].has_letter_pairs:
        return f"{_letter(col)}{_letter(row)}"
    return game.action_name(_action_grid(game)[row][col])


def read_points(game: Game, value: str) -> list[tuple[int, int]]:
    """Row and column of a point, or of all those in a rectangle, as in aa:cc.

    Raises:
        ValueError: when the board has no such point.
    """
    first, _, last = value.partition(":")
    (top, left), (bottom, right) = (_read_point(game, point) for point in (first, last or first))
    return [(row, col) for row in range(top, bottom + 1) for col in range(left, right + 1)]


def _read_point(game: Game, value: str) -> tuple[int, int]:
    point = _points(game).get(value.strip()) or _points(game).get(value.strip().lower())
    if point is None:
        raise ValueError(f"this is not a saved game: {value!r} is not a point of {game.name}")
    return point


@functools.lru_cache(maxsize=16)
def _points(game: Game) -> dict[str, tuple[int, int]]:
    size = board_size(game)
    return {write_point(game, row, col): (row, col) for row in range(size) for col in range(size)}


@functools.lru_cache(maxsize=16)
def _action_grid(game: Game) -> list[list[int]]:
    """The action on each point, from the top left, as the game draws its board."""
    grid = game.view(game.new_state())
    assert grid is not None, "games with a number draw their board"
    return grid.actions


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else chr(ord("A") + number - 26)
