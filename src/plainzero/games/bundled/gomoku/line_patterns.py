"""The four lines through a point as words of eleven bits, and the patterns in such a word.

Bit 5 of a word is the point itself, the others are the cells up to five steps away on either side.
Every question about a move is answered from these words: a five reaches four steps from the
new stone, and one step more tells whether it is longer than that. `rows` are always the stones of
both players, [2, size], bit `col` of a row for each cell; `size` is the board's.
"""

from typing import Any

REACH = 5
CENTRE = 1 << REACH
WORD = (1 << (2 * REACH + 1)) - 1
DIRECTIONS = 4  # across, down, falling to the right, falling to the left
DOWN = (0, 1, 1, 1)  # one step forward in each direction
RIGHT = (1, 0, 1, -1)


def line_words(rows: Any, player: Any, size: Any, row: Any, col: Any) -> Any:
    """A player's stones on the lines through a point, a word for each of the four directions."""
    across = ((int(rows[player, row]) << REACH) >> col) & WORD
    down = falling = rising = 0
    for step in range(max(-REACH, -row), min(REACH, size - 1 - row) + 1):
        # Zeros to the left of column a, so that no column is outside.
        cells = int(rows[player, row + step]) << REACH
        place = step + REACH
        down |= ((cells >> (col + REACH)) & 1) << place
        falling |= ((cells >> (col + place)) & 1) << place
        rising |= ((cells >> (col - step + REACH)) & 1) << place
    return across, down, falling, rising


def board_word(size: Any, row: Any, col: Any, direction: Any) -> Any:
    """The cells of a line through a point that are on the board."""
    right = RIGHT[direction]
    behind = ahead = REACH
    if DOWN[direction]:
        behind, ahead = min(behind, row), min(ahead, size - 1 - row)
    if right > 0:
        behind, ahead = min(behind, col), min(ahead, size - 1 - col)
    elif right < 0:
        behind, ahead = min(behind, size - 1 - col), min(ahead, col)
    return ((1 << (behind + ahead + 1)) - 1) << (REACH - behind)


def has_five(own: Any, is_exact: Any) -> Any:
    """Whether five in a row stand in a word, the centre among them; exactly five if `is_exact`."""
    fives = own & (own >> 1) & (own >> 2) & (own >> 3) & (own >> 4)
    if is_exact:
        fives &= ~(own << 1) & ~(own >> 5)
    return (fives & (0b11111 << 1)) != 0  # those that begin in bits 1 to 5 hold the centre


def has_overline(own: Any) -> Any:
    """Whether six or more in a row stand in a word, the centre among them."""
    sixes = own & (own >> 1) & (own >> 2) & (own >> 3) & (own >> 4) & (own >> 5)
    return (sixes & 0b111111) != 0


def five_points(own: Any, free: Any, is_exact: Any) -> Any:
    """The empty cells of a word on which one more stone makes a five with the centre.

    Where there is no five yet there are at most two, one on each side: between such a cell and the
    centre every cell is taken.
    """
    points = 0
    for start in range(1, REACH + 1):
        hole = 0b11111 & ~(own >> start)
        is_single = hole != 0 and (hole & (hole - 1)) == 0
        is_longer = (((own << 1) | (own >> 5)) >> start) & 1
        if is_single and not (is_exact and is_longer):
            points |= (hole << start) & free
    return points


def count_fours(points: Any) -> Any:
    """How many fours have these `five_points`: both ends of a straight four are of one four."""
    if points == 0:
        return 0
    first = points & -points
    return 1 if points == first or points == first | (first << 5) else 2


def three_points(own: Any, free: Any, is_exact: Any) -> Any:
    """The empty cells of a word on which one more stone makes a straight four with the centre.

    That is four in a row of which either neighbour is empty and makes a five. A line that holds a
    four already has none.
    """
    if five_points(own, free, is_exact):
        return 0
    points = 0
    for start in range(2, REACH + 1):
        hole = 0b1111 & ~(own >> start)
        is_single = hole != 0 and (hole & (hole - 1)) == 0
        is_open = ((free >> (start - 1)) & 1) and ((free >> (start + 4)) & 1)
        is_longer = (((own >> (start - 2)) | (own >> (start + 5))) & 1) != 0
        if is_single and is_open and not (is_exact and is_longer):
            points |= (hole << start) & free
    return points


def standing_five(rows: Any, player: Any, size: Any, is_exact: Any) -> Any:
    """Whether a player has five in a row anywhere, exactly five if `is_exact`."""
    for row in range(size):
        cells = int(rows[player, row])
        fives = cells & (cells >> 1) & (cells >> 2) & (cells >> 3) & (cells >> 4)
        if is_exact:
            fives &= ~(cells << 1) & ~(cells >> 5)
        if fives:
            return True
    for right in range(-1, 2):
        for row in range(size - 4):
            fives = int(rows[player, row])
            for step in range(1, 5):
                fives &= shifted(rows, player, row + step, right * step)
            if is_exact and row > 0:
                fives &= ~shifted(rows, player, row - 1, -right)
            if is_exact and row + 5 < size:
                fives &= ~shifted(rows, player, row + 5, 5 * right)
            if fives:
                return True
    return False


def shifted(rows: Any, player: Any, row: Any, right: Any) -> Any:
    """A row of which bit `col` is the cell `right` columns further to the right."""
    return (int(rows[player, row]) << REACH) >> (REACH + right)
