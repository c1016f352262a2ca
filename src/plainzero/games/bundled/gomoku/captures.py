"""Pairs that a stone encloses, for Gomoku with captures: own-other-other-own in a straight line."""

from typing import Any

from plainzero.compiler.bit_numbers import lowest_bit
from plainzero.games.bundled.gomoku.stone_lines import CENTRE, cell_at, line_words, turn_stone


def enclosed_pairs(lines: Any, player: Any, row: Any, col: Any) -> Any:
    """The stones in pairs that a player's stone on a point encloses, as bits of its words."""
    own = line_words(lines, player, row, col)
    other = line_words(lines, 1 - player, row, col)
    ahead = (CENTRE << 1) & other & (other >> 1) & (own >> 2)
    behind = (CENTRE >> 1) & other & (other << 1) & (own << 2)
    return ahead | (ahead << 1) | behind | (behind >> 1)


def turn_pairs(lines: Any, player: Any, row: Any, col: Any, pairs: Any) -> None:
    """Takes a player's enclosed pairs off the board, or puts them back."""
    while pairs:
        there, beside = cell_at(row, col, lowest_bit(pairs))
        pairs &= pairs - 1
        turn_stone(lines.stones, player, lines.size, there, beside)
