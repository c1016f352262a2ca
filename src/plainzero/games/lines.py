"""Lines on a board of cells, for games in which pieces in a row win."""

from plainzero.games.contract import EMPTY

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def cells_in_a_row(cells: list[list[str]], length: int) -> list[tuple[int, int]]:
    """Row and column of each piece in a straight line of `length` or more of its kind, for `marks`.

    Args:
        cells: the texts of `Grid.cells`; empty ones make no line.
        length: from how many on pieces in a row, a column or a diagonal count.
    """
    rows, cols = len(cells), len(cells[0])
    found: set[tuple[int, int]] = set()
    for row in range(rows):
        for col in range(cols):
            for down, right in _DIRECTIONS:
                last_row, last_col = row + (length - 1) * down, col + (length - 1) * right
                if last_row >= rows or not 0 <= last_col < cols or cells[row][col] in EMPTY:
                    continue
                line = [(row + i * down, col + i * right) for i in range(length)]
                if all(cells[r][c] == cells[row][col] for r, c in line):
                    found.update(line)
    return sorted(found)
