"""What a game's `view` returns: cells to draw and to click, and decorations."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Layout = Literal["square", "points", "hex", "plane"]

PIECES = ("x", "o", "z", "v", "w", "y", "u", "t")
"""The cell texts that are drawn as pieces of the first player, the second player, and so on."""

EMPTY = (".", " ", "")
"""The cell texts that are drawn as empty cells."""

_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


class Step(NamedTuple):
    """A move from one cell to another: click the first, then the second."""

    action: int
    start: tuple[int, int]  # row and column
    end: tuple[int, int]


class Caption(NamedTuple):
    """A few small words at the bottom of a cell that explain its number or text."""

    row: int
    col: int
    text: str


class Shape(NamedTuple):
    """Something drawn over the cells; whole numbers of rows and columns are centres of cells.

    A `piece` belongs to a player or, without one, is an object that nobody moves; a `ring`
    surrounds its point at a distance; a `path` leads through its points; a `label` is text only.
    """

    kind: Literal["piece", "ring", "path", "label"]
    points: Sequence[tuple[float, float]]  # row and column: many for a path, else the centre
    player: int = -1  # -1: nobody's
    radius: float = 0.0  # of a ring, in cells
    text: str = ""  # beside it


class Grid(NamedTuple):
    """A board of cells to draw: the text of each, and the action that a click on it plays.

    The layout is `square` for cells side by side, `points` for stones on intersections, `hex` for
    rows that are each shifted by half a cell, `plane` for an open field: a page draws the shapes
    there, and a terminal the cells.
    """

    cells: list[list[str]]  # PIECES, EMPTY, numbers for tiles, "+", "-" and "|" for lines, or text
    actions: list[list[int]]  # -1: not clickable
    marks: Sequence[tuple[int, int]] = ()  # row and column of cells to highlight: the winning line
    layout: Layout = "square"
    steps: Sequence[Step] = ()  # the legal moves that lead from cell to cell
    columns: Sequence[str] = ()  # labels above the columns
    rows: Sequence[str] = ()  # beside each row
    edges: Sequence[int] = ()  # the owners of the top, right, bottom and left edge
    blocks: int = 0  # heavy lines after every `blocks` rows and columns
    owners: Sequence[Sequence[int]] = ()  # the player who owns each cell; -1: nobody
    captions: Sequence[Caption] = ()
    shapes: Sequence[Shape] = ()


def cells_in_a_row(cells: list[list[str]], length: int) -> list[tuple[int, int]]:
    """Row and column of each piece in a straight line of `length` or more of its kind, for `marks`.

    Args:
        cells: the texts of `Grid.cells`; empty ones make no line.
        length: the least number of pieces in a row, a column or a diagonal that counts.
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
