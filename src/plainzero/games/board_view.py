"""What a game's `view` returns: cells to draw and to click, and what is drawn around them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

Layout = Literal["square", "points", "hex", "plane"]


class Step(NamedTuple):
    """A move from one cell to another, for drawing: click the one, then the other."""

    action: int
    start: tuple[int, int]  # row and column
    end: tuple[int, int]


class Caption(NamedTuple):
    """Small words at the foot of a cell, that say what its number or text means."""

    row: int
    col: int
    text: str


class Shape(NamedTuple):
    """Something drawn over the cells, wherever it is: whole rows and columns are cells' middles.

    A `piece` is a player's, or with no player a thing that nobody moves; a `ring` goes around its
    point at a distance; a `path` leads through its points; a `label` is words alone.
    """

    kind: Literal["piece", "ring", "path", "label"]
    points: Sequence[tuple[float, float]]  # row and column, of a path many, else of the middle
    player: int = -1  # -1: nobody's
    radius: float = 0.0  # of a ring, in cells
    text: str = ""  # beside it


class Grid(NamedTuple):
    """A board of cells, for drawing: what stands in each, and which action a click on it plays.

    The layout is `square` for cells side by side, `points` for stones on the crossings of lines,
    `hex` for rows that are each shifted by half a cell, `plane` for an open field: there the shapes
    are drawn, and the cells tell in words and in a terminal what is where.
    """

    cells: list[list[str]]  # PIECES, EMPTY, numbers for tiles, "+", "-" and "|" for lines, or text
    actions: list[list[int]]  # -1: not clickable
    marks: Sequence[tuple[int, int]] = ()  # row and column of what to point out: the line that wins
    layout: Layout = "square"
    steps: Sequence[Step] = ()  # the legal moves that lead from cell to cell
    columns: Sequence[str] = ()  # what is written over each column
    rows: Sequence[str] = ()  # beside each row
    edges: Sequence[int] = ()  # the players whose the top, right, bottom and left edge is
    blocks: int = 0  # heavy lines after every so many rows and columns
    owners: Sequence[Sequence[int]] = ()  # the player whose each cell is; -1: nobody's
    captions: Sequence[Caption] = ()
    shapes: Sequence[Shape] = ()
