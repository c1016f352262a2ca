"""Pairs that a stone encloses, for Gomoku with captures: own-other-other-own in a straight line."""

from typing import Any

from plainzero.games.bundled.gomoku.line_patterns import DIRECTIONS, DOWN, RIGHT, line_words


def enclosed_pairs(rows: Any, player: Any, size: Any, row: Any, col: Any) -> Any:
    """The pairs that a player's stone on a point encloses: bits 0 to 3 forwards, 4 to 7 back."""
    own = line_words(rows, player, size, row, col)
    other = line_words(rows, 1 - player, size, row, col)
    pairs = 0
    for direction in range(DIRECTIONS):
        # Bit 5 is the point: forwards the pair is in bits 6 and 7, backwards in bits 4 and 3.
        if (other[direction] >> 6) & 0b11 == 0b11 and (own[direction] >> 8) & 1:
            pairs |= 1 << direction
        if (other[direction] >> 3) & 0b11 == 0b11 and (own[direction] >> 2) & 1:
            pairs |= 1 << (direction + DIRECTIONS)
    return pairs


def count_pairs(pairs: Any) -> Any:
    """The number of pairs."""
    count = 0
    while pairs:
        pairs &= pairs - 1
        count += 1
    return count


def turn_pairs(rows: Any, player: Any, row: Any, col: Any, pairs: Any) -> None:
    """Takes a player's enclosed pairs off the board, or puts them back."""
    for place in range(2 * DIRECTIONS):
        if (pairs >> place) & 1:
            direction = place % DIRECTIONS
            sign = 1 if place < DIRECTIONS else -1
            for distance in range(1, 3):
                step = sign * distance
                rows[player, row + step * DOWN[direction]] ^= 1 << (col + step * RIGHT[direction])
